"""What is wrong with a gate or with the report as a whole, in one form for people and machines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing that keeps the report from being in order.

    `place` is a Bazel label, or `path:line:column` of a file; empty where there is neither. `rule`
    is a stable name such as `no_result`. `details` are lines of evidence: findings, failed checks,
    or the end of what a process printed.
    """

    place: str
    rule: str
    message: str
    details: tuple[str, ...] = ()

    def render(self) -> str:
        """`place: rule: message`, without the details."""
        return ": ".join(part for part in (self.place, self.rule, self.message) if part)
