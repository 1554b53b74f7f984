"""A model that proposes calls as a seed says, for any run and step, whoever asks it.

It remembers nothing, so every process may have one of its own. An attempt that is made again gives
another turn, as a model does: what an earlier attempt proposed has no business in the run then.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, Awaitable, Callable

from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.domain.context import ModelRequest
from agent_core.domain.model import ModelErrorClass, StreamEvent
from agent_core.domain.model_script import (
    ErrorTurn,
    FinalTurn,
    ScriptedToolCall,
    ScriptedTurn,
    ToolCallsTurn,
)
from agent_core.domain.tools import IdempotencyClass
from agent_core.ports.determinism import Clock
from agent_core.ports.models import ModelProvider
from tests.resilience.world import NAMES

BEFORE_TURN = "model.before_turn"
AFTER_TURN = "model.after_turn"
MAXIMUM_STEPS = 3
_ENDS = ("well",) * 6 + ("refused", "fails")


def turn(seed: str, request: ModelRequest) -> ScriptedTurn:
    """What the model says to a request."""
    steps = random.Random(f"{seed} {request.run_id}").randint(1, MAXIMUM_STEPS)
    place = f"{request.run_id} {request.step_number} {request.attempt_number}"
    chosen = random.Random(f"{seed} {place}")
    if request.attempt_number == 1 and chosen.random() < 0.05:
        return ErrorTurn(ModelErrorClass.TRANSIENT, "Wait", after_bytes=chosen.choice((0, 4)))
    if request.step_number > steps:
        return FinalTurn("Done.")
    kind = chosen.choices(("reads", "mixed", "question", "unknown"), (4, 8, 1, 0.5))[0]
    if kind == "reads":
        names = [NAMES[IdempotencyClass.READ_ONLY]] * chosen.randint(2, 4)
    elif kind == "question":
        names = ["conversation.ask_user", *chosen.choices(tuple(NAMES.values()), k=1)]
    elif kind == "unknown":
        names = ["demo.unknown"]
    else:
        names = chosen.choices(tuple(NAMES.values()), k=chosen.randint(1, 3))
    return ToolCallsTurn(
        tuple(
            ScriptedToolCall(f"call_{number}", name, _arguments(name, f"{place} {number}", chosen))
            for number, name in enumerate(names, 1)
        )
    )


def _arguments(name: str, token: str, chosen: random.Random) -> str:
    if name == "conversation.ask_user":
        return json.dumps({"question": "Which one?"})
    return json.dumps({"token": token, "ends": chosen.choice(_ENDS)})


class PlannedModel(ModelProvider):
    """Plays `turn`, and awaits `point` before it and after it."""

    def __init__(self, seed: str, clock: Clock, point: Callable[[str], Awaitable[None]]) -> None:
        self._seed = seed
        self._clock = clock
        self._point = point

    @property
    def name(self) -> str:
        return "planned"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        await self._point(BEFORE_TURN)
        scripted = ScriptedModelProvider([turn(self._seed, request)], self._clock)
        async for event in scripted.stream(request):
            yield event
        await self._point(AFTER_TURN)
