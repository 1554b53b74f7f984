"""An expectation and its negation never both pass, and each of them passes somewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardgate.cases.record import ObservedEvent, ObservedItem
from tests.unit.hardgate.expectations.generators import EXAMPLES, TOOLS, passes, records
from tests.unit.hardgate.expectations.samples import RECORD


def made(*names, **values):
    return RECORD._replace(
        tool_calls=tuple(RECORD.tool_calls[0]._replace(name=name, **values) for name in names)
    )


def said(text):
    return RECORD._replace(final_text=text)


def logged(*types):
    return RECORD._replace(events=tuple(ObservedEvent(n, name, {}) for n, name in enumerate(types)))


def failed_for(reason):
    return RECORD._replace(terminal_status="FAILED", failure_reason=reason)


def labelled(level):
    return RECORD._replace(items=(ObservedItem("tool_result", level, tool="demo.a"),))


# An expectation and one that says the opposite, each made of one drawn value; then a value, and a
# record on which each of the two holds: a pair that never holds would show nothing.
NEGATIONS = {
    "text": (
        st.sampled_from(["a", "b", "ab"]),
        lambda one: {"contains": [one]},
        lambda one: {"not_contains": [one]},
        "a",
        said("a"),
        said("b"),
    ),
    "any of the texts": (
        st.sampled_from([["a"], ["a", "b"]]),
        lambda many: {"contains_any": many},
        lambda many: {"not_contains": many},
        ["a", "b"],
        said("b"),
        said("c"),
    ),
    "whole text": (
        st.text("ab", min_size=1, max_size=3),
        lambda one: {"final_text": one},
        lambda one: {"not_contains": [one]},
        "ab",
        said("ab"),
        said("b"),
    ),
    "text that stands nowhere": (
        st.sampled_from(["a", "ab"]),
        lambda one: {"final_text_matches": one},
        lambda one: {"absent_strings": [one]},
        "zz",
        said("zz"),
        RECORD,
    ),
    "tool": (
        st.sampled_from(TOOLS),
        lambda one: {"tools": [one]},
        lambda one: {"forbid_tools": [one]},
        "demo.a",
        made("demo.a"),
        made("demo.b"),
    ),
    "any tool": (
        st.sampled_from(TOOLS),
        lambda one: {"tools_in_order": [one]},
        lambda one: {"no_tools": True},
        "demo.a",
        made("demo.a"),
        made(),
    ),
    "count": (
        st.integers(1, 3),
        lambda n: {"tool_calls": [{"name": "demo.a", "count": n}]},
        lambda n: {"tool_calls": [{"name": "demo.a", "count": n + 1}]},
        1,
        made("demo.a"),
        made("demo.a", "demo.a"),
    ),
    "bounds": (
        st.integers(1, 2),
        lambda n: {"tool_calls": [{"name": "demo.a", "max_count": n}]},
        lambda n: {"tool_calls": [{"name": "demo.a", "min_count": n + 1}]},
        1,
        made("demo.a"),
        made("demo.a", "demo.a"),
    ),
    "arguments": (
        st.sampled_from(["x", "y"]),
        lambda key: {"args": [{"tool": "demo.a", "key": key, "equals": 1}]},
        lambda key: {"forbid_tools": ["demo.a"]},
        "x",
        made("demo.a", arguments={"x": 1}),
        made("demo.b"),
    ),
    "status": (
        st.sampled_from(["completed", "cancelled"]),
        lambda one: {"terminal_status": one},
        lambda one: {"terminal_status": "failed"},
        "cancelled",
        RECORD._replace(terminal_status="CANCELLED"),
        failed_for("x"),
    ),
    "reason of a failure": (
        st.just("max_steps_exceeded"),
        lambda one: {"failure_reason": one},
        lambda one: {"failure_reason": "x"},
        "max_steps_exceeded",
        failed_for("max_steps_exceeded"),
        failed_for("x"),
    ),
    "cause": (
        st.just("max_turns"),
        lambda one: {"stop_cause": one},
        lambda one: {"stop_cause": "completed"},
        "max_turns",
        failed_for("max_steps_exceeded"),
        RECORD,
    ),
    "failed call at the end": (
        st.just(True),
        lambda one: {"ended_on_failed_call": one},
        lambda one: {"ended_on_failed_call": not one},
        True,
        made("demo.a", status="FAILED"),
        made("demo.a"),
    ),
    "effect": (
        st.sampled_from(TOOLS),
        lambda one: {"effects": [{"tool": one, "watermark": "set"}]},
        lambda one: {"effects": [], "maximum_steps": 9},
        "demo.a",
        made("demo.a", effect_sent=True),
        made("demo.a"),
    ),
    "label": (
        st.sampled_from(["private", "untrusted"]),
        lambda one: {"taint": {one: True}},
        lambda one: {"taint": {one: False}},
        "private",
        RECORD._replace(private=True),
        RECORD._replace(private=False),
    ),
    "trust": (
        st.sampled_from(TOOLS),
        lambda one: {"trust": [{"item": "tool_result", "tool": one, "level": "user"}]},
        lambda one: {"trust": [{"item": "tool_result", "tool": one, "level": "internal_tool"}]},
        "demo.a",
        labelled("user"),
        labelled("internal_tool"),
    ),
    "blocked sends": (
        st.integers(0, 2),
        lambda n: {"blocked_sends": n},
        lambda n: {"blocked_sends": n + 1},
        1,
        RECORD._replace(blocked_sends=1),
        RECORD._replace(blocked_sends=2),
    ),
    "counter": (
        st.integers(0, 2),
        lambda n: {"metrics": {"a_total": n}},
        lambda n: {"metrics": {"a_total": n + 1}},
        1,
        RECORD._replace(metrics={"a_total": 1}),
        RECORD._replace(metrics={"a_total": 2}),
    ),
    "approval": (
        st.just(True),
        lambda one: {"approval_requested": one},
        lambda one: {"approval_requested": not one},
        True,
        logged("approval.requested"),
        logged("run.queued"),
    ),
}


@pytest.mark.parametrize("name", NEGATIONS)
def test_an_expectation_and_its_negation_never_both_pass(name):
    values, expectation, negation, *_ = NEGATIONS[name]

    @EXAMPLES
    @given(values, records())
    def holds(value, record):
        assert not (passes(record, **expectation(value)) and passes(record, **negation(value)))

    holds()


@pytest.mark.parametrize("name", NEGATIONS)
def test_each_of_the_two_passes_somewhere(name):
    _, expectation, negation, value, one, other = NEGATIONS[name]
    assert passes(one, **expectation(value))
    assert not passes(one, **negation(value))
    assert passes(other, **negation(value))
    assert not passes(other, **expectation(value))
