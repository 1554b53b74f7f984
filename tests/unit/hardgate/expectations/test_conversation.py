"""Expectations about labels, prefixes, approvals and counters."""

import pytest

from hardgate.cases.record import ObservedEvent, ObservedItem
from tests.unit.hardgate.expectations.samples import RECORD, case, checks, failed, outcomes

USER = ObservedItem("user_message", "user", private=False)
RESULT = ObservedItem("tool_result", "external_untrusted", True, "web.get", "c1")
OTHER = ObservedItem("tool_result", "internal_tool", False, "math.calculate", "c2")
LABELLED = RECORD._replace(items=(USER, RESULT, OTHER), untrusted=True, private=False)


@pytest.mark.parametrize("private", [True, False, None])
@pytest.mark.parametrize("untrusted", [True, False, None])
def test_each_label_of_the_conversation_is_exact(private, untrusted):
    wanted = {"private": private, "untrusted": untrusted}
    taint = {key: value for key, value in wanted.items() if value is not None}
    if not taint:
        return
    found = outcomes(LABELLED, taint=taint)
    assert found.get("taint.private") == (None if private is None else [private is False])
    assert found.get("taint.untrusted") == (None if untrusted is None else [untrusted is True])


def test_a_label_that_the_subject_cannot_tell_fails():
    check = checks(case(taint={"private": False}), RECORD)[0]
    assert (check.outcome, check.message) == ("fail", "the subject does not say")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"item": "user_message", "level": "user"}, ""),
        ({"item": "tool_result", "tool": "web.get", "level": "external_untrusted"}, ""),
        (
            {
                "item": "tool_result",
                "call_id": "c1",
                "level": "external_untrusted",
                "private": True,
            },
            "",
        ),
        ({"item": "tool_result", "level": "internal_tool"}, "unexpected: external_untrusted"),
        (
            {"item": "tool_result", "tool": "web.get", "level": "internal_tool"},
            "unexpected: external_untrusted",
        ),
        (
            {"item": "tool_result", "call_id": "c2", "level": "internal_tool", "private": True},
            "unexpected: internal_tool",
        ),
        (
            {"item": "tool_result", "tool": "web.post", "level": "user"},
            "missing: no such piece of the conversation",
        ),
        (
            {"item": "assistant_turn", "level": "user"},
            "missing: no such piece of the conversation",
        ),
    ],
)
def test_every_piece_that_is_meant_has_to_carry_the_labels(entry, message):
    check = checks(case(trust=[entry]), LABELLED)[0]
    assert (check.name, check.outcome) == ("trust", "fail" if message else "pass")
    assert check.message == message
    assert check.expected == entry


def test_trust_without_a_word_of_the_subject_fails():
    assert failed(RECORD, trust=[{"item": "user_message", "level": "user"}]) == ["trust"]


def log(*events):
    observed = (ObservedEvent(number, *event) for number, event in enumerate(events, 1))
    return RECORD._replace(events=tuple(observed))


REQUEST, OTHER_EVENT = "model.request.started", "run.queued"


@pytest.mark.parametrize(
    ("record", "distinct"),
    [
        (log((REQUEST, {"prefix_sha256": "a"}), (REQUEST, {"prefix_sha256": "a"})), 1),
        (log((REQUEST, {"prefix_sha256": "a"}), (REQUEST, {"prefix_sha256": "b"})), 2),
        (log((REQUEST, {"prefix_sha256": "a"}), (OTHER_EVENT, {"prefix_sha256": "b"})), 1),
    ],
)
def test_the_number_of_prefixes_is_exact(record, distinct):
    for expected in (1, 2, 3):
        found = outcomes(record, distinct_prefixes=expected)
        assert found["distinct_prefixes"] == [expected == distinct]


def test_requests_that_tell_no_prefix_have_none_in_common():
    check = checks(case(distinct_prefixes=1), log((REQUEST, {}), (REQUEST, {})))[0]
    assert (check.outcome, check.message) == ("fail", "the subject does not say")


@pytest.mark.parametrize(("least", "passes"), [(1, True), (2, True), (3, False)])
def test_compactions_are_counted_in_the_log(least, passes):
    record = log(("context.compacted", {}), (OTHER_EVENT, {}), ("context.compacted", {}))
    assert outcomes(record, min_compactions=least)["minimum_compactions"] == [passes]


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize("requested", [0, 1, 3])
def test_an_approval_is_requested_or_it_is_not(expected, requested):
    record = log((OTHER_EVENT, {}), *[("approval.requested", {})] * requested)
    found = outcomes(record, approval_requested=expected)
    assert found["approval_requested"] == [bool(requested) is expected]


@pytest.mark.parametrize("key", ["blocked_sends", "pending_approvals"])
@pytest.mark.parametrize(
    ("observed", "expected", "message"),
    [
        (0, 0, ""),
        (2, 2, ""),
        (0, 1, "expected 1, found 0"),
        (2, 0, "expected 0, found 2"),
        (None, 0, "the subject does not say"),
    ],
)
def test_counts_are_exact(key, observed, expected, message):
    check = checks(case(**{key: expected}), RECORD._replace(**{key: observed}))[0]
    assert (check.name, check.message) == (key, message)


def test_each_counter_is_a_check_and_one_that_never_rose_is_zero():
    record = RECORD._replace(metrics={"a_total": 2})
    loaded = case(metrics={"a_total": 2, "b_total": 0, "c_total": 1})
    found = [(check.outcome, check.message) for check in checks(loaded, record)[:3]]
    assert found == [("pass", ""), ("pass", ""), ("fail", "c_total: expected 1, found 0")]


def test_counters_of_a_subject_that_has_none():
    check = checks(case(metrics={"a_total": 0}))[0]
    assert (check.outcome, check.message) == ("fail", "a_total: the subject does not say")
