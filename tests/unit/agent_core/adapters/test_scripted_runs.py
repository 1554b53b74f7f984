"""A script for workers: where a run is in it follows from the request, whoever asks."""

from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.models.scripted_runs import ScriptedRunsProvider
from agent_core.application.inline import run_inline
from agent_core.domain.context import ModelRequest
from agent_core.domain.model import ModelErrorClass, StreamFailed, TextDelta
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.trust import Labels, TrustLevel

CALL = ScriptedToolCall("c1", "math.calculate", "{}")
FAILS = ErrorTurn(ModelErrorClass.TRANSIENT, "half", 4)
TURNS = [
    ToolCallsTurn((CALL,), "one"),
    FAILS,
    FinalTurn(" "),
    ToolCallsTurn((CALL,), "two"),
    FinalTurn("three"),
]


def answer(turns, step, attempt):
    """The text of an attempt, and how it failed, if it did."""
    request = ModelRequest("r", step, attempt, (), (), (), "", Labels(TrustLevel.USER))

    async def collect():
        provider = ScriptedRunsProvider(turns, PinnedClock(datetime(2026, 1, 1, tzinfo=UTC)))
        return [event async for event in provider.stream(request)]

    events = run_inline(collect())
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return text, next((e.error_class for e in events if isinstance(e, StreamFailed)), None)


@pytest.mark.parametrize(
    ("step", "attempt", "text", "error"),
    [
        (1, 1, "one", None),
        (1, 2, "one", None),  # the first attempt was lost with its worker
        (2, 1, "half", "transient"),
        (2, 2, " ", None),
        (2, 3, "two", None),
        (2, 4, "two", None),
        (3, 1, "three", None),
        (4, 1, "", "permanent"),
        (9, 1, "", "permanent"),
    ],
)
def test_the_place_in_the_script(step, attempt, text, error):
    assert answer(TURNS, step, attempt) == (text, error)


def test_turns_that_only_fail_are_followed_by_the_end_of_the_script():
    assert answer([FAILS], 1, 1) == ("half", "transient")
    assert answer([FAILS], 1, 2) == ("", "permanent")


def test_turns_that_cannot_be_played_are_refused():
    with pytest.raises(ValueError, match="turn 1: there are no calls"):
        ScriptedRunsProvider([ToolCallsTurn(())], PinnedClock(datetime(2026, 1, 1, tzinfo=UTC)))
