"""Policy: may this action happen?"""

from __future__ import annotations

from typing import Protocol

from agent_core.domain.policy import PolicyDecision, ProposedAction


class PolicyEngine(Protocol):
    def evaluate(self, action: ProposedAction) -> PolicyDecision:
        """Decide from `action` and the rule set alone: equal actions get equal decisions."""
        ...
