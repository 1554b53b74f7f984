"""Expectations about the final answer, and what their comparison disregards."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    "expected", [{"final_text_contains": ["391"]}, {"final_text_matches": "391"}]
)
@pytest.mark.parametrize("answer", [None, ""])
def test_a_run_without_an_answer_fails(expected, answer):
    (name,) = failed(RECORD._replace(final_text=answer), **expected)
    assert name in expected


def test_the_message_says_what_is_missing():
    loaded = case(final_text_contains=["391", "Paris"])
    missing = checks(loaded)[1]
    assert (missing.expected, missing.observed) == ("Paris", "17 multiplied by 23 is 391.")
    assert missing.message == "missing: Paris"
    without = checks(loaded, RECORD._replace(final_text=None))[0]
    assert without.message == "the run gave no final answer"
