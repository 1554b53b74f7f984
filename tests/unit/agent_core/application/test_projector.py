"""Projections keep up with the log, and are what a rebuild gives."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.journal import Journal
from agent_core.application.projector import Projector
from agent_core.domain.errors import NotFound
from agent_core.domain.events import EventType
from agent_core.domain.projections import PROJECTIONS, Projection
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.sessions import Principal, Session

START = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = Session("session", Principal("somebody"), (), START)
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.QUEUED, RunLimits(), START)
PROPOSAL = {"invocation_id": "i", "step_number": 2, "call_id": "c", "tool_name": "math.calculate"}
ENDED = {
    **PROPOSAL,
    "origin_trust": "user",
    "outcome_status": "succeeded",
    "reason_code": "tool.succeeded",
    "effect_sent": True,
    "output_bytes": 3,
    "truncated": False,
}
CHECKPOINTED = {"version": 1, "trigger": "tool_outcome", "step_number": 2, "full": True}
COUNTERS = {"step_count": 2, "model_call_count": 2, "tool_call_count": 1}
CLAIMED = {"lease_epoch": 1, "attempt_number": 1}
LOG = [
    (EventType.USER_MESSAGE_CREATED, {"text": "Hello?", "trust": "user", "private": False}),
    (EventType.RUN_QUEUED, {}),
    (EventType.RUN_CLAIMED, CLAIMED),
    (EventType.RUN_STARTED, {}),
    (EventType.TOOL_CALL_COMPLETED, ENDED),
    (EventType.TOOL_CALL_COMPLETED, {**ENDED, "effect_sent": False}),
    (EventType.RUN_CHECKPOINTED, CHECKPOINTED),
    (EventType.RUN_FAILED, {**COUNTERS, "reason": "budget_exceeded", "step_number": 2}),
]
STATES = {
    "run_summaries": {
        "run": {
            "status": "FAILED",
            "failure_reason": "budget_exceeded",
            "claims": 1,
            "checkpoints": 1,
            "step_number": 2,
        }
    },
    "tool_calls": {"math.calculate": {"tool.succeeded": 2, "effects": 1}},
    "messages": {"messages": [{"sequence": 1, "role": "user", "trust": "user", "private": False}]},
}


@pytest.fixture
def store():
    unit = InMemoryUnitOfWork()

    async def open_session():
        async with unit:
            await unit.sessions.add(SESSION)

    asyncio.run(open_session())
    return unit


@pytest.fixture
def append(store):
    journal = Journal(PinnedClock(START), PinnedIdFactory("projections"))

    def one(event_type, payload):
        async def append_it():
            async with store as unit:
                await journal.record(unit, RUN, event_type, payload)

        asyncio.run(append_it())

    return one


def projector(store, *projections):
    return Projector(units=lambda: store, projections=projections or PROJECTIONS)


def moved(store, *projections):
    return asyncio.run(projector(store, *projections).catch_up_all())


def state(store, name, *projections):
    return asyncio.run(projector(store, *projections).state(name, "session"))


@pytest.mark.parametrize("name", STATES)
def test_every_projection_of_a_log(store, append, name):
    for event in LOG:
        append(*event)
    assert state(store, name).state == STATES[name]
    assert state(store, name).position == len(LOG)


@pytest.mark.parametrize("name", STATES)
def test_brought_forward_event_by_event_it_is_what_a_rebuild_gives(store, append, name):
    for event in LOG:
        append(*event)
        kept = state(store, name)
        assert kept == asyncio.run(projector(store).rebuilt(name, "session"))
    assert kept.state == STATES[name]


@pytest.mark.parametrize("end", ["completed", "failed", "denied", "uncertain"])
def test_a_call_is_counted_however_it_ends(store, append, end):
    append(EventType(f"tool.call.{end}"), ENDED)
    counts = {"math.calculate": {"tool.succeeded": 1, "effects": 1}}
    assert state(store, "tool_calls").state == counts


LIFE = [
    (EventType.RUN_QUEUED, {}, "QUEUED"),
    (EventType.RUN_CLAIMED, CLAIMED, "RUNNING"),
    (EventType.RUN_FENCED, {"lease_epoch": 1}, "RUNNING"),
    (EventType.RUN_WAITING_FOR_USER, {**COUNTERS, "invocation_id": "i"}, "WAITING_FOR_USER"),
    (EventType.RUN_REQUEUED, {"reason": "answered", "lease_epoch": 1}, "QUEUED"),
    (EventType.RUN_CLAIMED, {"lease_epoch": 2, "attempt_number": 1}, "RUNNING"),
    (EventType.RUN_CANCELLED, COUNTERS, "CANCELLED"),
]


def test_the_status_of_a_run_follows_its_log(store, append):
    for event_type, payload, status in LIFE:
        append(event_type, payload)
        assert state(store, "run_summaries").state["run"]["status"] == status
    assert state(store, "run_summaries").state["run"]["claims"] == 2


def test_there_is_a_state_for_every_projection():
    assert set(STATES) == {one.name for one in PROJECTIONS}


def test_all_sessions_are_brought_forward_once(store, append):
    append(*LOG[0])
    assert moved(store) == len(PROJECTIONS)
    assert moved(store) == 0
    append(*LOG[1])
    assert moved(store) == len(PROJECTIONS)


def counted(version):
    return Projection("counted", version, lambda state, _: {"n": state.get("n", 0) + version})


def test_a_state_of_another_version_is_built_anew(store, append):
    for event in LOG[:3]:
        append(*event)
    assert state(store, "counted", counted(1)).state == {"n": 3}
    assert moved(store, counted(1)) == 0
    assert moved(store, counted(10)) == 1
    assert state(store, "counted", counted(10))[2:] == (10, 3, {"n": 30})


def test_of_two_that_take_the_same_events_one_changes_nothing(store, append):
    append(*LOG[0])
    first = projector(store, counted(1))

    class Overtaken(InMemoryUnitOfWork):
        """Another projector is done between this one's reading and its writing."""

        async def __aenter__(self):
            unit = await store.__aenter__()
            save = unit.projections.save

            async def later(state, expected):
                await save(state, expected)
                await save(state._replace(state={"n": 99}), expected)

            unit.projections.save = later
            return unit

        async def __aexit__(self, *error):
            del store.projections.save
            await store.__aexit__(*error)

    overtaken = Projector(units=Overtaken, projections=[counted(1)])
    assert asyncio.run(overtaken.catch_up_all()) == 0
    assert asyncio.run(first.state("counted", "session")).state == {"n": 1}


def test_an_unknown_session_and_an_unknown_projection_are_told(store):
    with pytest.raises(NotFound):
        asyncio.run(projector(store).state("messages", "elsewhere"))
    with pytest.raises(KeyError):
        state(store, "elsewhere")
    assert state(store, "messages").position == 0
