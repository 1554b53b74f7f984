"""The scripted model provider: plays authored turns, one per attempt."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence

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
    UsageReported,
)
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedTurn, ToolCallsTurn
from agent_core.ports.determinism import Clock
from agent_core.ports.models import ModelProvider

_DELTA_CHARACTERS = 24
_CHARACTERS_PER_TOKEN = 4


class ScriptedModelProvider(ModelProvider):
    """Answers the n-th attempt with the n-th turn, streamed in small pieces.

    `turns_played` were played before, by a provider of another process. Past the last turn every
    attempt fails as `permanent`, and `exhausted_at_step` names the step of the first such attempt.
    Raises `ValueError` for turns that cannot be streamed.
    """

    def __init__(
        self, turns: Sequence[ScriptedTurn], clock: Clock, turns_played: int = 0
    ) -> None:
        problems = [
            f"turn {number}: {problem}"
            for number, turn in enumerate(turns, 1)
            for problem in _problems(turn)
        ]
        if problems:
            raise ValueError("\n".join(problems))
        self._turns = tuple(turns)
        self._clock = clock
        self.turns_consumed = min(turns_played, len(self._turns))
        self.exhausted_at_step: int | None = None

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def turns_total(self) -> int:
        return len(self._turns)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        if self.turns_consumed == len(self._turns):
            if self.exhausted_at_step is None:
                self.exhausted_at_step = request.step_number
            yield StreamFailed(0, ModelErrorClass.PERMANENT)
            return
        turn = self._turns[self.turns_consumed]
        self.turns_consumed += 1
        if turn.delay_seconds:
            await self._clock.sleep(turn.delay_seconds)
        for event in _events(turn, request):
            yield event


def _problems(turn: ScriptedTurn) -> list[str]:
    problems = []
    if not 0 <= turn.delay_seconds < float("inf"):
        problems.append(f"delay_seconds is {turn.delay_seconds}")
    if isinstance(turn, ToolCallsTurn) and not turn.calls:
        problems.append("there are no calls")
    if isinstance(turn, ErrorTurn):
        encoded = turn.text.encode()
        if not 0 <= turn.after_bytes <= len(encoded):
            problems.append(
                f"after_bytes is {turn.after_bytes} and the text has {len(encoded)} bytes"
            )
        elif _cuts_a_character(encoded, turn.after_bytes):
            problems.append(f"after_bytes is {turn.after_bytes} and lies within a character")
    return problems


def _cuts_a_character(encoded: bytes, position: int) -> bool:
    return position < len(encoded) and encoded[position] & 0b1100_0000 == 0b1000_0000


def _events(turn: ScriptedTurn, request: ModelRequest) -> Iterator[StreamEvent]:
    sequence = 0
    text = turn.text
    if isinstance(turn, ErrorTurn):
        text = text.encode()[: turn.after_bytes].decode()
    for piece in _pieces(text):
        yield TextDelta(sequence, 0, piece)
        sequence += 1
    if isinstance(turn, ErrorTurn):
        usage = _estimated_usage(request, text)
        yield StreamFailed(sequence, turn.error_class, turn.retry_after_seconds, usage)
        return
    if isinstance(turn, ToolCallsTurn):
        for item_index, call in enumerate(turn.calls, 1):
            for piece in _pieces(call.arguments) or [""]:
                yield ToolCallDelta(sequence, item_index, call.call_id, call.name, piece)
                sequence += 1
    usage = turn.usage or _estimated_usage(request, _answer(turn))
    yield UsageReported(sequence, usage)
    stop_reason = turn.stop_reason if isinstance(turn, FinalTurn) else StopReason.TOOL_USE
    yield StreamCompleted(sequence + 1, stop_reason, usage)


def _pieces(text: str) -> list[str]:
    return [text[i : i + _DELTA_CHARACTERS] for i in range(0, len(text), _DELTA_CHARACTERS)]


def _answer(turn: ToolCallsTurn | FinalTurn) -> str:
    if isinstance(turn, FinalTurn):
        return turn.text
    return turn.text + "".join(call.name + call.arguments for call in turn.calls)


def _estimated_usage(request: ModelRequest, answer: str) -> ModelUsage:
    characters = sum(len(one.text) for one in (*request.prefix, *request.body))
    return ModelUsage(_tokens(characters), _tokens(len(answer)))


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)
