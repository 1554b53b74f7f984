"""Which calls of a transcript still wait for a result."""

import pytest

from agent_core.domain.context import ContextItem, ItemKind, ToolCall, pending_calls
from agent_core.domain.trust import Labels, TrustLevel


def item(kind, calls=(), call_id=None):
    made = tuple(ToolCall(name, "demo.tool", "{}") for name in calls)
    labels = Labels(TrustLevel.USER)
    return ContextItem("id", kind, "source", labels, "", tool_calls=made, call_id=call_id)


USER = item(ItemKind.USER_MESSAGE)
ANSWER = item(ItemKind.ASSISTANT_TURN)
PROPOSES = item(ItemKind.ASSISTANT_TURN, ("a", "b", "c"))


def result(call_id):
    return item(ItemKind.TOOL_RESULT, call_id=call_id)


@pytest.mark.parametrize(
    ("transcript", "waiting"),
    [
        ((), ""),
        ((USER,), ""),
        ((USER, ANSWER), ""),
        ((USER, PROPOSES), "abc"),
        ((USER, PROPOSES, result("a")), "bc"),
        ((USER, PROPOSES, result("b")), "ac"),
        ((USER, PROPOSES, result("a"), result("b"), result("c")), ""),
        ((USER, PROPOSES, result("a"), result("b"), result("c"), ANSWER, USER), ""),
        ((USER, PROPOSES, result("a"), USER), ""),
        ((USER, PROPOSES, result("a"), result("b"), result("c"), PROPOSES), "abc"),
    ],
)
def test_the_calls_of_the_last_turn_without_a_result(transcript, waiting):
    assert "".join(call.call_id for call in pending_calls(transcript)) == waiting
