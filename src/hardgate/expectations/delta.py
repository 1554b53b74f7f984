"""How the second arm of a case compares with the first."""

from collections.abc import Iterator

from hardgate.cases.model import Delta
from hardgate.cases.record import Record
from hardgate.expectations.outcome import Outcome

_COMPLETED = "COMPLETED"
_ENDED_BADLY = frozenset({"FAILED", "CANCELLED"})
_DENIED = "tool.call.denied"
_OF_POLICY = "policy."


def delta(expected: Delta, first: Record, second: Record) -> Iterator[Outcome]:
    """One check per relation."""
    if expected.outcome is not None:
        yield _relation(
            "delta.outcome",
            "outcome",
            expected.outcome,
            _rank(first),
            _rank(second),
            (first.terminal_status, second.terminal_status),
        )
    if expected.policy_failures is not None:
        before, after = policy_failures(first), policy_failures(second)
        yield _relation(
            "delta.policy_failures",
            "policy_failures",
            expected.policy_failures,
            -before,
            -after,
            (before, after),
        )


def _rank(record: Record) -> int:
    """0 for a run that ended badly, 1 for one that has not ended, 2 for one that completed."""
    if record.terminal_status == _COMPLETED:
        return 2
    return 0 if record.terminal_status in _ENDED_BADLY else 1


def policy_failures(record: Record) -> int:
    """The events in which the policy refused something."""
    return sum(
        event.type == _DENIED or str(event.payload.get("reason_code", "")).startswith(_OF_POLICY)
        for event in record.events
    )


def _relation(
    name: str, key: str, relation: str, first: int, second: int, shown: tuple[object, object]
) -> Outcome:
    """A relation between two numbers of which the larger one is the better one."""
    passed = {
        "same": second == first,
        "improves": second > first,
        "not_worse": second >= first,
    }[relation]
    message = "" if passed else f"the first arm: {shown[0]}, the second: {shown[1]}"
    return Outcome(name, ("delta", key), passed, relation, list(shown), message)
