"""Plays a model script request by request, and judges each request against it."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hardgate.documents.wording import quoted
from hardgate.fixtures.model_script import (
    ErrorTurn,
    FinalTurn,
    ModelScript,
    ScriptedCall,
    ToolCallsTurn,
    Turn,
)
from hardgate.wire import checks
from hardgate.wire.checks import Violation
from hardgate.wire.conversation import (
    Answer,
    Message,
    ModelRequest,
    ToolCall,
    estimated_input_tokens,
    estimated_output_tokens,
)
from hardgate.wire.json_body import as_json
from hardgate.wire.transcript import AlteredCall

TOOL_USE = "tool_use"

_MOST_ALTERED = 64
# A client's timer may fire a little early; the agent is not to blame for that.
_EARLY_SECONDS = 0.05


class Played(NamedTuple):
    """A turn that answers a request. `number` is the turn's, from 1.

    `names` are the names of the script beside the names on the wire, for each call.
    """

    number: int
    turn: Turn
    answer: Answer
    names: tuple[tuple[str, str], ...]


class ScriptPlayer:
    """Answers the n-th request that keeps the rules with the n-th turn.

    A request that breaks a rule takes no turn. `clock` tells seconds that never run backwards.
    It is not safe to call from several threads at once.
    """

    def __init__(self, script: ModelScript, clock: Callable[[], float]) -> None:
        self._turns = script.turns
        self._clock = clock
        self._not_before: float | None = None
        self._played: dict[str, ToolCall] = {}
        self._outstanding: tuple[ToolCall, ...] = ()
        self._before_last: tuple[ToolCall, ...] = ()
        self.turns_consumed = 0

    @property
    def turns_total(self) -> int:
        return len(self._turns)

    def early_seconds(self) -> float:
        """How many seconds are left of the time that a rate limit asked to wait."""
        if self._not_before is None:
            return 0.0
        left = self._not_before - self._clock()
        return left if left > _EARLY_SECONDS else 0.0

    def violations(self, request: ModelRequest, *, results_follow: bool) -> list[Violation]:
        """The rules that the request breaks at this point of the script."""
        if self.early_seconds():
            message = "the request comes before the time to which the rate limit asked to wait"
            return [Violation(checks.RETRIED_EARLY, message)]
        if self.turns_consumed == len(self._turns):
            return [self._exhausted(request)]
        turn = self._turns[self.turns_consumed]
        broken = list(checks.answers_calls(request.messages, self._outstanding))
        broken = broken or list(checks.pairs_calls(request.messages, results_follow=results_follow))
        return [*broken, *checks.permits_calls(request, _wire_calls(turn, request.offered))]

    def play(self, request: ModelRequest, number: int) -> Played:
        """The next turn, in answer to a request (its `number` from 1) that breaks no rule."""
        turn = self._turns[self.turns_consumed]
        self.turns_consumed += 1
        calls = _wire_calls(turn, request.offered)
        if isinstance(turn, ErrorTurn):
            if turn.retry_after_seconds is not None:
                self._not_before = self._clock() + turn.retry_after_seconds
        else:
            self._before_last = self._outstanding
            self._outstanding = calls
            self._played |= {call.call_id: call for call in calls}
        authored = turn.calls if isinstance(turn, ToolCallsTurn) else ()
        names = tuple((one.name, call.name) for one, call in zip(authored, calls, strict=True))
        return Played(self.turns_consumed, turn, _answer(turn, calls, request, number), names)

    def take_back(self, turn_number: int) -> None:
        """Note that the agent was gone before it had the whole turn: it cannot know its calls.

        The turn stays consumed; the next request has to answer what was outstanding before.
        """
        if turn_number == self.turns_consumed:
            self._outstanding = self._before_last

    def altered(self, messages: Sequence[Message]) -> tuple[AlteredCall, ...]:
        """The calls of the script that came back with another name or other arguments."""
        found = (
            altered
            for message in messages
            for call in message.tool_calls
            if call.call_id in self._played
            for altered in _differences(self._played[call.call_id], call)
        )
        return tuple(one for one, _ in zip(found, range(_MOST_ALTERED), strict=False))

    def _exhausted(self, request: ModelRequest) -> Violation:
        total = len(self._turns)
        message = (
            f"the script's {total} turn{'s are' if total > 1 else ' is'} played; this request "
            f"asks for one more, behind {_described(request.messages)}"
        )
        return Violation(checks.EXHAUSTED, message, total, total + 1)


def _described(messages: Sequence[Message]) -> str:
    """What the last message is, in a few words."""
    if not messages:
        return "no message"
    last = messages[-1]
    if last.tool_results:
        return f"the result of {quoted(last.tool_results[-1].call_id)}"
    return f"the {last.role}'s {quoted(last.text)}"


def _wire_calls(turn: Turn, offered: Sequence[str]) -> tuple[ToolCall, ...]:
    authored = turn.calls if isinstance(turn, ToolCallsTurn) else ()
    return tuple(
        ToolCall(call.call_id, _wire_name(call.name, offered), _arguments(call))
        for call in authored
    )


def _wire_name(name: str, offered: Sequence[str]) -> str:
    """The providers allow no dot in a tool's name: `math.add` goes out as `math_add` if offered."""
    without_dots = name.replace(".", "_")
    return without_dots if name not in offered and without_dots in offered else name


def _arguments(call: ScriptedCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else as_json(call.arguments)


def _answer(turn: Turn, calls: tuple[ToolCall, ...], request: ModelRequest, number: int) -> Answer:
    usage = None if isinstance(turn, ErrorTurn) else turn.usage
    stop_reason = turn.stop_reason if isinstance(turn, FinalTurn) else "end_turn"
    return Answer(
        number=number,
        model=request.model,
        text=turn.text,
        calls=calls,
        stop_reason=TOOL_USE if calls else stop_reason,
        input_tokens=usage.input_tokens if usage else estimated_input_tokens(request),
        output_tokens=usage.output_tokens if usage else estimated_output_tokens(turn.text, calls),
    )


def _differences(sent: ToolCall, received: ToolCall) -> Iterator[AlteredCall]:
    if sent.name != received.name:
        yield AlteredCall(sent.call_id, "name", sent.name, received.name)
    if sent.arguments != received.arguments:
        try:
            same = json.loads(sent.arguments) == json.loads(received.arguments)
        except (ValueError, RecursionError):
            same = False
        if not same:
            yield AlteredCall(sent.call_id, "arguments", sent.arguments, received.arguments)
