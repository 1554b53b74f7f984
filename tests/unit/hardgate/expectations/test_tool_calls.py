"""Expectations about tool calls: counts, arguments, what is forbidden."""

import itertools

import pytest

from tests.unit.hardgate.expectations.samples import (
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
        # A call that fits two entries serves one of them, and moves on as often as it has to.
        ([(None, ONE), (None, {"y": 2})], [{"x": 1, "y": 2}], ["tool_calls.arguments_subset"]),
        (
            [(None, ONE), (None, {"y": 2}), (None, {"z": 3})],
            [{"x": 1, "y": 2}, {"x": 1, "z": 3}, ONE],
            [],
        ),
        (
            [(None, ONE), (None, {"y": 2}), (None, {"z": 3})],
            [{"x": 1, "y": 2}, {"x": 1, "z": 3}],
            ["tool_calls.arguments_subset"],
        ),
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


@pytest.mark.parametrize(
    ("made", "entry", "passes"),
    [
        (0, {"min_count": 1}, {"min_count": False}),
        (2, {"min_count": 2}, {"min_count": True}),
        (5, {"min_count": 2}, {"min_count": True}),
        (1, {"max_count": 1}, {"max_count": True}),
        (2, {"max_count": 1}, {"max_count": False}),
        (0, {"max_count": 1}, {"max_count": True}),
        (2, {"min_count": 1, "max_count": 3}, {"min_count": True, "max_count": True}),
        (4, {"min_count": 1, "max_count": 3}, {"min_count": True, "max_count": False}),
    ],
)
def test_bounds_of_a_count(made, entry, passes):
    found = outcomes(with_calls(*[call()] * made), tool_calls=[{"name": CALCULATE, **entry}])
    for key, passed in passes.items():
        assert found[f"tool_calls.{key}"] == [passed]


def test_a_tool_that_may_be_called_at_most_n_times_has_to_be_called():
    assert failed(with_calls(), tool_calls=[{"name": CALCULATE, "max_count": 2}]) == [
        "tool_calls.name"
    ]


def test_the_bounds_of_all_entries_of_a_tool_bound_all_its_calls():
    entries = [
        {"name": CALCULATE, "arguments_subset": ONE, "max_count": 1},
        {"name": CALCULATE, "arguments_subset": TWO, "max_count": 2},
    ]
    three = [call(arguments=ONE), call(arguments=TWO), call(arguments=TWO)]
    assert failed(with_calls(*three), tool_calls=entries) == []
    four = [*three, call(arguments={"x": 3})]
    assert failed(with_calls(*four), tool_calls=entries) == ["tool_calls.max_count"] * 2


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"reason_code": "tool.succeeded"}, []),
        ({"reason_code": "tool.timeout"}, []),
        ({"reason_code": "tool.internal"}, ["tool_calls.reason_code"]),
        ({"arguments_subset": ONE, "reason_code": "tool.succeeded"}, []),
        ({"arguments_subset": ONE, "reason_code": "tool.timeout"}, ["tool_calls.reason_code"]),
        ({"reason_code": "tool.succeeded", "min_count": 2}, ["tool_calls.reason_code"]),
        (
            {"arguments_subset": {"x": 3}, "reason_code": "tool.timeout"},
            ["tool_calls.arguments_subset", "tool_calls.reason_code"],
        ),
    ],
)
def test_a_call_and_its_reason_code_belong_together(entry, wrong):
    record = with_calls(
        call(arguments=ONE, reason_code="tool.succeeded"),
        call(arguments=TWO, reason_code="tool.timeout"),
    )
    assert failed(record, tool_calls=[{"name": CALCULATE, **entry}]) == wrong


def test_a_missing_reason_code_says_which_calls_were_looked_at():
    record = with_calls(call(arguments=ONE), call(arguments=TWO, reason_code="tool.timeout"))
    entry = {"name": CALCULATE, "arguments_subset": TWO, "reason_code": "tool.succeeded"}
    check = next(
        one
        for one in checks(case(tool_calls=[entry]), record)
        if one.name == "tool_calls.reason_code"
    )
    assert (check.expected, check.observed) == ("tool.succeeded", ["tool.timeout"])
    assert check.message == (
        "missing: 1 of 1 call of math.calculate with these arguments that came to tool.succeeded"
    )
