"""What every unit of work promises: all of its writes, or none."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.sql.unit_of_work import SqlUnitOfWork
from agent_core.domain.checkpoints import Checkpoint, CheckpointTrigger
from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.errors import AlreadyExists, NotFound, StaleState
from agent_core.domain.events import ActorType, EventType, NewEvent
from agent_core.domain.hooks import HookKind, HookStatus, HookTask
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.leases import Lease
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.reviews import EffectReview, ReviewResolution
from agent_core.domain.runs import Run, RunLimits, RunStatus, RunUsage
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.trust import Labels, TrustLevel
from tests.contract.stores import TENANT, add_what_it_refers_to, over

IMPLEMENTATIONS = [InMemoryUnitOfWork, SqlUnitOfWork]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = Session("session", Principal("somebody"), (), NOW)
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.QUEUED, RunLimits(), NOW)
EVENT = NewEvent(
    id="event",
    session_id="session",
    run_id="run",
    event_type=EventType.RUN_QUEUED,
    payload_schema_version=1,
    actor_type=ActorType.RUNTIME,
    actor_id="agent_core",
    payload={},
    created_at=NOW,
)
ROW = ToolInvocation(
    id="invocation",
    run_id="run",
    step_number=1,
    call_id="call",
    tool_name="demo.tool",
    arguments={},
    origin=Labels(TrustLevel.USER),
    status=InvocationStatus.AUTHORIZED,
    created_at=NOW,
    idempotency_key="key",
)
CHECKPOINT = Checkpoint("run", 1, CheckpointTrigger.TOOL_OUTCOME, 1, RunUsage(), (), NOW)
TURN = RecordedTurn(
    "run", 1, ContextItem("turn", ItemKind.ASSISTANT_TURN, "model", ROW.origin, "text")
)
REVIEW = EffectReview("review", "tenant_default", "run", "invocation", "demo.tool", "code", NOW)
HOOK = HookTask(
    "hook", "tenant_default", "run", HookKind.TRAJECTORY_MARKER, HookStatus.PENDING, NOW
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def units(request, databases):
    """A factory whose units of work share one new store."""
    with databases.opened(request.param) as store:
        yield store.units()


async def write_everything(unit):
    await unit.sessions.add(SESSION)
    await unit.runs.add(RUN)
    await unit.runs.update(RUN._replace(status=RunStatus.RUNNING), expected=RunStatus.QUEUED)
    await unit.events.append(EVENT)
    await unit.events.append(EVENT._replace(id="event2"))
    await unit.invocations.add(ROW)
    await unit.invocations.update(
        ROW._replace(status=InvocationStatus.RUNNING),
        expected=InvocationStatus.AUTHORIZED,
    )
    await unit.invocations.mark_effect_sent(ROW.id, NOW)
    await unit.checkpoints.add(CHECKPOINT)
    await unit.turns.add(TURN)
    await unit.reviews.add(REVIEW)
    await unit.hooks.add(HOOK)


async def everything(units):
    async with units() as unit:
        try:
            session = await unit.sessions.get("session")
            run = await unit.runs.get("run")
        except NotFound:
            session = run = None
        events = await unit.events.list_for_session("session")
        return (
            session,
            run and run.status,
            [event.id for event in events],
            [row.status for row in await unit.invocations.list_for_run("run")],
            await unit.invocations.find_by_key("key") is not None,
            await unit.checkpoints.latest("run"),
            await unit.turns.list_for_run("run"),
            await unit.reviews.list_for_run("run"),
            await unit.hooks.list_for_run("run"),
        )


NOTHING = (None, None, [], [], False, None, (), (), ())
EVERYTHING = (
    SESSION,
    RunStatus.RUNNING,
    ["event", "event2"],
    [InvocationStatus.RUNNING],
    True,
    CHECKPOINT,
    (TURN,),
    (REVIEW,),
    (HOOK,),
)


async def committed(units):
    async with units() as unit:
        await write_everything(unit)


async def broken(units, error):
    async with units() as unit:
        await write_everything(unit)
        raise error


def test_a_normal_end_commits(units):
    asyncio.run(committed(units))
    assert asyncio.run(everything(units)) == EVERYTHING


@pytest.mark.parametrize("error", [KeyError("mine"), asyncio.CancelledError(), KeyboardInterrupt()])
def test_an_error_undoes_everything_and_comes_through(units, error):
    with pytest.raises(type(error)):
        asyncio.run(broken(units, error))
    assert asyncio.run(everything(units)) == NOTHING


def test_an_error_undoes_updates_of_what_was_there_before(units):
    async def update(unit):
        await unit.runs.update(RUN._replace(status=RunStatus.FAILED), expected=RunStatus.RUNNING)
        await unit.invocations.update(
            ROW._replace(status=InvocationStatus.FAILED),
            expected=InvocationStatus.RUNNING,
        )
        await unit.events.append(EVENT._replace(id="event3"))
        await unit.checkpoints.add(CHECKPOINT._replace(version=2))
        await unit.turns.add(TURN._replace(step_number=2))
        await unit.reviews.resolve("review", ReviewResolution.HAPPENED, NOW, "somebody", "")
        await unit.hooks.claim("worker", NOW, NOW)

    async def attempt():
        async with units() as unit:
            await update(unit)
            raise KeyError("mine")

    asyncio.run(committed(units))
    with pytest.raises(KeyError, match="mine"):
        asyncio.run(attempt())
    assert asyncio.run(everything(units)) == EVERYTHING


def test_a_guarded_write_that_came_too_late_undoes_the_rest(units):
    async def attempt():
        async with units() as unit:
            await unit.events.append(EVENT._replace(id="late"))
            await unit.runs.update(RUN, expected=RunStatus.QUEUED)

    asyncio.run(committed(units))
    with pytest.raises(StaleState):
        asyncio.run(attempt())
    assert asyncio.run(everything(units)) == EVERYTHING


def test_what_was_undone_can_be_written_again(units):
    with pytest.raises(KeyError):
        asyncio.run(broken(units, KeyError("mine")))
    asyncio.run(committed(units))
    assert asyncio.run(everything(units)) == EVERYTHING


def test_sequences_rise_across_an_undone_append(units):
    async def append(event_id, error=None):
        async with units() as unit:
            await add_what_it_refers_to(unit, EVENT, TENANT)
            event = await unit.events.append(EVENT._replace(id=event_id))
            if error:
                raise error
            return event.sequence

    first = asyncio.run(append("a"))
    with pytest.raises(KeyError):
        asyncio.run(append("b", KeyError("mine")))
    assert asyncio.run(append("c")) > first
    assert [event.id for event in asyncio.run(read(units))] == ["a", "c"]


def test_an_append_that_was_refused_leaves_no_gap(units):
    async def append():
        async with units() as unit:
            await add_what_it_refers_to(unit, EVENT, TENANT)
            await unit.events.append(EVENT)
            with pytest.raises(AlreadyExists):
                await unit.events.append(EVENT)
            await unit.events.append(EVENT._replace(id="second"))

    asyncio.run(append())
    assert [(event.id, event.sequence) for event in asyncio.run(read(units))] == [
        ("event", 1),
        ("second", 2),
    ]


async def read(units):
    async with units() as unit:
        return await unit.events.list_for_session("session")


def test_claims_holds_and_requests_are_undone_like_any_write(units):
    lease = Lease("worker", 1, NOW)

    async def attempt():
        async with units() as unit:
            await unit.sessions.add(SESSION)
            await unit.runs.add(RUN)
        try:
            async with units() as unit:
                claimed = await unit.runs.claim("worker", NOW, NOW)
                await unit.runs.hold("run", lease)
                await unit.runs.renew("run", lease, NOW)
                await unit.runs.request_cancel("run", NOW)
                queued = await unit.runs.requeue(claimed, NOW, 0)
                assert queued.status is RunStatus.QUEUED
                raise KeyError("mine")
        except KeyError:
            pass
        async with units() as unit:
            return await unit.runs.get("run")

    assert asyncio.run(attempt()) == RUN


def test_the_records_of_one_unit_of_work_may_name_each_other_in_any_order(units):
    async def backwards():
        async with units() as unit:
            await unit.turns.add(TURN)
            await unit.events.append(EVENT)
            await unit.runs.add(RUN)
            await unit.sessions.add(SESSION)
        async with units() as unit:
            return await unit.runs.get("run"), await unit.turns.list_for_run("run")

    assert asyncio.run(backwards()) == (RUN, (TURN,))
