"""The scripted provider: what it plays, what it refuses, and what it tells about the script."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.domain.context import ContextItem, ItemKind, ModelRequest, ShownItem
from agent_core.domain.model import (
    ModelErrorClass,
    ModelUsage,
    StopReason,
    StreamCompleted,
    StreamFailed,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.trust import Labels, TrustLevel

USER = Labels(TrustLevel.USER)
ITEM = ShownItem(ContextItem("id", ItemKind.USER_MESSAGE, "somebody", USER, "x"), "x" * 10)
REQUEST = ModelRequest("run", 1, 1, (ITEM,), (), (ITEM,), "", USER)
USAGE = ModelUsage(100, 50)


def clock():
    return PinnedClock(datetime(2026, 1, 1, tzinfo=UTC))


def played(provider, request=REQUEST):
    async def collect():
        return [event async for event in provider.stream(request)]

    return asyncio.run(collect())


def play(turn):
    return played(ScriptedModelProvider([turn], clock()))


def test_a_final_turn():
    answer = "A text that is longer than one piece of the stream."
    events = play(FinalTurn(answer, StopReason.MAX_TOKENS, USAGE))
    *deltas, usage, end = events
    assert len(deltas) > 1
    assert all(isinstance(delta, TextDelta) for delta in deltas)
    assert "".join(delta.text for delta in deltas) == answer
    assert usage == UsageReported(len(deltas), USAGE)
    assert end == StreamCompleted(len(deltas) + 1, StopReason.MAX_TOKENS, USAGE)


def test_a_turn_of_calls_keeps_ids_and_raw_arguments():
    calls = (
        ScriptedToolCall("c1", "math.calculate", '{"expression": "1 + 1 + 1 + 1 + 1"}'),
        ScriptedToolCall("c2", "demo.tool", "{not json"),
        ScriptedToolCall("c3", "demo.tool", ""),
    )
    *deltas, _, end = play(ToolCallsTurn(calls, text="Let me see."))
    assert deltas[0] == TextDelta(0, 0, "Let me see.")
    by_call = {}
    for delta in deltas[1:]:
        assert isinstance(delta, ToolCallDelta)
        key = (delta.call_id, delta.name)
        by_call[key] = by_call.get(key, "") + delta.arguments
    assert by_call == {(call.call_id, call.name): call.arguments for call in calls}
    assert end.stop_reason is StopReason.TOOL_USE
    assert end.sequence == len(deltas) + 1


@pytest.mark.parametrize(
    ("after_bytes", "streamed"), [(0, ""), (1, "a"), (3, "aé"), (30, "aé" + "b" * 27), (31, None)]
)
def test_an_error_comes_after_so_many_bytes(after_bytes, streamed):
    text = "aé" + "b" * 28
    *deltas, end = play(ErrorTurn(ModelErrorClass.RATE_LIMIT, text, after_bytes, 2.5))
    assert "".join(delta.text for delta in deltas) == (text if streamed is None else streamed)
    assert end == StreamFailed(len(deltas), ModelErrorClass.RATE_LIMIT, 2.5, end.usage)


@pytest.mark.parametrize(
    ("turn", "usage"),
    [
        (FinalTurn("12345"), ModelUsage(5, 2)),
        (FinalTurn(""), ModelUsage(5, 0)),
        (ToolCallsTurn((ScriptedToolCall("c", "ab.c", "{}"),)), ModelUsage(5, 2)),
        (ErrorTurn(ModelErrorClass.TRANSIENT, "1234567", 4), ModelUsage(5, 1)),
    ],
)
def test_usage_that_is_not_authored_is_estimated(turn, usage):
    assert play(turn)[-1].usage == usage


def test_turns_are_counted_and_the_end_of_the_script_is_told():
    provider = ScriptedModelProvider([FinalTurn("a"), FinalTurn("b")], clock())
    assert (provider.turns_total, provider.turns_consumed) == (2, 0)
    played(provider)
    assert (provider.turns_consumed, provider.exhausted_at_step) == (1, None)
    played(provider)
    assert (provider.turns_consumed, provider.exhausted_at_step) == (2, None)
    for step in (3, 4):
        assert played(provider, REQUEST._replace(step_number=step)) == [
            StreamFailed(0, ModelErrorClass.PERMANENT)
        ]
        assert (provider.turns_consumed, provider.exhausted_at_step) == (2, 3)


def test_a_delay_is_slept_on_the_clock():
    pinned = clock()
    played(ScriptedModelProvider([FinalTurn("a", delay_seconds=1.5)], pinned))
    played(ScriptedModelProvider([FinalTurn("a")], pinned))
    assert pinned.sleeps == [1.5]


def test_every_turn_that_cannot_be_played_is_named():
    turns = [
        FinalTurn("fine"),
        ToolCallsTurn(()),
        FinalTurn("", delay_seconds=-1),
        ErrorTurn(ModelErrorClass.TRANSIENT, after_bytes=1),
        ErrorTurn(ModelErrorClass.TRANSIENT, "aé", 2),
        ErrorTurn(ModelErrorClass.TRANSIENT, "aé", -1),
    ]
    with pytest.raises(ValueError, match="turn 2") as caught:
        ScriptedModelProvider(turns, clock())
    assert str(caught.value).splitlines() == [
        "turn 2: there are no calls",
        "turn 3: delay_seconds is -1",
        "turn 4: after_bytes is 1 and the text has 0 bytes",
        "turn 5: after_bytes is 2 and lies within a character",
        "turn 6: after_bytes is -1 and the text has 3 bytes",
    ]
