"""From a provider's stream to a turn: the one assembler that every provider shares."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_core.domain.canonical import parse_json_object
from agent_core.domain.context import ToolCall
from agent_core.domain.model import (
    ModelError,
    ModelErrorClass,
    ModelTurn,
    ModelUsage,
    ReasoningDelta,
    StreamCompleted,
    StreamDelta,
    StreamEvent,
    StreamFailed,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)

MAXIMUM_TURN_CHARACTERS = 1024 * 1024
"""Text, reasoning and arguments of one turn together."""

MAXIMUM_CALLS = 64
MAXIMUM_IDENTIFIER_CHARACTERS = 256
"""Of a `call_id` and of a tool name."""


async def assemble(events: AsyncGenerator[StreamEvent, None]) -> ModelTurn:
    """Fold a stream into a turn.

    Raises `ModelError`: with the class of the failure that the provider reported, or with class
    `protocol` and the broken rule for a stream that breaks an invariant (see
    docs/specs/model_gateway.md), ends early or passes a bound.
    """
    assembly = _Assembly()
    async with aclosing(events):
        async for event in events:
            assembly.accept(event)
    return assembly.turn()


class _Assembly:
    def __init__(self) -> None:
        self._next_sequence = 0
        self._terminal: StreamCompleted | StreamFailed | None = None
        self._item: StreamDelta | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCallDelta] = []
        self._arguments: list[list[str]] = []
        self._characters = 0
        self._reported = ModelUsage()

    def accept(self, event: StreamEvent) -> None:
        if self._terminal is not None:
            raise self._broken("invariant 2: nothing follows the terminal event")
        if event.sequence != self._next_sequence:
            raise self._broken("invariant 1: the sequence starts at 0 and rises by 1")
        self._next_sequence += 1
        if isinstance(event, StreamCompleted | StreamFailed):
            self._terminal = event
        elif isinstance(event, UsageReported):
            self._reported = event.usage
        else:
            self._accept_delta(event)

    def turn(self) -> ModelTurn:
        """The finished turn. Its usage is the terminal event's: the reported one was advice."""
        if self._terminal is None:
            raise self._broken("invariant 2: the stream ended without a terminal event")
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

    def _accept_delta(self, delta: StreamDelta) -> None:
        piece = delta.arguments if isinstance(delta, ToolCallDelta) else delta.text
        self._characters += len(piece)
        if self._characters > MAXIMUM_TURN_CHARACTERS:
            raise self._broken(f"bound: a turn has at most {MAXIMUM_TURN_CHARACTERS} characters")
        is_new = self._enters_item(delta)
        if isinstance(delta, TextDelta):
            self._text.append(piece)
        elif isinstance(delta, ReasoningDelta):
            self._reasoning.append(piece)
        elif is_new:
            self._open_call(delta)
        else:
            self._arguments[-1].append(piece)

    def _enters_item(self, delta: StreamDelta) -> bool:
        """Whether `delta` is the first of its item; raises if it may not come here."""
        previous, self._item = self._item, delta
        if previous is None or delta.item_index > previous.item_index:
            return True
        if delta.item_index < previous.item_index or type(delta) is not type(previous):
            raise self._broken("invariant 3: the deltas of an item are contiguous and in order")
        if _identity(delta) != _identity(previous):
            raise self._broken("invariant 4: a call keeps its first call_id and name")
        return False

    def _open_call(self, delta: ToolCallDelta) -> None:
        if len(self._calls) == MAXIMUM_CALLS:
            raise self._broken(f"bound: a turn has at most {MAXIMUM_CALLS} calls")
        if any(call.call_id == delta.call_id for call in self._calls):
            raise self._broken("two calls of one turn have the same call_id")
        for identifier in (delta.call_id, delta.name):
            if not 0 < len(identifier) <= MAXIMUM_IDENTIFIER_CHARACTERS:
                raise self._broken(
                    "bound: a call_id and a name have from 1 to "
                    f"{MAXIMUM_IDENTIFIER_CHARACTERS} characters"
                )
            if not identifier.isprintable():
                raise self._broken("a call_id or a name has a character that cannot be printed")
        self._calls.append(delta)
        self._arguments.append([delta.arguments])

    def _joined(self, pieces: list[str]) -> str:
        text = "".join(pieces)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self._broken("text has a lone surrogate, which has no UTF-8 form") from None
        return text

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            _tool_call(delta, "".join(pieces))
            for delta, pieces in zip(self._calls, self._arguments, strict=True)
        )

    def _broken(self, rule: str) -> ModelError:
        return ModelError(ModelErrorClass.PROTOCOL, rule, usage=self._reported)


def _identity(delta: StreamDelta) -> tuple[str, str] | None:
    return (delta.call_id, delta.name) if isinstance(delta, ToolCallDelta) else None


def _tool_call(delta: ToolCallDelta, arguments: str) -> ToolCall:
    try:
        arguments.encode()
        parse_json_object(arguments)
    except ValueError:
        return ToolCall(delta.call_id, delta.name, "{}", malformed=True)
    return ToolCall(delta.call_id, delta.name, arguments)
