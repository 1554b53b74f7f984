"""Requests: a prefix that stays, a body that grows, and the labels of what comes of them."""

from datetime import UTC, datetime

import pytest

from agent_core.application.context_builder import build_request, seed_transcript
from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.envelope import enveloped
from agent_core.domain.events import ActorType, Event, EventType
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass, ToolSpec
from agent_core.domain.trust import Labels, TrustLevel

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


def item(trust, text="text", kind=ItemKind.USER_MESSAGE, private=False):
    return ContextItem("id", kind, "somebody", Labels(trust, private), text, "nonce")


QUESTION = item(TrustLevel.USER, "What?")
EARLIER = item(TrustLevel.USER, "Before?")
ANSWER = item(TrustLevel.MEMORY, "That.", ItemKind.ASSISTANT_TURN)
TURN = item(TrustLevel.USER, "Hm.", ItemKind.ASSISTANT_TURN)
RESULT = item(TrustLevel.EXTERNAL_UNTRUSTED, "So.", ItemKind.TOOL_RESULT)


def kinds(request):
    return [shown.item.kind.value for shown in request.body]


def test_the_policy_stands_first_and_the_conversation_in_the_body():
    request = build_request(RUN, (TOOL,), (QUESTION,))
    (policy,) = request.prefix
    assert policy.item.kind is ItemKind.PLATFORM_POLICY
    assert policy.item.labels == Labels(TrustLevel.PLATFORM)
    assert policy.text == policy.item.text
    assert request.tools == (TOOL,)
    assert (request.run_id, request.step_number, request.attempt_number) == ("run", 3, 1)


def test_the_runtimes_own_words_stand_right_before_the_message_that_is_answered():
    request = build_request(RUN, (), (EARLIER, ANSWER, QUESTION, TURN, RESULT))
    assert kinds(request) == [
        "user_message",
        "assistant_turn",
        "runtime_metadata",
        "user_message",
        "assistant_turn",
        "tool_result",
    ]
    metadata = request.body[2]
    assert metadata.text == "Date: 2026-01-01 (UTC)"
    assert metadata.item.labels == Labels(TrustLevel.PLATFORM)


def test_every_item_of_the_conversation_stands_in_its_envelope():
    transcript = (EARLIER, ANSWER, QUESTION, TURN, RESULT)
    shown = [one for one in build_request(RUN, (), transcript).body if one.item in transcript]
    assert [one.text for one in shown] == [enveloped(one) for one in transcript]


def test_the_clock_and_the_conversation_change_the_body_and_never_the_prefix():
    first = build_request(RUN, (TOOL,), (QUESTION,))
    later = RUN._replace(
        id="run2", step_count=9, created_at=datetime(2027, 5, 5, tzinfo=UTC), session_id="other"
    )
    second = build_request(later, (TOOL,), (QUESTION, ANSWER))
    assert first.prefix == second.prefix
    assert first.prefix_sha256 == second.prefix_sha256
    assert len(first.prefix_sha256) == 64
    assert [one.text for one in second.body] == [
        "Date: 2027-05-05 (UTC)",
        first.body[1].text,
        enveloped(ANSWER),
    ]


def test_the_same_checkpoint_gives_the_same_request():
    transcript = (EARLIER, ANSWER, QUESTION, TURN, RESULT)
    assert build_request(RUN, (TOOL,), transcript) == build_request(RUN, (TOOL,), transcript)


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
    base = build_request(RUN, (TOOL,), (QUESTION,))
    assert build_request(RUN, tools, (QUESTION,)).prefix_sha256 != base.prefix_sha256


@pytest.mark.parametrize("lowest", TrustLevel)
@pytest.mark.parametrize("private", [False, True])
def test_what_a_model_makes_has_the_labels_of_all_that_it_was_shown(lowest, private):
    transcript = (item(TrustLevel.PLATFORM, private=private), item(lowest))
    assert build_request(RUN, (), transcript).origin == Labels(lowest, private)


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


def message(text, trust, private):
    return {"text": text, "trust": trust, "private": private}


def test_a_transcript_is_the_messages_of_the_log_in_their_order():
    log = [
        event(1, EventType.SESSION_CREATED, {}, None),
        event(2, EventType.USER_MESSAGE_CREATED, message("one", "user", False)),
        event(3, EventType.RUN_STARTED, {}),
        event(4, EventType.MODEL_RESPONSE_COMPLETED, {"text": "no message"}),
        event(5, EventType.ASSISTANT_MESSAGE_COMPLETED, message("two", "knowledge", True)),
        event(6, EventType.USER_MESSAGE_CREATED, message("three", "user", False)),
    ]
    user, knowledge = Labels(TrustLevel.USER), Labels(TrustLevel.KNOWLEDGE, is_private=True)
    assert [(i.id, i.kind, i.labels, i.text, i.nonce) for i in seed_transcript(log)] == [
        ("message_2", ItemKind.USER_MESSAGE, user, "one", "event2"),
        ("message_5", ItemKind.ASSISTANT_TURN, knowledge, "two", "event5"),
        ("message_6", ItemKind.USER_MESSAGE, user, "three", "event6"),
    ]
