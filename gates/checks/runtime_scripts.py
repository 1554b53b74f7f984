"""Scripts for the gates of the run loop: steps with failed attempts, calls and their cost.

The scripted model of the runtime estimates what an attempt costs. Here each attempt says it, so
that what a run has to have used is known beforehand.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ModelRequest
from agent_core.domain.model import (
    ModelErrorClass,
    ModelUsage,
    StopReason,
    StreamCompleted,
    StreamEvent,
    StreamFailed,
    TextDelta,
    ToolCallDelta,
)
from agent_core.domain.model_script import ScriptedTurn
from agent_core.domain.runs import RunLimits
from agent_core.domain.tools import ToolResult
from agent_core.ports.tools import ToolContext
from gates.checks.driving import Listening, Played, Probe, Stage, call_of, probe_spec

TOOLS = ("demo.one", "demo.two")
_FREE = ModelUsage()


class Call(NamedTuple):
    """A call of one of the two tools; executing it takes `seconds`."""

    tool: str
    text: str
    call_id: str
    seconds: int = 0


class Step(NamedTuple):
    """One step: what each failed attempt costs, what the turn costs, and the turn's calls.

    A turn without calls is the answer.
    """

    failures: tuple[ModelUsage, ...] = ()
    usage: ModelUsage = _FREE
    calls: tuple[Call, ...] = ()


class Metered(Listening):
    """A model that plays steps, with the cost that each attempt has in them."""

    def __init__(self, steps: Sequence[Step], clock: PinnedClock) -> None:
        super().__init__((), clock)
        self._attempts: list[tuple[Step, ModelUsage | None]] = []
        for step in steps:
            self._attempts += [(step, usage) for usage in step.failures]
            self._attempts.append((step, None))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        step, failed = self._attempts[len(self.requests)]
        self.requests.append(request)
        if failed is not None:
            yield StreamFailed(0, ModelErrorClass.TRANSIENT, None, failed)
            return
        for number, call in enumerate(step.calls):
            arguments = call_of(call.tool, call.text).arguments
            yield ToolCallDelta(number, number, call.call_id, call.tool, arguments)
        if not step.calls:
            yield TextDelta(0, 0, "Done.")
        reason = StopReason.TOOL_USE if step.calls else StopReason.END_TURN
        yield StreamCompleted(max(len(step.calls), 1), reason, step.usage)


class Performance(NamedTuple):
    """A played run, and the calls that its tools really executed, in their order."""

    played: Played
    executed: tuple[str, ...]


def perform(
    steps: Sequence[Step], limits: RunLimits | None = None, seed: str = "gate"
) -> Performance:
    """Plays steps, and after them the answer, against the runtime."""
    executed: list[str] = []
    takes = {call.text: call.seconds for step in steps for call in step.calls}

    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        text = str(arguments["text"])
        executed.append(text)
        assert isinstance(context.clock, PinnedClock)
        context.clock.advance(takes[text])
        return ToolResult({"text": text}, text)

    def model(turns: Sequence[ScriptedTurn], clock: PinnedClock) -> Listening:
        return Metered([*steps, Step()], clock)

    tools = [Probe(probe_spec(name=name, timeout_seconds=3600), work) for name in TOOLS]
    stage = Stage([], tools=tools, seed=seed, model=model)
    return Performance(stage.play(limits=limits), tuple(executed))


def usages(highest: int) -> Any:
    """A strategy of what one attempt costs."""
    from hypothesis import strategies as st

    return st.builds(
        ModelUsage, st.integers(1, highest), st.integers(1, highest), st.integers(0, highest)
    )
