"""From a provider's stream to a turn: the one assembler that every provider shares.

It holds a stream to the six invariants of docs/specs/model_gateway.md, each of which has a
function and a code of its own, and to the bounds below. The first fault ends the attempt.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.domain.canonical import parse_json_object
from agent_core.domain.context import ToolCall
from agent_core.domain.model import (
    STREAM_EVENTS,
    ModelError,
    ModelErrorClass,
    ModelTurn,
    ModelUsage,
    ReasoningDelta,
    StopReason,
    StreamCompleted,
    StreamDelta,
    StreamEvent,
    StreamFailed,
    StreamFault,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)

MAXIMUM_TURN_CHARACTERS = 1024 * 1024
"""Text, reasoning and arguments of one turn together."""

MAXIMUM_CALLS = 64
MAXIMUM_IDENTIFIER_CHARACTERS = 256
"""Of a `call_id` and of a tool name."""


class TurnAssembler:
    """Folds the events of one attempt into a turn.

    It can be asked at any time, also after an attempt that was cut off: `had_output` is whether
    any text or call had arrived, `reported_usage` the last advance notice of the usage.
    """

    def __init__(self) -> None:
        self.had_output = False
        self.reported_usage = ModelUsage()
        self._next_sequence = 0
        self._terminal: StreamCompleted | StreamFailed | None = None
        self._item: StreamDelta | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCallDelta] = []
        self._arguments: list[list[str]] = []
        self._characters = 0

    async def assemble(self, events: AsyncGenerator[StreamEvent, None]) -> ModelTurn:
        """The turn that `events` are.

        Raises `ModelError`: with the class of the failure that the provider reported, or with
        class `protocol` and the fault of a stream that breaks an invariant, ends early or passes
        a bound.
        """
        async with aclosing(events):
            async for event in events:
                self.accept(event)
        return self.turn()

    def accept(self, event: StreamEvent) -> None:
        """Take the next event. Raises `ModelError` for one that may not come, or not here."""
        self._check_content(event)
        self._check_terminal()
        self._check_sequence(event)
        if isinstance(event, StreamCompleted | StreamFailed):
            self._check_usage(event.usage)
            self._terminal = event
        elif isinstance(event, UsageReported):
            self._check_usage(event.usage)
            self.reported_usage = event.usage
        else:
            self._accept_delta(event)

    def turn(self) -> ModelTurn:
        """The finished turn. Its usage is the terminal event's: the reported one was advice."""
        if self._terminal is None:
            raise self._broken(StreamFault.TERMINAL)
        if isinstance(self._terminal, StreamFailed):
            raise ModelError(
                self._terminal.error_class,
                usage=self._terminal.usage,
                retry_after_seconds=self._terminal.retry_after_seconds,
            )
        return ModelTurn(
            text=self._joined(self._text),
            reasoning=self._joined(self._reasoning),
            tool_calls=self._tool_calls(),
            stop_reason=self._terminal.stop_reason,
            usage=self._terminal.usage,
        )

    def _check_sequence(self, event: StreamEvent) -> None:
        """Invariant 1: the sequence starts at 0 and rises by one, the terminal event included."""
        if event.sequence != self._next_sequence:
            raise self._broken(StreamFault.SEQUENCE)
        self._next_sequence += 1

    def _check_terminal(self) -> None:
        """Invariant 2: nothing follows the terminal event. `turn` sees to it that there is one."""
        if self._terminal is not None:
            raise self._broken(StreamFault.TERMINAL)

    def _check_item_order(self, delta: StreamDelta, previous: StreamDelta | None) -> None:
        """Invariant 3: the deltas of an item are contiguous, of one kind, and in order."""
        if previous is None or delta.item_index > previous.item_index:
            return
        if delta.item_index < previous.item_index or type(delta) is not type(previous):
            raise self._broken(StreamFault.ITEM_ORDER)

    def _check_identity(self, delta: ToolCallDelta, first: ToolCallDelta) -> None:
        """Invariant 4: every delta of a call has the `call_id` and the name of its first."""
        if (delta.call_id, delta.name) != (first.call_id, first.name):
            raise self._broken(StreamFault.CALL_IDENTITY)

    def _check_usage(self, usage: ModelUsage) -> None:
        """Invariant 5: the terminal event states the usage that counts, and the reported one is
        of the same kind. A count below zero would give a budget back."""
        counts = usage if type(usage) is ModelUsage else (None,)
        if not all(type(count) is int and count >= 0 for count in counts):
            raise self._broken(StreamFault.USAGE)

    def _check_content(self, event: StreamEvent) -> None:
        """Invariant 6: no words and no objects of the provider. An event is exactly one of the
        six kinds, with plain text and numbers and members of our own enumerations in it."""
        foreign = type(event) not in STREAM_EVENTS or type(event.sequence) is not int
        if isinstance(event, StreamFailed):
            foreign = foreign or type(event.error_class) is not ModelErrorClass
            foreign = foreign or not _is_wait(event.retry_after_seconds)
        elif isinstance(event, StreamCompleted):
            foreign = foreign or type(event.stop_reason) is not StopReason
        elif isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta):
            foreign = foreign or not all(type(field) in (int, str) for field in event)
        if foreign:
            raise self._broken(StreamFault.FOREIGN_CONTENT)

    def _accept_delta(self, delta: StreamDelta) -> None:
        piece = delta.arguments if isinstance(delta, ToolCallDelta) else delta.text
        self._characters += len(piece)
        if self._characters > MAXIMUM_TURN_CHARACTERS:
            raise self._broken(StreamFault.TOO_LONG)
        previous, self._item = self._item, delta
        self._check_item_order(delta, previous)
        is_new = previous is None or delta.item_index > previous.item_index
        if isinstance(delta, TextDelta):
            self._text.append(piece)
        elif isinstance(delta, ReasoningDelta):
            self._reasoning.append(piece)
        elif is_new:
            self._open_call(delta)
        else:
            self._check_identity(delta, self._calls[-1])
            self._arguments[-1].append(piece)
        self.had_output = self.had_output or bool(piece) or isinstance(delta, ToolCallDelta)

    def _open_call(self, delta: ToolCallDelta) -> None:
        if len(self._calls) == MAXIMUM_CALLS:
            raise self._broken(StreamFault.TOO_MANY_CALLS)
        if any(call.call_id == delta.call_id for call in self._calls):
            raise self._broken(StreamFault.DUPLICATE_CALL_ID)
        for identifier in (delta.call_id, delta.name):
            if not 0 < len(identifier) <= MAXIMUM_IDENTIFIER_CHARACTERS:
                raise self._broken(StreamFault.BAD_IDENTIFIER)
            if not identifier.isprintable():
                raise self._broken(StreamFault.BAD_IDENTIFIER)
        self._calls.append(delta)
        self._arguments.append([delta.arguments])

    def _joined(self, pieces: list[str]) -> str:
        text = "".join(pieces)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self._broken(StreamFault.NOT_UNICODE) from None
        return text

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            _tool_call(delta, "".join(pieces))
            for delta, pieces in zip(self._calls, self._arguments, strict=True)
        )

    def _broken(self, fault: StreamFault) -> ModelError:
        return ModelError(ModelErrorClass.PROTOCOL, fault, usage=self.reported_usage)


def _is_wait(seconds: float | None) -> bool:
    if seconds is None:
        return True
    return type(seconds) in (int, float) and 0 <= seconds < float("inf")


def _tool_call(delta: ToolCallDelta, arguments: str) -> ToolCall:
    """The call; with a parse error, and no arguments, if these are not a JSON object."""
    try:
        arguments.encode()
        parse_json_object(arguments)
    except ValueError:
        return ToolCall(delta.call_id, delta.name, "{}", malformed=True)
    return ToolCall(delta.call_id, delta.name, arguments)
