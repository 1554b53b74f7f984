"""Calls and results: which belong together, in the whole conversation and behind the last turn."""

import pytest

from hardgate.wire import checks
from hardgate.wire.conversation import Message, ModelRequest, ToolCall, ToolResult

USER = Message("user", "hi")
SAID = Message("assistant", "hello")


def calls(*call_ids):
    made = tuple(ToolCall(call_id, "add", "{}") for call_id in call_ids)
    return Message("assistant", tool_calls=made)


def result(call_id):
    return Message("tool", tool_results=(ToolResult(call_id, "3"),))


def results(*call_ids):
    """All results in one message of the user, as Anthropic has them."""
    return Message("user", tool_results=tuple(ToolResult(one, "3") for one in call_ids))


TWO = calls("a", "b").tool_calls
ANSWERS = [
    ([USER, calls("a", "b"), result("a"), result("b")], []),
    ([USER, calls("a", "b"), result("b"), result("a"), USER], []),
    ([USER, calls("a", "b"), results("a", "b")], []),
    ([USER, calls("a"), calls("b"), result("a"), result("b")], []),
    ([USER, calls("a"), result("a"), calls("b"), result("b")], []),
    ([USER, calls("z"), result("z"), calls("a", "b"), result("a"), result("b")], []),
    ([USER, result("a"), result("b")], []),
    ([USER, calls("a", "b")], [checks.RESULTS_MISSING]),
    ([USER, calls("a", "b"), result("a")], [checks.RESULTS_MISSING]),
    ([USER, calls("a", "b"), USER], [checks.RESULTS_MISSING]),
    ([USER], [checks.RESULTS_MISSING]),
    ([], [checks.RESULTS_MISSING]),
    ([USER, result("a"), result("b"), SAID, USER], [checks.RESULTS_MISSING]),
    ([USER, calls("z"), result("z")], [checks.RESULTS_MISSING]),
    (
        [USER, calls("a", "b"), result("a"), result("c")],
        [checks.RESULTS_MISSING, checks.RESULTS_UNKNOWN],
    ),
    ([USER, calls("a", "b"), results("a", "b", "c")], [checks.RESULTS_UNKNOWN]),
    ([USER, calls("a", "b"), results("a", "b", "b")], [checks.RESULTS_REPEATED]),
    ([USER, calls("a", "b"), results("A", "b")], [checks.RESULTS_MISSING, checks.RESULTS_UNKNOWN]),
]


@pytest.mark.parametrize(("messages", "rules"), ANSWERS)
def test_the_results_answer_the_calls_of_the_last_turn(messages, rules):
    assert [one.rule for one in checks.answers_calls(messages, TWO)] == rules


def test_nothing_is_asked_where_nothing_is_outstanding():
    assert list(checks.answers_calls([USER, result("x")], ())) == []


def test_the_difference_is_shown():
    messages = [USER, calls("a", "b"), result("c"), result("b")]
    missing, unknown = checks.answers_calls(messages, TWO)
    assert missing.message == "no tool result answers 'a'; the last turn called 'a', 'b'"
    assert (missing.expected, missing.received) == (["a", "b"], ["c", "b"])
    assert "'c'; the last turn called 'a', 'b'" in unknown.message


# Conversations, and how many pairs are wrong: where results follow at once, and where not.
PAIRS = [
    ([USER, SAID, USER], 0, 0),
    ([USER, calls("a", "b"), result("a"), result("b"), SAID], 0, 0),
    ([USER, calls("a", "b"), results("a", "b"), SAID], 0, 0),
    ([USER, calls("a"), result("a"), calls("b"), result("b")], 0, 0),
    ([USER, calls("a"), calls("b"), result("a"), result("b")], 2, 0),
    ([USER, calls("a"), USER, result("a")], 2, 0),
    ([USER, calls("a", "b"), result("a"), USER, result("b")], 2, 0),
    ([USER, calls("a", "b"), results("a"), results("b")], 0, 0),
    ([USER, calls("a", "b"), results("a"), SAID, USER], 1, 1),
    ([USER, calls("a")], 1, 1),
    ([USER, calls("a"), SAID], 1, 1),
    ([USER, result("a")], 1, 1),
    ([USER, calls("a"), result("a"), result("a")], 1, 1),
    ([USER, calls("a"), results("a", "a")], 1, 1),
    ([USER, result("a"), calls("a")], 2, 2),
]


@pytest.mark.parametrize(("messages", "following", "anywhere"), PAIRS)
def test_every_call_has_its_result_in_its_place(messages, following, anywhere):
    for results_follow, count in ((True, following), (False, anywhere)):
        found = list(checks.pairs_calls(messages, results_follow=results_follow))
        assert [one.rule for one in found] == [checks.CALLS_UNPAIRED] * count


def asked(**fields):
    return ModelRequest("m", False, (USER,), **fields)


@pytest.mark.parametrize(
    ("request_fields", "count", "rule"),
    [
        ({}, 0, None),
        ({}, 1, checks.TOOLS_MISSING),
        ({"offered": ("other",)}, 1, None),
        ({"offered": ("add",), "tool_choice": "none"}, 1, checks.TOOLS_REFUSED),
        ({"offered": ("add",), "tool_choice": "none"}, 0, None),
        ({"offered": ("add",), "parallel_calls": False}, 2, checks.TOOLS_REFUSED),
        ({"offered": ("add",), "parallel_calls": False}, 1, None),
        ({"offered": ("add",)}, 2, None),
    ],
)
def test_a_model_calls_only_what_it_may(request_fields, count, rule):
    found = list(checks.permits_calls(asked(**request_fields), TWO[:count]))
    assert [one.rule for one in found] == ([rule] if rule else [])


def test_long_lists_of_calls_are_cut():
    many = calls(*(f"c{number}" for number in range(30))).tool_calls
    (missing,) = checks.answers_calls([USER], many)
    assert missing.message.count("and 20 more") == 2
