"""Runs over a database: nothing about them is different, and they are there for the next process."""

import asyncio
import sqlite3
import subprocess
import sys

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.application.inline import run_inline
from agent_core.bootstrap import (
    PINNED_START,
    build_runtime,
    build_worker,
    migrate_storage,
    open_maintenance,
    open_storage,
)
from agent_core.domain.errors import NotFound, SchemaMismatch, TenantBusy
from tests.integration.agent_core.scripted_runs import (
    ANSWER,
    DONE,
    QUESTION,
    SOMEBODY,
    calculate,
    error,
    proposes,
)

TURNS = [
    calculate("17 * 23", "1 / 0"),
    proposes(("no.such_tool", "{}"), ("math.calculate", '{"expression": "2 ** 10"}')),
    error("transient", text="half", after_bytes=2),
    proposes(("system.current_time", '{"timezone": "Mars/Olympus"}')),
    ANSWER,
    DONE,
]


def runtime_over(storage, turns):
    clock = PinnedClock(PINNED_START)
    return build_runtime(
        model=ScriptedModelProvider(turns, clock),
        clock=clock,
        ids=PinnedIdFactory("storage"),
        scheduler=DeterministicScheduler(),
        units=storage.units,
    )


async def conversation(runtime):
    """Everything that can be read about a conversation of two runs."""
    session = await runtime.open_session(SOMEBODY)
    found = [session]
    for message in (QUESTION, "And é\0?"):
        run_id = await runtime.submit(session.id, message)
        found.append(await runtime.run_until_terminal(run_id))
        found.append(await runtime.run(run_id))
        found.append(await runtime.invocations(run_id))
        found.append(await runtime.transcript(run_id))
        found.append(await runtime.final_text(run_id))
    found.append(await runtime.events(session.id))
    return found


def test_a_conversation_is_the_same_in_memory_and_in_a_database(tmp_path):
    seen = []
    for url in ("memory", f"sqlite:///{tmp_path}/records.db"):
        told = []
        storage = open_storage(url, listener=told.append)
        seen.append((run_inline(conversation(runtime_over(storage, TURNS))), told))
        storage.close()
    (in_memory, told_in_memory), (in_database, told_of_database) = seen
    assert in_database == in_memory
    assert told_of_database == told_in_memory == list(in_memory[-1])
    assert len(told_in_memory) > 20


def test_what_a_model_proposes_is_kept_whatever_it_is(tmp_path):
    call = ("no.such\\u0000töol", '{"a": ["\\u0000", 1.0, 1]}')
    seen = []
    for url in ("memory", f"sqlite:///{tmp_path}/records.db"):
        storage = open_storage(url)
        seen.append(run_inline(conversation(runtime_over(storage, [proposes(call), DONE, DONE]))))
        storage.close()
    assert seen[0] == seen[1]
    assert seen[0][3][0].tool_name == call[0]


def test_a_file_is_brought_to_the_schema_and_found_again(tmp_path):
    url = f"sqlite:///{tmp_path}/records.db"
    storage = open_storage(url)
    session, *_ = run_inline(conversation(runtime_over(storage, TURNS)))
    storage.close()
    again = open_storage(url)
    assert len(run_inline(runtime_over(again, []).events(session.id))) > 20
    other = open_storage(url, tenant_id="tenant_x")
    with pytest.raises(NotFound):
        run_inline(runtime_over(other, []).events(session.id))
    again.close()
    other.close()


def test_several_conversations_at_once_in_one_process(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/records.db")

    async def all_of_them():
        runtimes = [
            build_runtime(
                model=ScriptedModelProvider([calculate("1 + 1"), DONE], PinnedClock(PINNED_START)),
                units=storage.units,
            )
            for _ in range(4)
        ]
        return await asyncio.gather(*map(one, runtimes))

    async def one(runtime):
        session = await runtime.open_session(SOMEBODY)
        run_id = await runtime.submit(session.id, QUESTION)
        run = await runtime.run_until_terminal(run_id)
        return run.status, [event.sequence for event in await runtime.events(session.id)]

    for status, sequences in asyncio.run(all_of_them()):
        assert status == "COMPLETED"
        assert sequences == list(range(1, len(sequences) + 1))
    storage.close()


def test_a_worker_executes_what_another_process_has_submitted(tmp_path):
    url = f"sqlite:///{tmp_path}/records.db"
    submitting, working = open_storage(url), open_storage(url)
    runtime = runtime_over(submitting, [])

    async def submit():
        session = await runtime.open_session(SOMEBODY)
        return session.id, await runtime.submit(session.id, QUESTION)

    session_id, run_id = run_inline(submit())

    async def work():
        model = ScriptedModelProvider([calculate("17 * 23"), ANSWER], PinnedClock(PINNED_START))
        units = working.units
        worker = build_worker(model=model, units=units, heartbeat_units=units, owner="worker")
        await worker.run_until_idle()

    asyncio.run(work())
    assert run_inline(runtime.run(run_id)).status == "COMPLETED"
    assert run_inline(runtime.final_text(run_id)) == ANSWER.text
    types = [event.event_type.value for event in run_inline(runtime.events(session_id))]
    assert types.count("run.claimed") == types.count("run.completed") == 1
    working.close()
    # The hooks of the run are done too.
    maintenance = open_maintenance(url)
    run_inline(maintenance.tenants.truncate_tenant("tenant_default"))
    maintenance.close()
    submitting.close()


def test_a_database_of_a_newer_program_is_refused(tmp_path):
    path = tmp_path / "records.db"
    migrate_storage(f"sqlite:///{path}")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaMismatch):
        open_storage(f"sqlite:///{path}")


def test_maintenance_empties_a_tenant(tmp_path):
    url = f"sqlite:///{tmp_path}/records.db"
    storage, maintenance = open_storage(url), open_maintenance(url)
    runtime = runtime_over(storage, TURNS)
    session, *_ = run_inline(conversation(runtime))
    run_inline(maintenance.tenants.truncate_tenant("tenant_eval"))
    assert run_inline(runtime.events(session.id))
    run_inline(maintenance.tenants.truncate_tenant("tenant_default"))
    with pytest.raises(NotFound):
        run_inline(runtime.events(session.id))
    storage.close()
    maintenance.close()


def test_a_tenant_that_is_at_work_is_not_emptied(tmp_path):
    url = f"sqlite:///{tmp_path}/records.db"
    storage, maintenance = open_storage(url), open_maintenance(url)
    runtime = runtime_over(storage, [])

    async def submit():
        session = await runtime.open_session(SOMEBODY)
        await runtime.submit(session.id, QUESTION)

    run_inline(submit())
    with pytest.raises(TenantBusy, match="1 runs and 0 hooks"):
        run_inline(maintenance.tenants.truncate_tenant("tenant_default"))
    storage.close()
    maintenance.close()


def test_a_process_that_keeps_its_records_in_memory_imports_no_database():
    program = (
        "import sys; from agent_core.bootstrap import open_storage; open_storage('memory'); "
        "print([name for name in ('alembic', 'sqlalchemy', 'sqlite3') if name in sys.modules])"
    )
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("url", ["disk", "mysql://x/y", "sqlite://"])
def test_another_storage_is_refused(url):
    with pytest.raises(ValueError, match="allowed|URL"):
        open_storage(url)
