"""What property and corpus checks have in common: a clause of a statement that does not hold.

A check says `require(condition, rule, message)` for each clause. The rule is what a counterexample
declares as its reason, so it names the clause, not the place where it broke.
"""

from __future__ import annotations


class Violation(AssertionError):
    """A clause of a gate's statement does not hold. `rule` names it, str() says what was seen."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def require(condition: object, rule: str, message: str) -> None:
    """Raises Violation(rule, message) unless the condition holds."""
    if not condition:
        raise Violation(rule, message)
