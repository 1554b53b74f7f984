"""Policy: may this action happen?"""

from __future__ import annotations

from typing import Protocol

from agent_core.domain.policy import PolicyDecision, ProposedAction
from agent_core.domain.sessions import Principal


class PolicyEngine(Protocol):
    def evaluate(self, action: ProposedAction, principal: Principal) -> PolicyDecision:
        """Decide from the arguments and the rules alone: equal arguments get equal decisions."""
        ...
