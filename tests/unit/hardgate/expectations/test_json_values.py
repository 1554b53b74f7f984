"""Comparing JSON values: subsets, equality, and how a value is written."""

import pytest

from hardgate.expectations.json_values import contains, differences, equal, written


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


def test_a_list_of_another_length_is_one_difference():
    assert list(differences({"a": [1, 2]}, {"a": [2]})) == ["a: expected 1 items, found 2"]
    assert list(differences([], [2])) == ["the value: expected 1 items, found 0"]


def test_values_in_a_difference_are_json_with_sorted_keys():
    assert list(differences({"b": "ü", "a": 1}, 2)) == [
        'the value: expected 2, found {"a": 1, "b": "ü"}'
    ]


def test_a_long_value_is_cut_in_a_difference():
    (said,) = differences({"a": "x" * 10_000}, {"a": 1})
    assert "(10002 characters)" in said
    assert len(said) < 300


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, [2]], [1.0, [2]], True),
        ([1], [1, 1], False),
        (None, None, True),
        (None, "", False),
        ("1", 1, False),
    ],
)
def test_equality_is_both_ways(one, other, same):
    assert equal(one, other) is same
    assert equal(other, one) is same


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        ("", ""),
        (1, "1"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (1e300, str(int(1e300))),
        (True, "true"),
        (None, "null"),
        ({"b": 1.0, "a": [True, "\u00e9"]}, '{"a":[true,"\u00e9"],"b":1}'),
        ([], "[]"),
    ],
)
def test_a_value_as_a_text(value, text):
    assert written(value) == text
