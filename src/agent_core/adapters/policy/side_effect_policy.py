"""The policy of a deployment without profiles: what has no side effect may happen."""

from __future__ import annotations

from agent_core.domain.policy import PolicyDecision, PolicyEffect, ProposedAction
from agent_core.domain.tools import SideEffectClass
from agent_core.ports.policies import PolicyEngine

_POLICY_VERSION = "side_effect_none_only@1"


class SideEffectPolicy(PolicyEngine):
    """Allows the side-effect class `none` and denies every other, by name of the class."""

    def evaluate(self, action: ProposedAction) -> PolicyDecision:
        allowed = action.side_effect is SideEffectClass.NONE
        return PolicyDecision(
            PolicyEffect.ALLOW if allowed else PolicyEffect.DENY,
            f"policy.matrix.{action.side_effect}",
            _POLICY_VERSION,
        )
