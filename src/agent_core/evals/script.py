"""From fixtures as they are written to what is played: turns of a model, results of tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent_core.domain.model import ModelErrorClass, ModelUsage, StopReason
from agent_core.domain.model_script import (
    ErrorTurn,
    FinalTurn,
    ScriptedToolCall,
    ScriptedTurn,
    ToolCallsTurn,
)
from agent_core.domain.recorded_results import RecordedFailure, RecordedResults
from agent_core.domain.tools import ToolResult
from hardgate.fixtures import model_script as written

if TYPE_CHECKING:
    from hardgate.fixtures import tool_results as written_results


def played_turns(script: written.ModelScript) -> tuple[ScriptedTurn, ...]:
    """The turns of `script`. Arguments that are written as a map become JSON in that order."""
    return tuple(_turn(turn) for turn in script.turns)


def recorded_results(results: written_results.ToolResults) -> RecordedResults:
    """The results by tool and hash of the normalized arguments."""
    return {key: _result(result) for key, result in results.by_key().items()}


def _result(result: written_results.ToolResult) -> ToolResult | RecordedFailure:
    if result.reason_code is not None:
        return RecordedFailure(result.reason_code)
    return ToolResult(result.output or {}, result.content or "")


def _turn(turn: written.Turn) -> ScriptedTurn:
    if isinstance(turn, written.ToolCallsTurn):
        calls = tuple(_call(call) for call in turn.calls)
        return ToolCallsTurn(calls, turn.text, _usage(turn.usage), turn.delay_seconds)
    if isinstance(turn, written.FinalTurn):
        stop_reason = StopReason(turn.stop_reason)
        return FinalTurn(turn.text, stop_reason, _usage(turn.usage), turn.delay_seconds)
    return ErrorTurn(
        error_class=ModelErrorClass(turn.error_class),
        text=turn.text,
        after_bytes=turn.after_bytes,
        retry_after_seconds=turn.retry_after_seconds,
        delay_seconds=turn.delay_seconds,
    )


def _call(call: written.ScriptedCall) -> ScriptedToolCall:
    arguments = call.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedToolCall(call.call_id, call.name, text)


def _usage(usage: written.Usage | None) -> ModelUsage | None:
    return None if usage is None else ModelUsage(usage.input_tokens, usage.output_tokens)
