"""From what was seen of an agent's process to what Hardgate compares."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hardgate.cases import outside
from hardgate.cases.command import CommandSubject
from hardgate.cases.record import (
    CALLS_LIMIT,
    EVENTS_LIMIT,
    REPORTED,
    TEXT_LIMIT_CHARACTERS,
    UNKNOWN,
    ObservedCall,
    ObservedItem,
    Record,
)
from hardgate.fixtures.model_script import ModelScript, ScriptedCall
from hardgate.subjects.command import faults
from hardgate.subjects.command.answer import find_answer
from hardgate.subjects.command.events import PlayedCall, Seen, seen
from hardgate.subjects.command.process import Ended
from hardgate.subjects.command.report import ReportedEffect, ReportedLabel
from hardgate.wire.conversation import ToolResult
from hardgate.wire.mcp.results import McpResults
from hardgate.wire.transcript import Transcript

COMPLETED, FAILED = "COMPLETED", "FAILED"
# What became of a tool call.
ANSWERED, CALL_FAILED, UNANSWERED = "ANSWERED", "FAILED", "UNANSWERED"
# The levels of what somebody outside may have written, as a case and a report name them.
UNTRUSTED = frozenset({"knowledge", "external_untrusted"})


class Left(NamedTuple):
    """What is left of a run: the script it was given, what the provider and the MCP servers saw, how
    the process ended, and its workspace."""

    script: ModelScript
    transcript: Transcript
    ended: Ended
    workspace: str
    mcp: McpResults = McpResults(())


def observed(spec: CommandSubject, left: Left) -> Record:
    """The record of an agent that has ended, cut at Hardgate's limits."""
    ended = left.ended
    log = seen(spec, left.script, left.transcript, ended, left.mcp.calls)
    answer = find_answer(spec, left.script, log.turns, ended, left.workspace)
    found = faults.faults(spec, ended, answer, log, left.mcp.findings)
    reason = faults.failure_reason(ended, found)
    effects = _effects(spec, ended)
    items = tuple(_items(ended, log)) if outside.LABELS in spec.reports else None
    text = answer.text
    return Record(
        terminal_status=COMPLETED if reason is None else FAILED,
        failure_reason=reason,
        final_text=None if text is None else text[:TEXT_LIMIT_CHARACTERS],
        step_count=log.steps,
        model_call_count=log.turns,
        tool_call_count=len(log.calls),
        tool_calls=tuple(_call(one, log, effects) for one in log.calls[:CALLS_LIMIT]),
        events=log.events[:EVENTS_LIMIT],
        turns_consumed=log.turns,
        turns_total=len(left.script.turns),
        exhausted_at_step=log.exhausted_at_step,
        limits_hit=_limits_hit(left, log, text),
        items=items,
        untrusted=None if items is None else any(item.trust in UNTRUSTED for item in items),
        private=_is_private(items),
        faults=found,
        effects_from=REPORTED if outside.EFFECTS in spec.reports else UNKNOWN,
    )


def _is_private(items: Sequence[ObservedItem] | None) -> bool | None:
    """Whether the conversation holds private content; None where some label does not say."""
    found = [item.private for item in items or ()]
    if True in found:
        return True
    return None if items is None or None in found else False


def _limits_hit(left: Left, log: Seen, text: str | None) -> tuple[str, ...]:
    sizes = (
        ("events", len(log.events), EVENTS_LIMIT),
        ("tool_calls", len(log.calls), CALLS_LIMIT),
        ("final_text", len(text or ""), TEXT_LIMIT_CHARACTERS),
    )
    own = [name for name, size, limit in sizes if size > limit]
    return (*left.ended.limits_hit, *left.transcript.limits_hit, *left.mcp.limits_hit, *own)


def _effects(spec: CommandSubject, ended: Ended) -> frozenset[str]:
    """The ids of the calls whose effect the agent reported."""
    if outside.EFFECTS not in spec.reports:
        return frozenset()
    return frozenset(one.call_id for one in ended.reports if isinstance(one, ReportedEffect))


def _call(played: PlayedCall, log: Seen, effects: Collection[str]) -> ObservedCall:
    call = played.call
    arguments = _arguments(call)
    result = log.results.get(call.call_id)
    return ObservedCall(
        name=call.name,
        arguments=arguments,
        call_id=call.call_id,
        step=played.step,
        status=_status(result),
        malformed=arguments is None,
        invented=not played.offered,
        started=result is not None,
        effect_sent=call.call_id in effects,
    )


def _arguments(call: ScriptedCall) -> Mapping[str, Any] | None:
    """What the model sent, None where it is no JSON object."""
    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _status(result: ToolResult | None) -> str:
    if result is None:
        return UNANSWERED
    return CALL_FAILED if result.is_error else ANSWERED


def _items(ended: Ended, log: Seen) -> Iterator[ObservedItem]:
    names = log.call_names
    for one in ended.reports:
        if isinstance(one, ReportedLabel):
            tool = names[one.call_id][0] if one.call_id in names else None
            yield ObservedItem(one.item, one.trust, one.private, tool, one.call_id)
