"""A scripted model for workers: every run plays the script from its beginning."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from itertools import islice, takewhile

from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.domain.context import ModelRequest
from agent_core.domain.model import StreamEvent
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedTurn
from agent_core.ports.determinism import Clock
from agent_core.ports.models import ModelProvider


class ScriptedRunsProvider(ModelProvider):
    """Keeps nothing: where a run is in the script follows from the request.

    Each step before this one took one turn that succeeds, and the turns that fail before it; each
    attempt of this step takes one that fails. An attempt that was lost with its worker takes none
    that succeeds. Raises `ValueError` for turns that cannot be streamed.
    """

    def __init__(self, turns: Sequence[ScriptedTurn], clock: Clock) -> None:
        self._name = ScriptedModelProvider(turns, clock).name
        self._turns = tuple(turns)
        self._clock = clock

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        played = self._position(request)
        provider = ScriptedModelProvider(self._turns, self._clock, played)
        async for event in provider.stream(request):
            yield event

    def _position(self, request: ModelRequest) -> int:
        """How many turns were played before this attempt."""
        succeeding = (n for n, turn in enumerate(self._turns, 1) if not _fails(turn))
        taken = list(islice(succeeding, request.step_number - 1))
        if len(taken) < request.step_number - 1:
            return len(self._turns)
        position = taken[-1] if taken else 0
        failing = sum(1 for _ in takewhile(_fails, self._turns[position:]))
        return position + min(request.attempt_number - 1, failing)


def _fails(turn: ScriptedTurn) -> bool:
    """Whether the turn ends an attempt and not its step."""
    return isinstance(turn, ErrorTurn) or (isinstance(turn, FinalTurn) and not turn.text.strip())
