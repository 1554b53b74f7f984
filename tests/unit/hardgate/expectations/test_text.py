"""Expectations about the final answer, and what their comparison disregards."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.cases.record import ObservedEvent
from hardgate.expectations import text as text_expectations
from hardgate.fixtures.answer_text import normalized
from tests.unit.hardgate.expectations.samples import RECORD, case, checks, failed, outcomes


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("391", "391"),
        ("PARIS", "paris"),
        ("**391**", "391"),
        ("`391`", "391"),
        ("snake_case", "snakecase"),
        ("1,391", "1391"),
        ("1,234,567.5", "1234567.5"),
        ("12,34", "12,34"),
        ("1,2345", "1,2345"),
        ("a, b", "a, b"),
        ("  two \t\n words  ", "two words"),
        ("no\u00a0break \u2009thin", "no break thin"),
        ("stra\u00dfe", "STRASSE"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u0130", "i\u0307"),
        ("17 * 23", "17 23"),
    ],
)
def test_what_counts_as_the_same_text(text, same_as):
    assert normalized(text) == normalized(same_as)


@pytest.mark.parametrize(
    ("text", "other"), [("391", "390"), ("a b", "ab"), ("1.391", "1391"), ("e\u0301", "e")]
)
def test_what_does_not(text, other):
    assert normalized(text) != normalized(other)


@settings(derandomize=True, database=None, deadline=None, max_examples=300)
@given(st.text())
def test_normalizing_again_changes_nothing(text):
    assert normalized(normalized(text)) == normalized(text)


@pytest.mark.parametrize(
    ("texts", "passes"),
    [
        (["391"], [True]),
        (["17 MULTIPLIED by 23"], [True]),
        (["392"], [False]),
        (["391", "392", "17"], [True, False, True]),
        (["is  **391**."], [True]),
    ],
)
def test_each_text_is_a_check(texts, passes):
    assert outcomes(final_text_contains=texts)["final_text_contains"] == passes


@pytest.mark.parametrize(
    ("pattern", "passes"),
    [
        ("391", True),
        (r"^17 .* is 391\.$", True),
        ("17 MULTIPLIED", False),
        ("(?i)17 MULTIPLIED", True),
        (r"is\s391$", False),
        (r"\*\*391\*\*", False),
    ],
)
def test_a_pattern_is_strict(pattern, passes):
    assert outcomes(final_text_matches=pattern)["final_text_matches"] == [passes]


@pytest.mark.parametrize(
    "expected",
    [
        {"final_text_contains": ["391"]},
        {"final_text_contains_any": ["391", "17"]},
        {"final_text_matches": "391"},
        {"final_text": "391"},
    ],
)
@pytest.mark.parametrize("answer", [None, ""])
def test_a_run_without_an_answer_fails(expected, answer):
    (name,) = failed(RECORD._replace(final_text=answer), **expected)
    assert name in expected


def test_what_no_answer_says_is_no_proof_that_it_was_not_said():
    expected = {"final_text_not_contains": ["391"]}
    assert failed(RECORD._replace(final_text=None), **expected) == ["final_text_not_contains"]
    assert failed(RECORD._replace(final_text=""), **expected) == []


@pytest.mark.parametrize(
    ("texts", "passes"),
    [
        (["392"], [True]),
        (["391"], [False]),
        (["17 MULTIPLIED BY 23"], [False]),
        (["Paris", "**17**"], [True, False]),
    ],
)
def test_texts_that_must_not_be_there(texts, passes):
    assert outcomes(final_text_not_contains=texts)["final_text_not_contains"] == passes


@pytest.mark.parametrize(
    ("texts", "passes"),
    [(["391"], True), (["Paris", "**391**"], True), (["Paris", "Rome"], False)],
)
def test_one_text_of_several_is_enough(texts, passes):
    assert outcomes(final_text_contains_any=texts)["final_text_contains_any"] == [passes]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("17 multiplied by 23 is 391.", True),
        ("17 multiplied by 23 is 391", False),
        ("17 Multiplied by 23 is 391.", False),
        ("17  multiplied by 23 is 391.", False),
        ("391", False),
        ("", False),
    ],
)
def test_the_whole_answer_is_compared_as_it_is(text, passes):
    assert outcomes(final_text=text)["final_text"] == [passes]


ALIASES = [
    ({"contains": ["391"]}, "final_text_contains"),
    ({"not_contains": ["390"]}, "final_text_not_contains"),
    ({"contains_any": ["390", "391"]}, "final_text_contains_any"),
    ({"forbid_tools": ["demo.write"]}, "forbidden_tool_calls"),
    ({"max_turns": 2}, "maximum_steps"),
]


@pytest.mark.parametrize(("expected", "name"), ALIASES)
def test_a_second_name_is_the_same_check_on_its_own_line(expected, name):
    loaded = case(tool_started_count=1, **expected)
    (check,) = [one for one in checks(loaded) if one.name == name]
    assert (check.outcome, check.line) == ("pass", 7)


@pytest.mark.parametrize(
    ("payload", "answer", "places"),
    [
        ({}, "fine", []),
        ({"text": "Sesame"}, "fine", []),
        ({"text": "say sesame!"}, "fine", ["event 1"]),
        ({"list": [{"deep": ["sesame"]}]}, "fine", ["event 1"]),
        ({"sesame": 1}, "fine", ["event 1"]),
        ({}, "open sesame", ["the final answer"]),
        ({"text": "sesame"}, "sesame", ["the final answer", "event 1"]),
        ({}, None, []),
    ],
)
def test_a_text_that_stands_nowhere(payload, answer, places):
    record = RECORD._replace(
        events=(ObservedEvent(1, "run.queued", payload), ObservedEvent(2, "run.completed", {})),
        final_text=answer,
    )
    check = checks(case(absent_strings=["sesame"]), record)[0]
    assert check.name == "absent_strings"
    assert check.observed == places
    assert check.message == (f"unexpected: sesame in {', '.join(places)}" if places else "")


def test_the_message_says_what_is_missing():
    loaded = case(final_text_contains=["391", "Paris"])
    missing = checks(loaded)[1]
    assert (missing.expected, missing.observed) == ("Paris", "17 multiplied by 23 is 391.")
    assert missing.message == "missing: Paris"
    without = checks(loaded, RECORD._replace(final_text=None))[0]
    assert without.message == "the run gave no final answer"


def test_a_pattern_that_never_ends_is_a_failed_check(monkeypatch):
    monkeypatch.setattr(text_expectations, "PATTERN_SECONDS", 0.05)
    observed = RECORD._replace(final_text="a" * 40 + "!")
    (outcome,) = text_expectations.final_text_matches("(a+)+$", observed, ("expected",))
    assert not outcome.passed
    assert outcome.message == "the pattern was not done with the answer after 0.05 seconds"
