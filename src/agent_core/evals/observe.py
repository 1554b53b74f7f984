"""From the runtime's own log and rows to what Hardgate compares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from agent_core.domain.context import ContextItem, ItemKind, Transcript
from agent_core.domain.events import Event
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run
from agent_core.evals.metrics import counters
from hardgate.cases.record import (
    CALLS_LIMIT,
    EVENTS_LIMIT,
    TEXT_LIMIT_CHARACTERS,
    MissingToolResult,
    ObservedCall,
    ObservedEvent,
    ObservedIntervention,
    ObservedItem,
    Record,
)

_MALFORMED = frozenset({"tool.arguments_malformed", "tool.arguments_invalid"})
_UNPARSED = "tool.arguments_malformed"
_INVENTED = "policy.matrix.unknown_tool"
_UNMARKED = "tool.contract.no_watermark"
_BLOCKED = "policy.trust.exfiltration_blocked"


class Conversation(NamedTuple):
    """The runs of one session, in their order, and everything on record about them.

    `transcripts`: one for each run. `final_text` is the last run's answer. `reviews` counts the
    effect reviews.
    """

    runs: Sequence[Run]
    events: Sequence[Event]
    invocations: Sequence[ToolInvocation]
    transcripts: Sequence[Transcript]
    final_text: str | None
    reviews: int = 0


class Played(NamedTuple):
    """What the fixtures of a case tell after it was played.

    `missing_results`: the ids of the invocations without a recorded result. `waits_seconds`: the
    pauses that the runtime asked for. `interventions`: what became of those of the case.
    """

    turns_consumed: int
    turns_total: int
    exhausted_at_step: int | None = None
    missing_results: Collection[str] = ()
    waits_seconds: Sequence[float] = ()
    interventions: tuple[ObservedIntervention, ...] = ()


def observed(conversation: Conversation, played: Played) -> Record:
    """The record of an ended conversation, cut at Hardgate's limits."""
    runs, rows, events = conversation.runs, conversation.invocations, conversation.events
    last = runs[-1]
    text = conversation.final_text
    items = tuple(_items(conversation.transcripts))
    limit = None if last.failure is None else last.failure.limit
    return Record(
        terminal_status=str(last.status),
        failure_reason=None if last.failure is None else str(last.failure.reason),
        final_text=None if text is None else text[:TEXT_LIMIT_CHARACTERS],
        step_count=sum(run.step_count for run in runs),
        model_call_count=sum(run.usage.model_calls for run in runs),
        tool_call_count=sum(run.usage.tool_calls for run in runs),
        tool_calls=tuple(map(_call, rows[:CALLS_LIMIT])),
        events=tuple(map(_event, events[:EVENTS_LIMIT])),
        turns_consumed=played.turns_consumed,
        turns_total=played.turns_total,
        exhausted_at_step=played.exhausted_at_step,
        limits_hit=_limits_hit(conversation),
        exceeded=None if limit is None else str(limit.dimension),
        messages_sent=len(runs),
        missing_tool_results=tuple(
            MissingToolResult(row.tool_name, row.normalized_arguments_hash or "", row.step_number)
            for row in rows
            if row.id in played.missing_results
        ),
        items=tuple(map(_item, items)),
        untrusted=any(item.labels.is_untrusted for item in items),
        private=any(item.labels.is_private for item in items),
        blocked_sends=sum(_reason_code(row) == _BLOCKED for row in rows),
        metrics=counters(events, played.waits_seconds, conversation.reviews),
        interventions=played.interventions,
    )


def _limits_hit(conversation: Conversation) -> tuple[str, ...]:
    sizes = (
        ("events", len(conversation.events), EVENTS_LIMIT),
        ("tool_calls", len(conversation.invocations), CALLS_LIMIT),
        ("final_text", len(conversation.final_text or ""), TEXT_LIMIT_CHARACTERS),
    )
    return tuple(name for name, size, limit in sizes if size > limit)


def _items(transcripts: Iterable[Transcript]) -> Iterable[ContextItem]:
    """What each run added to the conversation: its own message and everything after it."""
    for transcript in transcripts:
        messages = [n for n, item in enumerate(transcript) if item.kind is ItemKind.USER_MESSAGE]
        yield from transcript[messages[-1] :]


def _item(item: ContextItem) -> ObservedItem:
    return ObservedItem(
        kind=str(item.kind),
        trust=str(item.labels.trust),
        private=item.labels.is_private,
        tool=item.source if item.kind is ItemKind.TOOL_RESULT else None,
        call_id=item.call_id,
    )


def _event(event: Event) -> ObservedEvent:
    return ObservedEvent(event.sequence, str(event.event_type), event.payload)


def _call(row: ToolInvocation) -> ObservedCall:
    reason_code = _reason_code(row)
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
        missing_watermark=reason_code == _UNMARKED,
    )


def _reason_code(row: ToolInvocation) -> str | None:
    return None if row.outcome is None else row.outcome.reason_code
