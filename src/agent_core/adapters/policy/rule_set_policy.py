"""The policy engine that decides by a rule set."""

from __future__ import annotations

from agent_core.domain.policy import (
    PolicyDecision,
    PolicyEffect,
    ProposedAction,
    Rule,
    RuleSet,
    TrustOverlay,
    evaluate,
)
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import SideEffectClass
from agent_core.domain.trust import TrustLevel
from agent_core.ports.policies import PolicyEngine

NO_EFFECTS = RuleSet(
    "no_effects",
    {one: Rule(PolicyEffect.DENY) for one in SideEffectClass}
    | {SideEffectClass.NONE: Rule(PolicyEffect.ALLOW)},
    TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset({SideEffectClass.NONE})),
)
"""What holds without a profile: only what has no side effect may happen."""


class RuleSetPolicy(PolicyEngine):
    """Decides by `rules`, which never change; see `agent_core.domain.policy.evaluate`."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules

    def evaluate(self, action: ProposedAction, principal: Principal) -> PolicyDecision:
        return evaluate(action, principal, self._rules)
