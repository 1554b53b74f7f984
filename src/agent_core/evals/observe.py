"""From the runtime's own log and rows to what Hardgate compares."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.domain.events import Event
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run
from hardgate.cases.record import (
    CALLS_LIMIT,
    EVENTS_LIMIT,
    TEXT_LIMIT_CHARACTERS,
    ObservedCall,
    ObservedEvent,
    Record,
)

_MALFORMED = frozenset({"tool.arguments_malformed", "tool.arguments_invalid"})
_UNPARSED = "tool.arguments_malformed"
_INVENTED = "policy.matrix.unknown_tool"


def observed(
    run: Run,
    events: Sequence[Event],
    invocations: Sequence[ToolInvocation],
    final_text: str | None,
    *,
    turns_consumed: int,
    turns_total: int,
    exhausted_at_step: int | None,
) -> Record:
    """The record of an ended run, cut at Hardgate's limits."""
    limits_hit = []
    if len(events) > EVENTS_LIMIT:
        limits_hit.append("events")
    if len(invocations) > CALLS_LIMIT:
        limits_hit.append("tool_calls")
    if final_text is not None and len(final_text) > TEXT_LIMIT_CHARACTERS:
        limits_hit.append("final_text")
        final_text = final_text[:TEXT_LIMIT_CHARACTERS]
    return Record(
        terminal_status=str(run.status),
        failure_reason=None if run.failure is None else str(run.failure.reason),
        final_text=final_text,
        step_count=run.step_count,
        model_call_count=run.usage.model_calls,
        tool_call_count=run.usage.tool_calls,
        tool_calls=tuple(_call(row) for row in invocations[:CALLS_LIMIT]),
        events=tuple(
            ObservedEvent(event.sequence, str(event.event_type), event.payload)
            for event in events[:EVENTS_LIMIT]
        ),
        turns_consumed=turns_consumed,
        turns_total=turns_total,
        exhausted_at_step=exhausted_at_step,
        limits_hit=tuple(limits_hit),
    )


def _call(row: ToolInvocation) -> ObservedCall:
    reason_code = None if row.outcome is None else row.outcome.reason_code
    return ObservedCall(
        name=row.tool_name,
        arguments=None if reason_code == _UNPARSED else row.arguments,
        call_id=row.call_id,
        step=row.step_number,
        status=str(row.status),
        reason_code=reason_code,
        malformed=reason_code in _MALFORMED,
        invented=reason_code == _INVENTED,
        started=row.started_at is not None,
        effect_sent=row.effect_sent_at is not None,
    )
