"""The stages of an invocation's record, its events' payload, and what the model sees of it."""

from __future__ import annotations

from datetime import datetime

from agent_core.domain.canonical import (
    JsonObject,
    NotCanonical,
    canonical_json,
    canonicalize,
    parse_json_object,
)
from agent_core.domain.context import ContextItem, ItemKind, ToolCall
from agent_core.domain.invocations import InvocationStatus, ToolInvocation, idempotency_key
from agent_core.domain.json_schema import conforms
from agent_core.domain.outcomes import OutcomeStatus, make_outcome
from agent_core.domain.runs import Run
from agent_core.domain.tools import ToolFailure, ToolFailureKind, ToolResult, ToolSpec
from agent_core.domain.trust import TrustLevel


def proposed(
    invocation_id: str, run: Run, call: ToolCall, origin: TrustLevel, now: datetime
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
        origin_trust=origin,
        status=InvocationStatus.PROPOSED,
        created_at=now,
    )


def resolved(row: ToolInvocation, spec: ToolSpec) -> ToolInvocation:
    """The row with a snapshot of what the tool declares."""
    return row._replace(
        tool_version=spec.version,
        side_effect=spec.side_effect,
        risk=spec.risk,
        idempotency=spec.idempotency,
        output_trust=spec.output_trust,
    )


def keyed(row: ToolInvocation) -> ToolInvocation:
    return row._replace(idempotency_key=idempotency_key(row))


def succeeded(row: ToolInvocation, result: ToolResult, size: int, now: datetime) -> ToolInvocation:
    row = _ended(row, OutcomeStatus.SUCCEEDED, "tool.succeeded", now)
    return row._replace(result=result, output_bytes=size)


def failed(row: ToolInvocation, failure: ToolFailure, now: datetime) -> ToolInvocation:
    row = _ended(row, OutcomeStatus.FAILED, failure.reason_code, now)
    return row._replace(failure_kind=failure.kind)


def denied(row: ToolInvocation, reason_code: str, now: datetime) -> ToolInvocation:
    return _ended(row, OutcomeStatus.DENIED, reason_code, now)


def _ended(
    row: ToolInvocation, status: OutcomeStatus, reason_code: str, now: datetime
) -> ToolInvocation:
    return row._replace(
        status=InvocationStatus[status.name],
        outcome=make_outcome(status, row.tool_name, reason_code),
        completed_at=now,
    )


def checked_size(result: ToolResult, spec: ToolSpec) -> int:
    """The bytes of content and output together.

    Raises `ToolFailure` for a result that is not what the tool declares, and for one above its
    bound.
    """
    if not isinstance(result, ToolResult) or not conforms(result.output, spec.output_schema):
        raise ToolFailure(ToolFailureKind.OUTPUT_INVALID, "tool.output_invalid")
    try:
        size = len(result.content.encode()) + len(canonical_json(result.output).encode())
    except UnicodeEncodeError:
        raise ToolFailure(ToolFailureKind.OUTPUT_INVALID, "tool.output_invalid") from None
    if size > spec.maximum_output_bytes:
        raise ToolFailure(ToolFailureKind.OUTPUT_TOO_LARGE, "tool.output_too_large")
    return size


def payload(row: ToolInvocation) -> JsonObject:
    """Identity and classification for an event: no arguments, no result, no outside text."""
    members: JsonObject = {
        "invocation_id": row.id,
        "step_number": row.step_number,
        "call_id": row.call_id,
        "tool_name": row.tool_name,
        "tool_version": row.tool_version or None,
        "idempotency_class": row.idempotency,
        "policy_version": row.policy_version,
    }
    if row.outcome is not None:
        members["outcome_status"] = row.outcome.status
        members["reason_code"] = row.outcome.reason_code
        members["output_bytes"] = row.output_bytes
    if row.started_at is not None and row.completed_at is not None:
        duration = row.completed_at - row.started_at
        members["duration_ms"] = round(duration.total_seconds() * 1000)
    return {name: member for name, member in members.items() if member is not None}


def rendered(row: ToolInvocation) -> ContextItem:
    """What the model is shown of an ended call.

    A result carries the label that its tool declares. An outcome without one is the runtime's
    own words about the proposal, and carries the proposal's label.
    """
    return ContextItem(
        id=row.id,
        kind=ItemKind.TOOL_RESULT,
        source=row.tool_name,
        trust=row.origin_trust if row.result is None else row.output_trust or row.origin_trust,
        text="" if row.result is None else row.result.content,
        call_id=row.call_id,
        outcome=row.outcome,
    )
