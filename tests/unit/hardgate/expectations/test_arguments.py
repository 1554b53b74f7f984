"""Expectations about one argument of some call."""

import pytest

from tests.unit.hardgate.expectations.samples import call, case, checks, outcomes, with_calls

TOOL = "demo.send"


def sent(*values):
    return with_calls(*[call(TOOL, {"to": value, "other": "x"}) for value in values])


def holds(record, **entry):
    (passed,) = outcomes(record, args=[{"tool": TOOL, "key": "to", **entry}])["args"]
    return passed


@pytest.mark.parametrize(
    ("value", "equals", "passes"),
    [
        ("ann", "ann", True),
        ("ann", "Ann", False),
        ("ann ", "ann", False),
        (1, 1, True),
        (1, 1.0, True),
        (1.0, 1, True),
        (1, "1", True),
        (1.0, "1", True),
        ("1", 1, False),
        (True, True, True),
        (True, 1, False),
        (True, "true", True),
        (None, None, True),
        (None, "null", True),
        ({"a": [1]}, {"a": [1.0]}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"b": 2, "a": 1}, '{"a":1,"b":2}', True),
        ([1, 2], [2, 1], False),
    ],
)
def test_equals(value, equals, passes):
    assert holds(sent(value), equals=equals) is passes


@pytest.mark.parametrize(
    ("value", "text", "passes"),
    [
        ("Ann Smith", "ann", True),
        ("Ann Smith", "SMITH", True),
        ("Ann Smith", "Bob", False),
        (1234, "23", True),
        ({"name": "Ann"}, '"name":"ann"', True),
        (["x", True], "TRUE", True),
        ("a*b", "ab", False),
        ("caf\u00e9", "CAFE\u0301", True),
        ("stra\u00dfe", "STRASSE", True),
    ],
)
def test_contains_looks_at_the_value_as_a_text_whatever_its_case(value, text, passes):
    assert holds(sent(value), contains=text) is passes


@pytest.mark.parametrize(
    ("value", "subset", "passes"),
    [
        ({"a": 1, "b": 2}, {"a": 1.0}, True),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": 1}, {"b": 1}, False),
        ([{"a": 1, "b": 2}], [{"a": 1}], True),
        ("x", {"a": 1}, False),
    ],
)
def test_subset(value, subset, passes):
    assert holds(sent(value), subset=subset) is passes


def test_one_call_has_to_meet_all_that_an_entry_says():
    record = sent("ann smith", "bob jones")
    assert holds(record, contains="ann", equals="ann smith")
    assert not holds(record, contains="ann", equals="bob jones")


def test_any_call_satisfies():
    assert holds(sent("bob", "ann", "carl"), equals="ann")
    assert not holds(sent("bob", "carl"), equals="ann")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (with_calls(), "missing: 1 call of demo.send"),
        (with_calls(call("other.tool", {"to": "ann"})), "missing: 1 call of demo.send"),
        (
            with_calls(call(TOOL, {"too": "ann"})),
            "missing: a call of demo.send with the argument to",
        ),
        (
            with_calls(call(TOOL)._replace(arguments=None)),
            "missing: a call of demo.send with the argument to",
        ),
        (sent("bob"), 'nearest call: to: expected "ann", found "bob"'),
        (sent("x", "Anna"), 'nearest call: to: expected "ann", found "Anna"'),
    ],
)
def test_the_message_says_how_near_it_came(record, message):
    entry = {"tool": TOOL, "key": "to", "equals": "ann", "contains": "an"}
    if record == sent("bob"):
        entry.pop("contains")
    check = checks(case(args=[entry]), record)[0]
    assert (check.name, check.outcome, check.message) == ("args", "fail", message)
    assert check.expected == entry


def test_each_entry_is_a_check():
    entries = [{"tool": TOOL, "key": key, "equals": "x"} for key in ("to", "other")]
    assert outcomes(sent("y"), args=entries)["args"] == [False, True]


def test_null_is_a_value():
    assert holds(sent(None), equals=None)
    assert not holds(sent("x"), equals=None)
