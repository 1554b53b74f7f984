"""The breaker: ends a run that makes the same call again and again (docs/specs/tool_system.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.runs import FailureReason

REPEATED_CALLS = 5
"""The proposal of one call that is not executed any more, counted from 1."""

REPEATED_DENIALS = 3
"""The denial of one call for one reason that ends the run, counted from 1."""


class CallKey(NamedTuple):
    """What makes two proposals the same call. Arguments without a normal form have an empty hash,
    so of two of those only the tool counts."""

    tool_name: str
    arguments_sha256: str


class Refusal(NamedTuple):
    """A call that may not be executed: what the call is answered with, and why the run ends.

    `failure_reason` is None if the run goes on.
    """

    reason_code: str
    failure_reason: FailureReason | None


_REPEATED_CALL = Refusal("tool.breaker.repeated_call", FailureReason.TOOL_LOOP_DETECTED)
_UNCERTAIN_CALL = Refusal("tool.breaker.uncertain_call", None)


class Breaker:
    """Counts the calls of one run, in the order in which they were proposed. `tripped` is why the
    run ends, once one of them was one too many."""

    def __init__(self, calls: Iterable[ToolInvocation] = ()) -> None:
        self._proposals: dict[CallKey, int] = {}
        self._denials: dict[tuple[CallKey, str], int] = {}
        self._uncertain: set[CallKey] = set()
        self.tripped: FailureReason | None = None
        for call in calls:
            self.record(call)

    def refusal(self, key: CallKey) -> Refusal | None:
        """Why a further proposal of this call may not be executed; None if it may."""
        if self._proposals.get(key, 0) + 1 >= REPEATED_CALLS:
            return _REPEATED_CALL
        if key in self._uncertain:
            return _UNCERTAIN_CALL
        return None

    def admits_all(self, keys: Iterable[CallKey]) -> bool:
        """Whether none of these proposals would be refused if they came one after the other and
        no success among them reset anything."""
        proposals = dict(self._proposals)
        for key in keys:
            proposals[key] = proposals.get(key, 0) + 1
            if proposals[key] >= REPEATED_CALLS or key in self._uncertain:
                return False
        return True

    def record(self, call: ToolInvocation) -> None:
        """Count an ended call."""
        key = call_key(call)
        self._proposals[key] = self._proposals.get(key, 0) + 1
        if call.status is InvocationStatus.SUCCEEDED:
            self._reset_others(key)
        elif call.status is InvocationStatus.UNCERTAIN:
            self._uncertain.add(key)
        elif call.status is InvocationStatus.DENIED and call.outcome is not None:
            denial = (key, call.outcome.reason_code)
            self._denials[denial] = self._denials.get(denial, 0) + 1
            if call.outcome.reason_code == _REPEATED_CALL.reason_code:
                self._trip(_REPEATED_CALL.failure_reason)
            if self._denials[denial] >= REPEATED_DENIALS:
                self._trip(FailureReason.REPEATED_DENIAL)

    def _trip(self, reason: FailureReason | None) -> None:
        self.tripped = self.tripped or reason

    def _reset_others(self, key: CallKey) -> None:
        """A success is progress, for every call but the one that succeeded. What is uncertain
        stays so."""
        self._proposals = {key: self._proposals[key]}
        self._denials = {one: count for one, count in self._denials.items() if one[0] == key}


def call_key(call: ToolInvocation) -> CallKey:
    return CallKey(call.tool_name, call.normalized_arguments_hash or "")
