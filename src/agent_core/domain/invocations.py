"""Tool invocations: the durable record of one proposed call."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject, sha256_hex
from agent_core.domain.outcomes import ToolOutcome
from agent_core.domain.runs import SuspensionKind
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolFailureKind,
    ToolResult,
    ToolSource,
)
from agent_core.domain.trust import Labels, TrustLevel

_KEY_VERSION = "1"


class InvocationStatus(StrEnum):
    PROPOSED = "PROPOSED"
    AUTHORIZED = "AUTHORIZED"
    WAITING_FOR_APPROVAL = "WAITING_FOR_APPROVAL"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    DENIED = "DENIED"
    UNCERTAIN = "UNCERTAIN"

    @property
    def is_terminal(self) -> bool:
        return not _TRANSITIONS[self]

    def can_become(self, following: InvocationStatus) -> bool:
        return following in _TRANSITIONS[self]


_S = InvocationStatus
_TRANSITIONS: dict[InvocationStatus, frozenset[InvocationStatus]] = {
    _S.PROPOSED: frozenset({_S.AUTHORIZED, _S.WAITING_FOR_APPROVAL, _S.FAILED, _S.DENIED}),
    _S.WAITING_FOR_APPROVAL: frozenset({_S.AUTHORIZED, _S.DENIED}),
    _S.AUTHORIZED: frozenset({_S.RUNNING, _S.FAILED, _S.DENIED}),
    _S.RUNNING: frozenset({_S.SUCCEEDED, _S.FAILED, _S.UNCERTAIN}),
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset(),
    _S.DENIED: frozenset(),
    _S.UNCERTAIN: frozenset(),
}


class ToolInvocation(NamedTuple):
    """One proposed call and what became of it. `origin` labels what led to the proposal.

    What the registry knows about the tool (`tool_version`, the source and the classes) is a
    snapshot; it is empty or None for a name that was not resolved. `arguments` are the normalized
    ones; arguments that have no normal form are empty here and have no hash. `idempotency_key` is
    unique and is made by the function of that name. `started_at` is None for a call that never
    ran. `effect_sent_at`, the watermark, is set once the call may have had its effect. `result`
    may be shortened (`truncated`); `output_bytes` is its size before. `parallel_group` is what the
    calls of a batch that ran in parallel have in common. `lease_epoch` is the hold on the run under
    which the call was recorded, and later the one under which it is executed; `attempt_number`
    counts its executions from 1. `suspended_kind`: the call is RUNNING and waits for that. `nonce`
    goes into the markers around the content of the result, and is made after it.
    """

    id: str
    run_id: str
    step_number: int
    call_id: str
    tool_name: str
    arguments: JsonObject
    origin: Labels
    status: InvocationStatus
    created_at: datetime
    tool_version: str = ""
    tool_source: ToolSource | None = None
    side_effect: SideEffectClass | None = None
    risk: RiskLevel | None = None
    idempotency: IdempotencyClass | None = None
    normalized_arguments_hash: str | None = None
    idempotency_key: str = ""
    policy_version: str | None = None
    outcome: ToolOutcome | None = None
    failure_kind: ToolFailureKind | None = None
    result: ToolResult | None = None
    result_labels: Labels | None = None
    output_bytes: int = 0
    truncated: bool = False
    parallel_group: str | None = None
    started_at: datetime | None = None
    effect_sent_at: datetime | None = None
    completed_at: datetime | None = None
    lease_epoch: int = 0
    attempt_number: int = 1
    suspended_kind: SuspensionKind | None = None
    nonce: str = ""

    @property
    def origin_trust(self) -> TrustLevel:
        """How far what proposed the call is trusted."""
        return self.origin.trust


def idempotency_key(invocation: ToolInvocation) -> str:
    """The identity of a call within its run: 64 hexadecimal digits.

    The same call proposed again at the same step has the same key, whatever attempt of the run
    or of the model proposes it. Arguments without a normal form count as the empty hash.
    """
    return sha256_hex(
        "\0".join(
            (
                _KEY_VERSION,
                invocation.run_id,
                str(invocation.step_number),
                invocation.call_id,
                invocation.tool_name,
                invocation.tool_version,
                invocation.normalized_arguments_hash or "",
            )
        )
    )
