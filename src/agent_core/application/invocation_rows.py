"""The stages of an invocation's record, its events' payload, and what the model sees of it."""

from __future__ import annotations

from datetime import datetime

from agent_core.domain.canonical import (
    JsonObject,
    NotCanonical,
    canonicalize,
    parse_json_object,
)
from agent_core.domain.context import ContextItem, ItemKind, ToolCall
from agent_core.domain.invocations import InvocationStatus, ToolInvocation, idempotency_key
from agent_core.domain.outcomes import OutcomeStatus, make_outcome
from agent_core.domain.registration import safe_tool_name
from agent_core.domain.runs import Run
from agent_core.domain.tools import ToolFailureKind, ToolResult, ToolSpec
from agent_core.domain.trust import Labels

_STATUSES = {
    OutcomeStatus.SUCCEEDED: InvocationStatus.SUCCEEDED,
    OutcomeStatus.FAILED: InvocationStatus.FAILED,
    OutcomeStatus.UNAVAILABLE: InvocationStatus.FAILED,
    OutcomeStatus.DENIED: InvocationStatus.DENIED,
    OutcomeStatus.UNCERTAIN: InvocationStatus.UNCERTAIN,
}


def proposed(
    invocation_id: str, run: Run, call: ToolCall, origin: Labels, now: datetime
) -> ToolInvocation:
    """The row of a call that was just proposed.

    Arguments are normalized here already, so that a call which is refused before the pipeline
    comes to that step can be recognised when it is proposed again.
    """
    arguments: JsonObject = {}
    sha256 = None
    if not call.malformed:
        try:
            arguments, _, sha256 = canonicalize(parse_json_object(call.arguments))
        except NotCanonical:
            sha256 = None
    return ToolInvocation(
        id=invocation_id,
        run_id=run.id,
        step_number=run.step_count,
        call_id=call.call_id,
        tool_name=call.name,
        arguments=arguments,
        normalized_arguments_hash=sha256,
        origin=origin,
        status=InvocationStatus.PROPOSED,
        created_at=now,
        lease_epoch=run.lease_epoch,
    )


def resolved(row: ToolInvocation, spec: ToolSpec) -> ToolInvocation:
    """The row with a snapshot of what the tool declares."""
    return row._replace(
        tool_version=spec.version,
        tool_source=spec.source,
        side_effect=spec.side_effect,
        risk=spec.risk,
        idempotency=spec.idempotency,
    )


def keyed(row: ToolInvocation) -> ToolInvocation:
    return row._replace(idempotency_key=idempotency_key(row))


def succeeded(
    row: ToolInvocation, result: ToolResult, labels: Labels, size: int, now: datetime
) -> ToolInvocation:
    """The row with its result. `size`: the bytes of the output before it was shortened."""
    return ended(row, "tool.succeeded", now)._replace(
        result=result, result_labels=labels, output_bytes=size
    )


def ended(
    row: ToolInvocation, reason_code: str, now: datetime, kind: ToolFailureKind | None = None
) -> ToolInvocation:
    """The row with the outcome of `reason_code`, and in the status that goes with it."""
    outcome = make_outcome(safe_tool_name(row.tool_name), reason_code)
    return row._replace(
        status=_STATUSES[outcome.status], outcome=outcome, failure_kind=kind, completed_at=now
    )


def uncertain(row: ToolInvocation, reason_code: str, now: datetime) -> ToolInvocation:
    """The row of a call of which nobody knows what it did: whatever it gave is not used."""
    ending = ended(row, reason_code, now, row.failure_kind)
    return ending._replace(
        result=None, result_labels=None, output_bytes=0, truncated=False, suspended_kind=None
    )


def payload(row: ToolInvocation) -> JsonObject:
    """Identity and classification for an event: no arguments, no result, no outside text."""
    members: JsonObject = {
        "invocation_id": row.id,
        "step_number": row.step_number,
        "call_id": row.call_id,
        "tool_name": safe_tool_name(row.tool_name),
        "origin_trust": row.origin.trust,
        "parallel_group": row.parallel_group,
        "tool_source": row.tool_source,
        "tool_version": row.tool_version or None,
        "side_effect": row.side_effect,
        "idempotency_class": row.idempotency,
        "policy_version": row.policy_version,
        "attempt_number": row.attempt_number if row.attempt_number > 1 else None,
    }
    if row.outcome is not None:
        members |= {
            "outcome_status": row.outcome.status,
            "reason_code": row.outcome.reason_code,
            "effect_sent": row.effect_sent_at is not None,
            "output_bytes": row.output_bytes,
            "truncated": row.truncated,
        }
    if row.result_labels is not None:
        members["result_trust"] = row.result_labels.trust
        members["result_private"] = row.result_labels.is_private
    if row.started_at is not None and row.completed_at is not None:
        duration = row.completed_at - row.started_at
        members["duration_ms"] = round(duration.total_seconds() * 1000)
    return {name: member for name, member in members.items() if member is not None}


def rendered(row: ToolInvocation) -> ContextItem:
    """What the model is shown of an ended call.

    A result carries its own labels. An outcome without one is the runtime's own words about the
    proposal, and carries the proposal's labels.
    """
    return ContextItem(
        id=row.id,
        kind=ItemKind.TOOL_RESULT,
        source=row.tool_name,
        labels=row.result_labels or row.origin,
        text="" if row.result is None else row.result.content,
        nonce=row.nonce,
        call_id=row.call_id,
        outcome=row.outcome,
    )
