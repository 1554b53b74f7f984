"""A model's turn and the stream of events it arrives in (see docs/specs/model_gateway.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias

from agent_core.domain.context import ToolCall


class StopReason(StrEnum):
    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    CONTENT_FILTER = "content_filter"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class ModelErrorClass(StrEnum):
    TRANSIENT = "transient"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    PROTOCOL = "protocol"
    PERMANENT = "permanent"

    @property
    def is_retryable(self) -> bool:
        """Whether asking the provider again can help."""
        return self is not ModelErrorClass.PERMANENT


class StreamFault(StrEnum):
    """What is wrong with a stream: one of the six invariants, in their order, or a bound."""

    SEQUENCE = "stream.sequence"
    TERMINAL = "stream.terminal"
    ITEM_ORDER = "stream.item_order"
    CALL_IDENTITY = "stream.call_identity"
    USAGE = "stream.usage"
    FOREIGN_CONTENT = "stream.foreign_content"
    TOO_LONG = "stream.too_long"
    TOO_MANY_CALLS = "stream.too_many_calls"
    DUPLICATE_CALL_ID = "stream.duplicate_call_id"
    BAD_IDENTIFIER = "stream.bad_identifier"
    NOT_UNICODE = "stream.not_unicode"


class ModelUsage(NamedTuple):
    """What one attempt is charged. `cost_micros`: millionths of the deployment's currency."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


class ModelError(Exception):
    """An attempt failed. It carries no text of the provider.

    `fault` is set exactly for class `protocol`, where the runtime found it. `usage` is charged all
    the same. `retry_after_seconds`: how long the provider asked to wait.
    """

    def __init__(
        self,
        error_class: ModelErrorClass,
        fault: StreamFault | None = None,
        *,
        usage: ModelUsage | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(f"{error_class}: {fault}" if fault else str(error_class))
        self.error_class = error_class
        self.fault = fault
        self.usage = usage or ModelUsage()
        self.retry_after_seconds = retry_after_seconds


class ModelTurn(NamedTuple):
    """What a model answered, assembled. It ends the run if it has text and no calls."""

    text: str
    reasoning: str
    tool_calls: tuple[ToolCall, ...]
    stop_reason: StopReason
    usage: ModelUsage

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tool_calls


class TextDelta(NamedTuple):
    sequence: int
    item_index: int
    text: str


class ReasoningDelta(NamedTuple):
    sequence: int
    item_index: int
    text: str


class ToolCallDelta(NamedTuple):
    """A piece of a call's argument text; the pieces of an item joined are JSON."""

    sequence: int
    item_index: int
    call_id: str
    name: str
    arguments: str


class UsageReported(NamedTuple):
    """An advance notice; the usage of `StreamCompleted` is the one that counts."""

    sequence: int
    usage: ModelUsage


class StreamCompleted(NamedTuple):
    sequence: int
    stop_reason: StopReason
    usage: ModelUsage


class StreamFailed(NamedTuple):
    """The attempt failed. `usage` is what the provider charges for it all the same."""

    sequence: int
    error_class: ModelErrorClass
    retry_after_seconds: float | None = None
    usage: ModelUsage = ModelUsage()


STREAM_EVENTS = frozenset(
    {TextDelta, ReasoningDelta, ToolCallDelta, UsageReported, StreamCompleted, StreamFailed}
)
"""The only types an event of a stream may have: none has room for a provider's own words."""

StreamDelta: TypeAlias = TextDelta | ReasoningDelta | ToolCallDelta
StreamEvent: TypeAlias = StreamDelta | UsageReported | StreamCompleted | StreamFailed
