"""Scripted model turns: what the scripted provider plays, one per attempt."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from agent_core.domain.model import ModelErrorClass, ModelUsage, StopReason


class ScriptedToolCall(NamedTuple):
    """`arguments` is the text a model would send; it need not be JSON."""

    call_id: str
    name: str
    arguments: str


class ToolCallsTurn(NamedTuple):
    """The model proposes calls. `usage` None: estimated from the sizes of request and answer."""

    calls: tuple[ScriptedToolCall, ...]
    text: str = ""
    usage: ModelUsage | None = None
    delay_seconds: float = 0.0


class FinalTurn(NamedTuple):
    """The model answers. `usage` None: estimated from the sizes of request and answer."""

    text: str
    stop_reason: StopReason = StopReason.END_TURN
    usage: ModelUsage | None = None
    delay_seconds: float = 0.0


class ErrorTurn(NamedTuple):
    """The attempt fails, after the first `after_bytes` bytes of `text` (UTF-8) were streamed."""

    error_class: ModelErrorClass
    text: str = ""
    after_bytes: int = 0
    retry_after_seconds: float | None = None
    delay_seconds: float = 0.0


ScriptedTurn: TypeAlias = ToolCallsTurn | FinalTurn | ErrorTurn
