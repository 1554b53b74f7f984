"""Expectations about tool calls: counts, arguments, what is forbidden."""

import itertools

import pytest

from hardgate.expectations.json_values import contains, differences
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


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ({"name": CALCULATE}, {"tool_calls.name"}),
        ({"name": CALCULATE, "count": 1}, {"tool_calls.count"}),
        (
            {"name": CALCULATE, "arguments_subset": {"expression": "17 * 23"}},
            {"tool_calls.arguments_subset"},
        ),
        (
            {"name": CALCULATE, "count": 1, "arguments_subset": {"expression": "17 * 23"}},
            {"tool_calls.count", "tool_calls.arguments_subset"},
        ),
    ],
)
def test_each_key_of_an_entry_is_a_check(entry, names):
    found = outcomes(tool_calls=[entry])
    assert names == {name for name in found if name.startswith("tool_calls")}
    assert all(all(found[name]) for name in names)


@pytest.mark.parametrize(
    ("made", "count", "passes"),
    [(0, 1, False), (1, 1, True), (2, 1, False), (2, 2, True), (1, 2, False)],
)
def test_a_count_is_exact(made, count, passes):
    record = with_calls(*[call()] * made)
    found = outcomes(record, tool_calls=[{"name": CALCULATE, "count": count}])
    assert found["tool_calls.count"] == [passes]


@pytest.mark.parametrize(("made", "passes"), [(0, False), (1, True), (3, True)])
def test_a_name_alone_asks_for_one_call_or_more(made, passes):
    found = outcomes(with_calls(*[call()] * made), tool_calls=[{"name": CALCULATE}])
    assert found["tool_calls.name"] == [passes]


def test_calls_of_other_tools_do_not_count():
    record = with_calls(call("demo.write"), call("math.calculated"))
    assert failed(record, tool_calls=[{"name": CALCULATE, "count": 1}]) == ["tool_calls.count"]


ONE, TWO = {"x": 1}, {"x": 2}


@pytest.mark.parametrize(
    ("entries", "made", "wrong"),
    [
        # One entry, one call too many with other arguments: the count is the tool's total.
        ([(1, ONE)], [ONE, TWO], ["tool_calls.count"]),
        ([(1, ONE)], [TWO], ["tool_calls.arguments_subset"]),
        ([(2, ONE)], [ONE, ONE], []),
        ([(2, ONE)], [ONE, TWO], ["tool_calls.arguments_subset"]),
        # Two entries share the calls, and each call serves one entry.
        ([(1, ONE), (1, TWO)], [ONE, TWO], []),
        ([(1, ONE), (1, TWO)], [ONE, ONE], ["tool_calls.arguments_subset"]),
        ([(1, ONE), (1, TWO)], [ONE], ["tool_calls.count"] * 2 + ["tool_calls.arguments_subset"]),
        ([(None, ONE), (None, TWO)], [ONE], ["tool_calls.arguments_subset"]),
        # The wider entry must not take the only call that serves the narrower one.
        ([(1, {"x": 1}), (1, {"x": 1, "y": 2})], [{"x": 1, "y": 2}, {"x": 1}], []),
        ([(1, {"x": 1, "y": 2}), (1, {"x": 1})], [{"x": 1, "y": 2}, {"x": 1}], []),
        ([(2, {"x": 1}), (1, {"y": 2})], [{"x": 1, "y": 2}, {"x": 1}, {"x": 1, "y": 2}], []),
        ([(None, ONE)], [], ["tool_calls.arguments_subset"]),
    ],
)
def test_entries_are_served_by_distinct_calls_in_any_order(entries, made, wrong):
    listed = [
        {"name": CALCULATE, "arguments_subset": subset} | ({"count": count} if count else {})
        for count, subset in entries
    ]
    for entry_order in itertools.permutations(listed):
        for call_order in itertools.permutations(made):
            record = with_calls(*[call(arguments=arguments) for arguments in call_order])
            names = failed(record, tool_calls=list(entry_order))
            assert sorted(names) == sorted(wrong)


def test_a_chain_of_exchanges_is_found():
    """Each call fits two entries; only one assignment serves all of them."""
    entries = [{"name": CALCULATE, "arguments_subset": {f"k{i}": 1}} for i in range(6)]
    made = [call(arguments={f"k{i}": 1, f"k{i + 1}": 1}) for i in range(5)]
    made.append(call(arguments={"k0": 1}))
    assert failed(with_calls(*made), tool_calls=entries) == []
    assert len(failed(with_calls(*made[:5]), tool_calls=entries)) == 1


def test_a_call_whose_arguments_were_no_object_matches_nothing():
    record = with_calls(call()._replace(arguments=None))
    entry = {"name": CALCULATE, "arguments_subset": {"expression": "17 * 23"}}
    assert failed(record, tool_calls=[entry]) == ["tool_calls.arguments_subset"]


def test_the_message_names_what_is_missing_and_where_the_nearest_call_differs():
    record = with_calls(call(arguments={"expression": "17*23", "digits": 3}))
    entry = {"name": CALCULATE, "arguments_subset": {"expression": "17 * 23", "digits": 3}}
    check = next(one for one in checks(case(tool_calls=[entry]), record) if "subset" in one.name)
    assert check.expected == {"digits": 3, "expression": "17 * 23"}
    assert check.observed == [{"digits": 3, "expression": "17*23"}]
    assert check.message == (
        "missing: 1 of 1 call of math.calculate with these arguments; "
        'nearest call: expression: expected "17 * 23", found "17*23"'
    )
    assert (check.path, check.line) == ("evals/cases/01_sample.yaml", 6)


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


@pytest.mark.parametrize(
    ("actual", "subset", "contained"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 1}}}, True),
        ({"a": {"b": 1}}, {"a": {}}, True),
        ({"a": 1}, {"a": {}}, False),
        ({"a": {}}, {"a": None}, False),
        ({"a": None}, {"a": None}, True),
        ({}, {"a": None}, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1.0}, {"a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": True}, {"a": True}, True),
        ({"a": 0}, {"a": False}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": 2**60}, {"a": float(2**60)}, True),
        ({"a": 2**60 + 1}, {"a": float(2**60)}, False),
        ({"a": [1, 2]}, {"a": [1, 2]}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": [1, 2, 3]}, {"a": [1, 2]}, False),
        ({"a": []}, {"a": []}, True),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, True),
        ({"a": [[True]]}, {"a": [[1]]}, False),
        ({"a": [1]}, {"a": 1}, False),
        ({"a": "x"}, {"a": "X"}, False),
        (None, {"a": 1}, False),
    ],
)
def test_subsets(actual, subset, contained):
    assert contains(actual, subset) is contained
    assert (list(differences(actual, subset)) == []) is contained


def test_differences_name_every_place():
    actual = {"a": {"b": [1, {"c": True}]}, "e": "x"}
    subset = {"a": {"b": [1, {"c": 1, "d": 2}]}, "e": "y", "f": []}
    assert list(differences(actual, subset)) == [
        "a.b[1].c: expected 1, found true",
        "a.b[1].d: expected 2, found no such key",
        'e: expected "y", found "x"',
        "f: expected [], found no such key",
    ]


def test_a_long_value_is_cut_in_a_difference():
    (said,) = differences({"a": "x" * 10_000}, {"a": 1})
    assert "(10002 characters)" in said
    assert len(said) < 300
