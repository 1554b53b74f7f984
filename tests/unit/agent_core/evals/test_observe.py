"""What a record keeps of rows and events, and where it stops."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.events import ActorType, Event, EventType
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.runs import FailureReason, Run, RunFailure, RunLimits, RunStatus, RunUsage
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.evals.observe import observed
from hardgate.cases.record import CALLS_LIMIT, EVENTS_LIMIT, TEXT_LIMIT_CHARACTERS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Run(
    id="r",
    session_id="s",
    principal_id="p",
    principal_scopes=frozenset(),
    status=RunStatus.COMPLETED,
    limits=RunLimits(),
    created_at=NOW,
    step_count=3,
    usage=RunUsage(model_calls=4, tool_calls=2),
)
ROW = ToolInvocation(
    id="i",
    run_id="r",
    step_number=2,
    call_id="c",
    tool_name="demo.write",
    arguments={},
    origin=Labels(TrustLevel.EXTERNAL_UNTRUSTED),
    status=InvocationStatus.RUNNING,
    created_at=NOW,
)
EVENT = Event(
    id="e",
    session_id="s",
    run_id="r",
    sequence=1,
    event_type=EventType.RUN_QUEUED,
    payload_schema_version=1,
    actor_type=ActorType.RUNTIME,
    actor_id="a",
    payload={},
    created_at=NOW,
)


def record(run=RUN, events=(EVENT,), rows=(), text="x"):
    return observed(
        run, events, rows, text, turns_consumed=1, turns_total=2, exhausted_at_step=None
    )


def test_counts_are_the_runs_own():
    found = record()
    assert (found.step_count, found.model_call_count, found.tool_call_count) == (3, 4, 2)
    assert (found.turns_consumed, found.turns_total) == (1, 2)


def test_a_failure_names_its_reason():
    failure = RunFailure(FailureReason.MAX_STEPS_EXCEEDED, None, 3, NOW)
    found = record(RUN._replace(status=RunStatus.FAILED, failure=failure))
    assert (found.terminal_status, found.failure_reason) == ("FAILED", "max_steps_exceeded")


def test_names_are_plain_texts():
    """An enum member prints and serializes in its own way; the record holds none."""
    found = record(rows=(ROW,))
    assert type(found.terminal_status) is str
    assert type(found.events[0].type) is str
    assert type(found.tool_calls[0].status) is str


@pytest.mark.parametrize("sent_at", [None, NOW])
def test_an_effect_is_what_the_watermark_says(sent_at):
    (call,) = record(rows=(ROW._replace(started_at=NOW, effect_sent_at=sent_at),)).tool_calls
    assert call.effect_sent is (sent_at is not None)


def test_a_record_is_cut_at_the_limits_and_says_so():
    found = record(
        events=(EVENT,) * (EVENTS_LIMIT + 1),
        rows=(ROW,) * (CALLS_LIMIT + 1),
        text="x" * (TEXT_LIMIT_CHARACTERS + 1),
    )
    assert found.limits_hit == ("events", "tool_calls", "final_text")
    assert len(found.events) == EVENTS_LIMIT
    assert len(found.tool_calls) == CALLS_LIMIT
    assert len(found.final_text) == TEXT_LIMIT_CHARACTERS


def test_at_the_limits_nothing_is_cut():
    found = record(
        events=(EVENT,) * EVENTS_LIMIT,
        rows=(ROW,) * CALLS_LIMIT,
        text="x" * TEXT_LIMIT_CHARACTERS,
    )
    assert found.limits_hit == ()
