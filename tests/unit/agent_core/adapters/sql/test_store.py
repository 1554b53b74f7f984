"""What the SQL store promises beyond its ports, on SQLite."""

import asyncio
import sqlite3
import threading
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, event

from agent_core.adapters.sql import engine as engines
from agent_core.adapters.sql import migrate
from agent_core.adapters.sql.store import SqlStore
from agent_core.application.inline import run_inline
from agent_core.domain.errors import (
    NotFound,
    StorageFull,
    StorageUnavailable,
    UnknownPayloadVersion,
)
from agent_core.domain.events import ActorType, EventType, NewEvent
from agent_core.domain.sessions import Principal, Session

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = Session("session", Principal("somebody"), (), NOW)
TENANT_X = Principal("somebody", tenant_id="tenant_x")
EVENT = NewEvent(
    id="event",
    session_id="session",
    run_id=None,
    event_type=EventType.SESSION_CREATED,
    payload_schema_version=1,
    actor_type=ActorType.RUNTIME,
    actor_id="agent_core",
    payload={"tool_names": []},
    created_at=NOW,
)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "records.db"
    migrate.upgrade(f"sqlite:///{found}")
    return found


@pytest.fixture
def store(path):
    found = SqlStore(f"sqlite:///{path}")
    yield found
    found.close()


@pytest.fixture
def units(store):
    return store.units("tenant_default")


async def add(units, *sessions):
    async with units() as unit:
        for session in sessions:
            await unit.sessions.add(session)


async def get(units, session_id="session"):
    async with units() as unit:
        return await unit.sessions.get(session_id)


def test_no_event_loop_is_needed(units):
    run_inline(add(units, SESSION))
    assert run_inline(get(units)) == SESSION


def test_records_are_there_for_the_next_process(path, units):
    run_inline(add(units, SESSION))
    again = SqlStore(f"sqlite:///{path}")
    assert run_inline(get(again.units("tenant_default"))) == SESSION
    again.close()


def test_a_second_unit_of_work_is_refused_while_one_is_open(units):
    async def nested():
        async with units(), units():
            pass

    with pytest.raises(RuntimeError, match="open already"):
        run_inline(nested())
    run_inline(add(units, SESSION))


def test_a_unit_of_work_may_be_entered_again(units):
    unit = units()

    async def twice():
        async with unit:
            await unit.sessions.add(SESSION)
        async with unit:
            return await unit.sessions.get("session")

    assert run_inline(twice()) == SESSION


def test_another_thread_waits_for_its_turn_and_sees_what_was_committed(units):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(run_inline(get(units))))

    async def while_open():
        async with units() as unit:
            await unit.sessions.add(SESSION)
            thread.start()

    run_inline(while_open())
    thread.join()
    assert seen == [SESSION]


def test_each_event_is_told_once_after_it_was_committed(store):
    told = []
    units = store.units("tenant_default", told.append)

    async def append(event_id, error=None):
        async with units() as unit:
            await unit.events.append(EVENT._replace(id=event_id))
            assert event_id not in [event.id for event in told]
            if error:
                raise error

    run_inline(add(units, SESSION))
    run_inline(append("a"))
    with pytest.raises(KeyError):
        run_inline(append("b", KeyError("mine")))
    run_inline(append("c"))
    assert [(event.id, event.sequence) for event in told] == [("a", 1), ("c", 2)]


def test_what_a_record_names_has_to_be_there_in_the_end(units):
    with pytest.raises(NotFound, match="refers to"):
        run_inline(_append(units))
    run_inline(add(units, SESSION))
    run_inline(_append(units))


async def _append(units, *events):
    async with units() as unit:
        for one in events or (EVENT,):
            await unit.events.append(one)


def test_the_records_of_another_tenant_are_not_there(store):
    own, other = store.units("tenant_default"), store.units("tenant_eval")
    run_inline(add(own, SESSION))
    with pytest.raises(NotFound):
        run_inline(get(other))
    with pytest.raises(NotFound, match="tenant tenant_default"):
        run_inline(add(other, SESSION))
    # A key that is taken elsewhere is free here.
    theirs = SESSION._replace(principal=Principal("they", tenant_id="tenant_eval"))
    run_inline(add(other, theirs))
    assert run_inline(get(own)) == SESSION
    assert run_inline(get(other)) == theirs


def test_a_tenant_that_is_not_registered_has_no_records(store):
    stranger = SESSION._replace(principal=Principal("x", tenant_id="tenant_x"))
    with pytest.raises(NotFound, match="refers to"):
        run_inline(add(store.units("tenant_x"), stranger))


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET event_type = 'session.renamed'",
        "UPDATE events SET payload_schema_version = 2",
    ],
)
def test_an_event_of_a_newer_program_is_not_guessed_at(path, units, statement):
    run_inline(add(units, SESSION))
    run_inline(_append(units))
    change(path, statement)

    async def read():
        async with units() as unit:
            await unit.events.list_for_session("session")

    with pytest.raises(UnknownPayloadVersion):
        run_inline(read())


@contextmanager
def connections(set_up):
    """Calls `set_up` with each connection that is opened meanwhile."""

    def listener(connection, record):
        set_up(connection)

    event.listen(Engine, "connect", listener)
    try:
        yield
    finally:
        event.remove(Engine, "connect", listener)


def test_a_locked_database_is_unavailable_and_nothing_is_written(path, monkeypatch):
    monkeypatch.setattr(engines, "WAIT_SECONDS", 0)
    store = SqlStore(f"sqlite:///{path}")
    units = store.units("tenant_default")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable, match="SQLITE_BUSY"):
        run_inline(add(units, SESSION))
    other.execute("ROLLBACK")
    other.close()
    with pytest.raises(NotFound):
        run_inline(get(units))
    run_inline(add(units, SESSION))
    store.close()


def test_a_full_database_says_so_and_nothing_is_half_written(path):
    large = EVENT._replace(payload={"tool_names": ["x" * 100_000]})
    store = SqlStore(f"sqlite:///{path}")
    units = store.units("tenant_default")

    async def read():
        async with units() as unit:
            return await unit.events.list_for_session("session")

    with connections(lambda connection: connection.execute("PRAGMA max_page_count = 90")):
        run_inline(add(units, SESSION))
        with pytest.raises(StorageFull, match="SQLITE_FULL"):
            run_inline(_append(units, EVENT, *(large._replace(id=f"{n}") for n in range(9))))
        assert run_inline(read()) == ()
        run_inline(_append(units))
        assert [one.id for one in run_inline(read())] == ["event"]
    store.close()


def test_an_unavailable_database_is_named_by_what_was_done(tmp_path):
    store = SqlStore(f"sqlite:///{tmp_path}/nowhere/records.db")
    with pytest.raises(StorageUnavailable, match="connecting: SQLITE_CANTOPEN"):
        run_inline(get(store.units("tenant_default")))


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://secret@host/db",
        "postgresql+psycopg2://secret@host/db",
        "secret",
        "sqlite",
    ],
)
def test_another_url_is_refused_without_showing_it(url):
    with pytest.raises(ValueError) as caught:
        SqlStore(url)
    assert "secret" not in str(caught.value)


def test_an_error_within_does_not_keep_the_connection(units):
    async def broken():
        async with units() as unit:
            await unit.sessions.add(SESSION)
            raise asyncio.CancelledError

    for _ in range(20):
        with pytest.raises(asyncio.CancelledError):
            run_inline(broken())
    run_inline(add(units, SESSION))


def test_sqlite_keeps_what_was_committed_through_a_loss_of_power(path):
    engine = engines.open_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    engine.dispose()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_tenant_has_a_name(store):
    with pytest.raises(ValueError, match="not empty"):
        store.register_tenant("")
    store.register_tenant("tenant_x")
    asyncio.run(add(store.units("tenant_x"), SESSION._replace(principal=TENANT_X)))
    with pytest.raises(NotFound):
        asyncio.run(add(store.units(""), SESSION._replace(id="other")))
