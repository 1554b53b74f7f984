"""The SQL store on PostgreSQL: several at once, connections that break, and what each role may do."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import psycopg
import pytest

from agent_core.adapters.sql import engine as engines
from agent_core.adapters.sql import migrate
from agent_core.adapters.sql.schema_version import SCHEMA_VERSION
from agent_core.adapters.sql.store import SqlStore
from agent_core.application.inline import run_inline
from agent_core.bootstrap import (
    build_runtime,
    migrate_storage,
    open_storage,
    register_tenant,
    scripted_model,
)
from agent_core.domain.errors import (
    AlreadyExists,
    NotFound,
    SchemaMismatch,
    SessionBusy,
    StorageUnavailable,
)
from agent_core.domain.events import ActorType, EventType, NewEvent
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.leases import Lease
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.trust import Labels, TrustLevel
from tests.support import postgres, postgres_roles

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
SESSION = Session("session", Principal("somebody"), (), NOW)
RUN = Run("a", "session", "somebody", frozenset(), RunStatus.QUEUED, RunLimits(), NOW)
EVENT = NewEvent(
    id="event",
    session_id="session",
    run_id=None,
    event_type=EventType.RUN_QUEUED,
    payload_schema_version=1,
    actor_type=ActorType.RUNTIME,
    actor_id="agent_core",
    payload={},
    created_at=NOW,
)
ROW = ToolInvocation(
    id="invocation",
    run_id="a",
    step_number=1,
    call_id="call",
    tool_name="demo.tool",
    arguments={},
    origin=Labels(TrustLevel.USER),
    status=InvocationStatus.AUTHORIZED,
    created_at=NOW,
    idempotency_key="key",
)


@pytest.fixture(scope="module")
def server():
    with postgres.embedded_server() as found:
        yield found


@pytest.fixture
def database(server):
    return server.fresh_database()


@pytest.fixture
def store(server, database):
    found = SqlStore(server.url("app", database))
    yield found
    found.close()


@pytest.fixture
def units(store):
    found = store.units("tenant_default")

    async def fill():
        async with found() as unit:
            await unit.sessions.add(SESSION)
            await unit.runs.add(RUN)
            await unit.runs.add(RUN._replace(id="b"))

    run_inline(fill())
    return found


def within(units, work):
    """What `work` gives, done in a unit of work of its own."""

    async def one_unit():
        async with units() as unit:
            return await work(unit)

    return run_inline(one_unit())


@contextmanager
def left_open(units, work, error=None):
    """A unit of work of another thread that has done `work` and ends with this block: with a
    commit, or with `error`."""
    done, may_end = threading.Event(), threading.Event()

    async def one_unit():
        async with units() as unit:
            try:
                await work(unit)
            finally:
                done.set()
            may_end.wait()
            if error is not None:
                raise error

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(lambda: run_inline(one_unit()))
        try:
            done.wait()
            yield
        finally:
            may_end.set()
        if error is None:
            ended.result()
        else:
            assert ended.exception() is error


def claim(unit):
    return unit.runs.claim("worker", NOW, LATER)


def test_a_run_that_is_being_claimed_is_passed_over_and_not_waited_for(units):
    with left_open(units, claim):
        assert within(units, claim).id == "b"
        assert within(units, claim) is None
    assert within(units, lambda unit: unit.runs.get("a")).lease_epoch == 1


def test_a_claim_that_was_undone_leaves_the_run_to_others(units):
    with left_open(units, claim, KeyError()):
        pass
    assert within(units, claim).id == "a"


def test_others_see_what_was_committed(units):
    async def write(unit):
        await unit.events.append(EVENT)
        await unit.runs.request_cancel("a", NOW)

    async def read(unit):
        events = await unit.events.list_for_session("session")
        return len(events), (await unit.runs.get("a")).cancel_requested_at

    with left_open(units, write):
        assert within(units, read) == (0, None)
    assert within(units, read) == (1, NOW)


def test_a_run_that_is_held_waits_to_be_changed_until_the_unit_ends(units):
    within(units, claim)
    order = []

    async def hold(unit):
        await unit.runs.hold("a", Lease("worker", 1, LATER))

    def take_away():
        run = within(units, lambda unit: unit.runs.get("a"))
        within(units, lambda unit: unit.runs.requeue(run, LATER, 0))
        order.append("taken away")

    with ThreadPoolExecutor(1) as pool:
        with left_open(units, hold):
            taking = pool.submit(take_away)
            with pytest.raises(TimeoutError):
                taking.result(timeout=0.3)
            order.append("let go")
        taking.result()
    assert order == ["let go", "taken away"]


@pytest.mark.parametrize("error", [None, KeyError()])
def test_of_two_that_record_one_call_the_second_waits_and_is_refused(units, error):
    def add(row):
        return within(units, lambda unit: unit.invocations.add(row))

    with ThreadPoolExecutor(1) as pool:
        with left_open(units, lambda unit: unit.invocations.add(ROW), error):
            second = pool.submit(add, ROW._replace(id="second"))
            with pytest.raises(TimeoutError):
                second.result(timeout=0.3)
        if error is None:
            with pytest.raises(AlreadyExists):
                second.result()
        else:
            second.result()
    found = within(units, lambda unit: unit.invocations.list_for_run("a"))
    assert [row.id for row in found] == ["invocation" if error is None else "second"]


def test_a_session_runs_one_message_at_a_time_whoever_submits(store):
    units = store.units("tenant_default")

    def runtime():
        return build_runtime(model=scripted_model([]), units=units)

    session = run_inline(runtime().open_session(Principal("somebody")))

    def submit(number):
        try:
            return run_inline(runtime().submit(session.id, f"message {number}"))
        except SessionBusy:
            return None

    with ThreadPoolExecutor(4) as pool:
        submitted = [run_id for run_id in pool.map(submit, range(8)) if run_id]
    runs = within(units, lambda unit: unit.runs.list_for_session(session.id))
    assert [run.id for run in runs] == submitted
    assert len(runs) == 1


def test_a_session_that_somebody_has_is_waited_for_and_can_be_added_to(units):
    def get():
        return within(units, lambda unit: unit.sessions.get("session"))

    with ThreadPoolExecutor(1) as pool:
        with left_open(units, lambda unit: unit.sessions.get("session")):
            second = pool.submit(get)
            with pytest.raises(TimeoutError):
                second.result(timeout=0.3)
            within(units, lambda unit: unit.runs.add(RUN._replace(id="c")))
        assert second.result() == SESSION


def test_sequences_rise_without_gaps_whoever_appends(units):
    def append(number):
        async def work(unit):
            await unit.events.append(EVENT._replace(id=f"{number}"))
            await unit.events.append(EVENT._replace(id=f"{number} too"))
            if number % 3 == 0:
                raise KeyError

        try:
            within(units, work)
        except KeyError:
            return 0
        return 2

    with ThreadPoolExecutor(4) as pool:
        appended = sum(pool.map(append, range(30)))
    events = within(units, lambda unit: unit.events.list_for_session("session"))
    assert [event.sequence for event in events] == list(range(1, appended + 1))
    assert appended == 40
    # The two of one unit stand together.
    names = [event.id for event in events]
    assert all(second == f"{first} too" for first, second in zip(names[::2], names[1::2]))


@pytest.mark.parametrize("way", ["restart", "kill", "end_connections"])
def test_a_connection_that_breaks_is_said_and_nothing_is_written(
    server, database, store, units, way
):
    async def interrupted():
        async with units() as unit:
            await unit.events.append(EVENT)
            if way == "end_connections":
                server.end_connections(database)
            elif way == "restart":
                server.restart()
            else:
                server.kill()
                server.start()
            await unit.events.append(EVENT._replace(id="second"))

    with pytest.raises(StorageUnavailable, match="a statement"):
        run_inline(interrupted())
    read = within(units, lambda unit: unit.events.list_for_session("session"))
    assert read == ()
    within(units, lambda unit: unit.events.append(EVENT))


def test_a_commit_that_does_not_come_back_is_said(server, database, units):
    async def interrupted():
        async with units() as unit:
            await unit.events.append(EVENT)
            server.end_connections(database)

    with pytest.raises(StorageUnavailable, match="committing"):
        run_inline(interrupted())
    within(units, lambda unit: unit.events.append(EVENT))


def test_a_server_that_is_stopped_is_unavailable_and_none_hangs_on_it(server, units):
    server.stop()
    try:
        with pytest.raises(StorageUnavailable, match="connecting"):
            within(units, claim)
    finally:
        server.start()
    assert within(units, claim).id == "a"


def test_a_lock_is_not_waited_for_without_end(server, database, units, monkeypatch):
    monkeypatch.setattr(engines, "WAIT_SECONDS", 1)
    impatient = SqlStore(server.url("app", database))
    others = impatient.units("tenant_default")
    with (
        left_open(units, lambda unit: unit.runs.request_cancel("a", NOW)),
        pytest.raises(StorageUnavailable, match="a statement: 55P03"),
    ):
        within(others, lambda unit: unit.runs.request_cancel("a", LATER))
    impatient.close()


def test_the_log_is_for_appending(server, database, units):
    within(units, lambda unit: unit.events.append(EVENT))
    with server.connect("app", database) as app:
        app.execute("SELECT set_config('app.tenant', 'tenant_default', false)")
        for statement in ("DELETE FROM events", "UPDATE events SET payload = '{}'"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(statement)
        assert app.execute("SELECT count(*) FROM events").fetchone() == (1,)


def test_the_tables_and_the_migrations_agree(server, database):
    owner = server.url("owner", database)
    assert migrate.differences(owner) == []
    SqlStore(server.url("app", database)).check_schema()
    with server.connect("owner", database) as connection:
        connection.execute("ALTER TABLE runs ALTER COLUMN attempts TYPE integer")
        connection.execute("ALTER TABLE runs DROP COLUMN suspension")
    assert len(migrate.differences(owner)) == 2


NUMBERS = count()


@pytest.fixture
def empty(server):
    """The name of a database without tables."""
    admin = server.url("admin", "template1").replace("postgresql+psycopg", "postgresql")
    name = f"empty_{next(NUMBERS)}"
    postgres_roles.make_database(admin, name, None)
    return name


def test_of_several_that_migrate_one_does_and_none_fails(server, empty):
    owner = server.url("owner", empty)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(migrate.upgrade, [owner] * 3))
    SqlStore(owner).check_schema()
    with server.connect("owner", empty) as connection:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    assert found == [(SCHEMA_VERSION,)]


@pytest.mark.parametrize(
    ("role", "says"),
    [
        ("hardgate_admin", "could see past"),
        ("hardgate_owner", "could see past"),
        ("hardgate_nobody", "there is no role"),
        ("app; DROP TABLE runs", "a role's name"),
    ],
)
@pytest.mark.parametrize("part", ["application_role", "maintenance_role"])
def test_a_role_that_policies_do_not_bind_is_refused_and_nothing_is_made(
    server, empty, part, role, says
):
    owner = server.url("owner", empty)
    with pytest.raises(ValueError, match=says):
        migrate.upgrade(owner, **{part: role})
    with pytest.raises(SchemaMismatch):
        SqlStore(owner).check_schema()


def test_maintenance_may_delete_and_not_write(server, empty):
    with server.connect("owner", empty) as owner:
        owner.execute("ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM hardgate_maintenance")
    migrate.upgrade(server.url("owner", empty), "hardgate_app", "hardgate_maintenance")
    with server.connect("maintenance", empty) as connection:
        connection.execute("SELECT set_config('app.tenant', 'tenant_eval', false)")
        connection.execute("DELETE FROM sessions")
        for statement in ("INSERT INTO tenants VALUES ('x')", "UPDATE runs SET status = 'FAILED'"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_a_tenant_is_registered_by_the_owner(server, database):
    with pytest.raises(NotFound, match="tenant_x"):
        open_storage(server.url("app", database), tenant_id="tenant_x")
    with pytest.raises(StorageUnavailable, match="42501"):
        register_tenant(server.url("app", database), "tenant_x")
    for _ in range(2):
        register_tenant(server.url("owner", database), "tenant_x")
    storage = open_storage(server.url("app", database), tenant_id="tenant_x")
    theirs = SESSION._replace(principal=Principal("x", tenant_id="tenant_x"))
    within(storage.units, lambda unit: unit.sessions.add(theirs))
    storage.close()


def test_a_database_that_was_not_migrated_is_left_to_its_owner(server, empty):
    with pytest.raises(SchemaMismatch, match="not there"):
        open_storage(server.url("app", empty))
    migrate_storage(server.url("owner", empty), "hardgate_app")
    open_storage(server.url("app", empty)).close()
