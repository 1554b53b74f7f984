"""What becomes of a call that is on record already (docs/specs/tool_system.md)."""

from __future__ import annotations

from enum import StrEnum

from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.tools import IdempotencyClass


class Recovery(StrEnum):
    RETURN = "return"
    """It has ended: its outcome stands."""

    CONFLICT = "conflict"
    """Somebody is at it, under the present hold on the run."""

    CONTINUE = "continue"
    """It was authorized and never started, so it can be now."""

    EXECUTE = "execute"
    """It was started, and can be executed again with the same idempotency key."""

    UNKNOWN = "unknown"
    """It was started and may have had an effect that must not happen twice."""


def recovery(row: ToolInvocation, epoch: int) -> Recovery:
    """What a worker that holds the run under `epoch` does about a recorded call."""
    if row.status.is_terminal:
        return Recovery.RETURN
    if row.lease_epoch >= epoch:
        return Recovery.CONFLICT
    if row.status is InvocationStatus.AUTHORIZED:
        return Recovery.CONTINUE
    if row.status is not InvocationStatus.RUNNING:
        return Recovery.CONFLICT
    may_repeat = row.idempotency not in (None, IdempotencyClass.NON_IDEMPOTENT)
    if may_repeat or row.effect_sent_at is None:
        return Recovery.EXECUTE
    return Recovery.UNKNOWN
