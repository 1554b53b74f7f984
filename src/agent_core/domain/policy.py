"""What policy is asked and what it answers."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import IdempotencyClass, RiskLevel, SideEffectClass
from agent_core.domain.trust import TrustLevel


class PolicyEffect(StrEnum):
    ALLOW = "allow"
    DENY = "deny"


class ProposedAction(NamedTuple):
    """An action that waits for a decision. `evaluated_at` is given: an evaluator reads no clock."""

    action_id: str
    session_id: str
    run_id: str
    step_number: int
    principal_id: str
    name: str
    version: str
    side_effect: SideEffectClass
    risk: RiskLevel
    idempotency: IdempotencyClass
    required_scopes: frozenset[str]
    arguments: JsonObject
    normalized_arguments_hash: str
    origin_trust: TrustLevel
    evaluated_at: datetime


class PolicyDecision(NamedTuple):
    """`reason_code` names the rule that decided, `policy_version` the rule set."""

    effect: PolicyEffect
    reason_code: str
    policy_version: str
