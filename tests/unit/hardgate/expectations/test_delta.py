"""How the second arm compares with the first."""

import pytest

from hardgate.cases.model import Delta
from hardgate.cases.record import ObservedEvent
from hardgate.expectations.delta import delta
from tests.unit.hardgate.expectations.samples import RECORD


def ended(status):
    return RECORD._replace(terminal_status=status)


def refused(count):
    events = [ObservedEvent(number, "tool.call.denied", {}) for number in range(count)]
    return RECORD._replace(events=tuple(events))


@pytest.mark.parametrize(
    ("first", "second", "holding"),
    [
        ("FAILED", "COMPLETED", {"improves", "not_worse"}),
        ("CANCELLED", "COMPLETED", {"improves", "not_worse"}),
        ("WAITING_FOR_APPROVAL", "COMPLETED", {"improves", "not_worse"}),
        ("FAILED", "WAITING_FOR_USER", {"improves", "not_worse"}),
        ("COMPLETED", "COMPLETED", {"same", "not_worse"}),
        ("FAILED", "CANCELLED", {"same", "not_worse"}),
        ("COMPLETED", "FAILED", set()),
        ("COMPLETED", "RUNNING", set()),
    ],
)
@pytest.mark.parametrize("relation", ["same", "improves", "not_worse"])
def test_how_runs_end(first, second, holding, relation):
    (outcome,) = delta(Delta(outcome=relation), ended(first), ended(second))
    assert outcome.name == "delta.outcome"
    assert outcome.passed is (relation in holding)
    assert (outcome.keys, outcome.expected) == (("delta", "outcome"), relation)
    assert outcome.observed == [first, second]
    said = f"the first arm: {first}, the second: {second}"
    assert outcome.message == ("" if outcome.passed else said)


@pytest.mark.parametrize(
    ("first", "second", "holding"),
    [
        (2, 0, {"improves", "not_worse"}),
        (1, 1, {"same", "not_worse"}),
        (0, 0, {"same", "not_worse"}),
        (0, 1, set()),
    ],
)
@pytest.mark.parametrize("relation", ["same", "improves", "not_worse"])
def test_how_often_the_policy_refused(first, second, holding, relation):
    (outcome,) = delta(Delta(policy_failures=relation), refused(first), refused(second))
    assert outcome.name == "delta.policy_failures"
    assert outcome.passed is (relation in holding)
    assert (outcome.keys, outcome.observed) == (("delta", "policy_failures"), [first, second])


@pytest.mark.parametrize(
    ("event_type", "payload", "counts"),
    [
        ("tool.call.denied", {"reason_code": "policy.scope.missing"}, 1),
        ("tool.call.denied", {}, 1),
        ("tool.call.failed", {"reason_code": "policy.revalidation.changed"}, 1),
        ("tool.call.failed", {"reason_code": "tool.timeout"}, 0),
        ("tool.call.failed", {"reason_code": None}, 0),
        ("run.completed", {}, 0),
    ],
)
def test_what_is_a_failure_of_policy(event_type, payload, counts):
    record = RECORD._replace(events=(ObservedEvent(1, event_type, payload),))
    (outcome,) = delta(Delta(policy_failures="same"), record, record)
    assert outcome.observed == [counts, counts]


def test_each_relation_is_a_check():
    both = Delta(outcome="same", policy_failures="not_worse")
    names = [outcome.name for outcome in delta(both, RECORD, RECORD)]
    assert names == ["delta.outcome", "delta.policy_failures"]
