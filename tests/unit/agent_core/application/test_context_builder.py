"""Requests: a prefix that stays, a body that grows, and the label of what comes of them."""

from datetime import UTC, datetime

import pytest

from agent_core.application.context_builder import build_request, origin_trust, seed_transcript
from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.events import ActorType, Event, EventType
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass, ToolSpec
from agent_core.domain.trust import TrustLevel

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.RUNNING, RunLimits(), NOW, 3)
TOOL = ToolSpec(
    name="demo.tool",
    version="1",
    description="Does it.",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    output_trust=TrustLevel.INTERNAL_TOOL,
    timeout_seconds=1,
    maximum_output_bytes=1,
)


def item(trust, text="text"):
    return ContextItem("id", ItemKind.USER_MESSAGE, "somebody", trust, text)


def test_the_policy_stands_first_and_the_conversation_in_the_body():
    body = (item(TrustLevel.USER),)
    request = build_request(RUN, (TOOL,), body)
    assert [part.kind for part in request.prefix] == [ItemKind.PLATFORM_POLICY]
    assert [part.trust for part in request.prefix] == [TrustLevel.PLATFORM]
    assert (request.body, request.tools) == (body, (TOOL,))
    assert (request.run_id, request.step_number, request.attempt_number) == ("run", 3, 1)


def test_the_prefix_hash_does_not_see_time_run_or_body():
    first = build_request(RUN, (TOOL,), (item(TrustLevel.USER),))
    later = RUN._replace(
        id="run2", step_count=9, created_at=datetime(2027, 5, 5, tzinfo=UTC), session_id="other"
    )
    second = build_request(later, (TOOL,), (*first.body, item(TrustLevel.MEMORY, "more")))
    assert first.prefix_sha256 == second.prefix_sha256
    assert len(first.prefix_sha256) == 64
    assert first.body != second.body


@pytest.mark.parametrize(
    "tools",
    [
        (),
        (TOOL, TOOL._replace(name="demo.other")),
        (TOOL._replace(version="2"),),
        (TOOL._replace(description="Does it now."),),
        (TOOL._replace(input_schema={"type": "object", "properties": {}}),),
    ],
)
def test_the_prefix_hash_sees_every_part_of_a_tool_that_the_model_is_shown(tools):
    base = build_request(RUN, (TOOL,), ())
    assert build_request(RUN, tools, ()).prefix_sha256 != base.prefix_sha256


@pytest.mark.parametrize("lowest", TrustLevel)
def test_what_a_model_makes_has_the_lowest_label_it_was_shown(lowest):
    request = build_request(RUN, (), (item(TrustLevel.PLATFORM), item(lowest)))
    assert origin_trust(request) is lowest


def event(number, event_type, payload, run_id="run"):
    return Event(
        id=f"event{number}",
        session_id="session",
        run_id=run_id,
        sequence=number,
        event_type=event_type,
        payload_schema_version=1,
        actor_type=ActorType.PRINCIPAL,
        actor_id="somebody",
        payload=payload,
        created_at=NOW,
    )


def test_a_transcript_is_the_messages_of_the_log_in_their_order():
    log = [
        event(1, EventType.SESSION_CREATED, {}, None),
        event(2, EventType.USER_MESSAGE_CREATED, {"text": "one"}),
        event(3, EventType.RUN_STARTED, {}),
        event(4, EventType.MODEL_RESPONSE_COMPLETED, {"text": "no message"}),
        event(5, EventType.ASSISTANT_MESSAGE_COMPLETED, {"text": "two", "trust": "knowledge"}),
        event(6, EventType.USER_MESSAGE_CREATED, {"text": "three"}),
    ]
    assert [(i.id, i.kind, i.trust, i.text) for i in seed_transcript(log)] == [
        ("event2", ItemKind.USER_MESSAGE, TrustLevel.USER, "one"),
        ("event5", ItemKind.ASSISTANT_TURN, TrustLevel.KNOWLEDGE, "two"),
        ("event6", ItemKind.USER_MESSAGE, TrustLevel.USER, "three"),
    ]
