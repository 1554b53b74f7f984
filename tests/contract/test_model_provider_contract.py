"""What every model provider promises: the six invariants of its stream, and its exchanges.

An implementation is set up for an exchange that is written as scripted turns, one per attempt.
"""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.models.scripted_runs import ScriptedRunsProvider
from agent_core.domain.context import ContextItem, ItemKind, ModelRequest, ShownItem
from agent_core.domain.model import (
    ModelErrorClass,
    ReasoningDelta,
    StopReason,
    StreamCompleted,
    StreamFailed,
    TextDelta,
    ToolCallDelta,
)
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.trust import Labels, TrustLevel


def scripted(turns):
    return ScriptedModelProvider(turns, PinnedClock(datetime(2026, 1, 1, tzinfo=UTC)))


def scripted_runs(turns):
    return ScriptedRunsProvider(turns, PinnedClock(datetime(2026, 1, 1, tzinfo=UTC)))


IMPLEMENTATIONS = [
    pytest.param(scripted, id="ScriptedModelProvider"),
    pytest.param(scripted_runs, id="ScriptedRunsProvider"),
]

USER = Labels(TrustLevel.USER)
ITEM = ContextItem("id", ItemKind.USER_MESSAGE, "somebody", USER, "Hello")
REQUEST = ModelRequest("run", 1, 1, (), (), (ShownItem(ITEM, "Hello"),), "", USER)
CALLS = (
    ScriptedToolCall("call_1", "math.calculate", '{"expression": "17 * 23 + 0 * 99999"}'),
    ScriptedToolCall("call_2", "math.calculate", "{bad"),
)
TURNS = {
    "answer": FinalTurn("The answer is 391, which is 17 times 23."),
    "nothing": FinalTurn(""),
    "cut short": FinalTurn("The answer", StopReason.MAX_TOKENS),
    "calls": ToolCallsTurn(CALLS),
    "text and calls": ToolCallsTurn(CALLS, text="Let me see."),
    "failure at once": ErrorTurn(ModelErrorClass.TRANSIENT),
    "failure later": ErrorTurn(ModelErrorClass.PERMANENT, "The answer is 391, whi", 22),
}


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request):
    return request.param


def stream(provider, request=REQUEST):
    async def collect():
        return [event async for event in provider.stream(request)]

    return asyncio.run(collect())


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_the_invariants_hold(make, turn):
    events = stream(make([turn]))
    assert [event.sequence for event in events] == list(range(len(events)))
    terminal = [isinstance(event, StreamCompleted | StreamFailed) for event in events]
    assert terminal == [False] * (len(events) - 1) + [True]
    deltas = [e for e in events if isinstance(e, TextDelta | ReasoningDelta | ToolCallDelta)]
    items = [delta.item_index for delta in deltas]
    assert items == sorted(items)
    identities = {(delta.item_index, type(delta), *identity(delta)) for delta in deltas}
    assert len(identities) == len(set(items))


def identity(delta):
    return (delta.call_id, delta.name) if isinstance(delta, ToolCallDelta) else ()


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_the_exchange_comes_through(make, turn):
    events = stream(make([turn]))
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == turn.text
    calls = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            key = (event.call_id, event.name)
            calls[key] = calls.get(key, "") + event.arguments
    expected = turn.calls if isinstance(turn, ToolCallsTurn) else ()
    assert calls == {(call.call_id, call.name): call.arguments for call in expected}


@pytest.mark.parametrize("error_class", ModelErrorClass)
def test_a_failure_is_the_last_event_and_has_its_class(make, error_class):
    *_, last = stream(make([ErrorTurn(error_class)]))
    assert isinstance(last, StreamFailed)
    assert last.error_class is error_class


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (FinalTurn("a"), StopReason.END_TURN),
        (FinalTurn("a", StopReason.CONTENT_FILTER), StopReason.CONTENT_FILTER),
        (ToolCallsTurn(CALLS), StopReason.TOOL_USE),
    ],
)
def test_a_completed_turn_says_why_it_stopped(make, turn, reason):
    *_, last = stream(make([turn]))
    assert isinstance(last, StreamCompleted)
    assert last.stop_reason is reason


def test_each_attempt_is_a_stream_of_its_own(make):
    provider = make([TURNS["failure later"], TURNS["answer"]])
    first, second = stream(provider), stream(provider, REQUEST._replace(attempt_number=2))
    assert isinstance(first[-1], StreamFailed)
    assert isinstance(second[-1], StreamCompleted)
    assert second[0].sequence == 0


def test_it_has_a_name(make):
    assert make([]).name
