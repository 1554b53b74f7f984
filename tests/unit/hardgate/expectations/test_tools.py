"""Expectations about which tools were proposed, and how the calls ended together."""

import pytest

from tests.unit.hardgate.expectations.samples import (
    RECORD,
    call,
    case,
    checks,
    failed,
    outcomes,
    with_calls,
)

CALCULATE = "math.calculate"
A, B, C = call("demo.a"), call("demo.b"), call("demo.c")


@pytest.mark.parametrize(
    ("expected", "made", "passes"),
    [
        (["demo.a"], [A], [True]),
        (["demo.a"], [A, A, B], [True]),
        (["demo.a"], [B], [False]),
        (["demo.a", "demo.b"], [B, A], [True, True]),
        (["demo.a", "demo.b"], [B], [False, True]),
        (["demo.a", "demo.a"], [A], [False]),
        (["demo.a", "demo.a"], [A, B, A], [True]),
        (["demo.b", "demo.a", "demo.a"], [A, B, A, A], [True, True]),
        (["demo.a"], [call("demo.a", status="DENIED")], [True]),
    ],
)
def test_tools_count_as_a_multiset_and_further_calls_do_not_matter(expected, made, passes):
    assert outcomes(with_calls(*made), tools=expected)["tools"] == passes


def test_a_missing_tool_says_how_often_it_was_called():
    loaded = case(tools=["demo.b", "demo.a", "demo.a", "demo.a"])
    check = checks(loaded, with_calls(A, B))[1]
    assert (check.expected, check.observed) == ("at least 3 calls of demo.a", "1 call of demo.a")
    assert check.message == "missing: 2 calls of demo.a"


@pytest.mark.parametrize(
    ("expected", "made", "missing"),
    [
        (["demo.a"], [A], None),
        (["demo.a", "demo.b"], [A, B], None),
        (["demo.a", "demo.b"], [A, C, C, B, A], None),
        (["demo.a", "demo.a"], [A, B, A], None),
        (["demo.a", "demo.b"], [B, A], "demo.b after demo.a"),
        (["demo.a", "demo.a"], [A], "demo.a after demo.a"),
        (["demo.c"], [A, B], "demo.c"),
        (["demo.a", "demo.b", "demo.a"], [A, A, B], "demo.a after demo.b"),
    ],
)
def test_tools_in_order_is_a_subsequence(expected, made, missing):
    check = checks(case(tools_in_order=expected), with_calls(*made))[0]
    assert check.name == "tools_in_order"
    assert check.outcome == ("fail" if missing else "pass")
    assert check.message == (f"missing: {missing}" if missing else "")
    assert check.observed == [one.name for one in made]


@pytest.mark.parametrize("status", ["DENIED", "FAILED", "PROPOSED", "SUCCEEDED"])
def test_a_forbidden_call_counts_when_it_is_proposed(status):
    record = with_calls(call("demo.write", status=status))
    assert failed(record, forbidden_tool_calls=["demo.write"]) == ["forbidden_tool_calls"]
    assert failed(record, forbidden_tool_calls=[CALCULATE]) == []


def test_each_forbidden_name_is_a_check():
    found = outcomes(forbidden_tool_calls=["demo.write", CALCULATE])
    assert found["forbidden_tool_calls"] == [True, False]


def test_a_forbidden_call_says_how_often_it_was_made():
    record = with_calls(call("demo.write"), call("demo.write"))
    check = checks(case(forbidden_tool_calls=["demo.write"]), record)[0]
    assert check.expected == "0 calls of demo.write"
    assert check.observed == "2 calls of demo.write"
    assert check.message == "unexpected: 2 calls of demo.write"


def test_no_tools():
    assert failed(with_calls(), no_tools=True) == []
    assert failed(RECORD, no_tools=True) == ["no_tools"]


@pytest.mark.parametrize(("expected", "passes"), [(0, False), (1, True), (2, False)])
def test_the_number_of_started_calls_is_exact(expected, passes):
    made = [call(started=True), call(started=False), call("demo.a", started=False)]
    found = outcomes(with_calls(*made), tool_started_count=expected)
    assert found["tool_started_count"] == [passes]


def test_no_started_call_at_all():
    assert failed(with_calls(call(started=False)), tool_started_count=0) == []


GOOD = call(status="SUCCEEDED", started=True)
BAD = call(status="FAILED", started=True)
UNCERTAIN = call(status="UNCERTAIN", started=True)
DENIED = call(status="DENIED", started=False)
REFUSED = call(status="FAILED", started=False)


@pytest.mark.parametrize(
    ("made", "status", "ended_on_failed_call"),
    [
        ([], "COMPLETED", False),
        ([GOOD], "COMPLETED", False),
        ([BAD], "COMPLETED", True),
        ([UNCERTAIN], "COMPLETED", True),
        ([GOOD, BAD], "COMPLETED", True),
        ([BAD, GOOD], "COMPLETED", False),
        ([BAD, DENIED], "COMPLETED", True),
        ([GOOD, DENIED], "COMPLETED", False),
        ([GOOD, REFUSED], "COMPLETED", False),
        ([REFUSED], "COMPLETED", False),
        ([BAD], "FAILED", False),
        ([BAD], "CANCELLED", False),
    ],
)
@pytest.mark.parametrize("expected", [True, False])
def test_ended_on_failed_call_is_exact(made, status, ended_on_failed_call, expected):
    record = with_calls(*made)._replace(terminal_status=status)
    found = outcomes(record, ended_on_failed_call=expected)
    assert found["ended_on_failed_call"] == [ended_on_failed_call is expected]


def test_a_run_that_ended_on_a_failed_call_names_it():
    check = checks(case(ended_on_failed_call=False), with_calls(GOOD, BAD))[0]
    assert check.message == "the run ended as COMPLETED; its last call: math.calculate FAILED"
    assert RECORD.tool_calls[-1].started
