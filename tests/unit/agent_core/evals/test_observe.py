"""What a record keeps of rows and events, and where it stops."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.events import ActorType, Event, EventType
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.outcomes import make_outcome
from agent_core.domain.runs import (
    Dimension,
    FailureReason,
    PassedLimit,
    Run,
    RunFailure,
    RunLimits,
    RunStatus,
    RunUsage,
)
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.evals.observe import Conversation, Played, observed
from hardgate.cases.record import (
    CALLS_LIMIT,
    EVENTS_LIMIT,
    TEXT_LIMIT_CHARACTERS,
    MissingToolResult,
    ObservedItem,
)

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


USER = Labels(TrustLevel.USER)
MESSAGE = ContextItem("m", ItemKind.USER_MESSAGE, "somebody", USER, "Hello.")


def record(runs=(RUN,), events=(EVENT,), rows=(), text="x", transcripts=((MESSAGE,),), **played):
    conversation = Conversation(runs, events, rows, transcripts, text)
    return observed(conversation, Played(**{"turns_consumed": 1, "turns_total": 2, **played}))


def ended(code, **more):
    return ROW._replace(outcome=make_outcome("demo.write", code), **more)


def test_counts_are_the_runs_own():
    found = record()
    assert (found.step_count, found.model_call_count, found.tool_call_count) == (3, 4, 2)
    assert (found.turns_consumed, found.turns_total) == (1, 2)


def test_a_failure_names_its_reason():
    failure = RunFailure(FailureReason.MAX_STEPS_EXCEEDED, None, 3, NOW)
    found = record([RUN._replace(status=RunStatus.FAILED, failure=failure)])
    assert (found.terminal_status, found.failure_reason) == ("FAILED", "max_steps_exceeded")
    assert found.exceeded is None


@pytest.mark.parametrize("dimension", Dimension)
def test_a_failure_for_a_limit_names_it(dimension):
    limit = PassedLimit(dimension, 1, 2)
    failure = RunFailure(limit.reason, None, 3, NOW, limit=limit)
    found = record([RUN._replace(status=RunStatus.FAILED, failure=failure)])
    assert (found.failure_reason, found.exceeded) == (limit.reason.value, dimension.value)
    assert type(found.exceeded) is str


def test_of_several_runs_the_counts_add_up_and_the_end_is_the_last_ones():
    failed = RunFailure(FailureReason.EMPTY_MODEL_TURN, None, 1, NOW)
    runs = [RUN, RUN._replace(status=RunStatus.FAILED, failure=failed, step_count=1)]
    found = record(runs, transcripts=((MESSAGE,), (MESSAGE, ANSWER, MESSAGE)), text=None)
    assert (found.step_count, found.model_call_count, found.tool_call_count) == (4, 8, 4)
    assert (found.terminal_status, found.failure_reason) == ("FAILED", "empty_model_turn")
    assert (found.messages_sent, found.final_text) == (2, None)


RESULT = ContextItem(
    id="r",
    kind=ItemKind.TOOL_RESULT,
    source="demo.write",
    labels=Labels(TrustLevel.KNOWLEDGE, is_private=True),
    text="",
    call_id="c",
)
ANSWER = ContextItem("a", ItemKind.ASSISTANT_TURN, "model", RESULT.labels, "So.")


def test_the_items_are_what_each_run_added():
    earlier = (MESSAGE, RESULT, ANSWER)
    found = record([RUN, RUN], transcripts=(earlier, (MESSAGE, ANSWER, MESSAGE)))
    user = ObservedItem("user_message", "user", False)
    assert found.items == (
        user,
        ObservedItem("tool_result", "knowledge", True, "demo.write", "c"),
        ObservedItem("assistant_turn", "knowledge", True),
        user,
    )


@pytest.mark.parametrize(
    ("labels", "untrusted", "private"),
    [
        (Labels(TrustLevel.MEMORY), False, False),
        (Labels(TrustLevel.KNOWLEDGE), True, False),
        (Labels(TrustLevel.EXTERNAL_UNTRUSTED), True, False),
        (Labels(TrustLevel.USER, is_private=True), False, True),
    ],
)
def test_what_a_conversation_holds_at_its_end(labels, untrusted, private):
    found = record(transcripts=((MESSAGE, RESULT._replace(labels=labels)),))
    assert (found.untrusted, found.private) == (untrusted, private)


def test_blocked_sends_are_counted():
    blocked = ended("policy.trust.exfiltration_blocked")
    rows = (blocked, ended("policy.matrix.external_write"), blocked, ROW)
    assert record(rows=rows).blocked_sends == 2


def test_a_call_without_a_recorded_result_is_named():
    rows = (
        ROW._replace(id="a", normalized_arguments_hash="ab"),
        ROW._replace(id="b"),
    )
    found = record(rows=rows, missing_results=["a"])
    assert found.missing_tool_results == (MissingToolResult("demo.write", "ab", 2),)


def test_a_success_without_a_watermark_is_named():
    first, second = record(rows=(ended("tool.contract.no_watermark"), ROW)).tool_calls
    assert (first.missing_watermark, second.missing_watermark) == (True, False)


def test_metrics_come_with_the_record():
    assert record(waits_seconds=[1, 0.5]).metrics["waits_total"] == 2


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
