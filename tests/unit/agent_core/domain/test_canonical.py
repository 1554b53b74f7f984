"""Canonical arguments: one form per value, and a hash to recognise it by."""

import hashlib
import json
import math
import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.domain.canonical import (
    MAXIMUM_DEPTH,
    NotCanonical,
    canonicalize,
    parse_json_object,
)

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "{}"),
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ({"B": 1, "a": 2, "A": 3}, '{"A":3,"B":1,"a":2}'),
        ({"é": 1, "z": 2}, '{"z":2,"é":1}'),
        ({"n": [1, -2, 10**30]}, '{"n":[1,-2,1000000000000000000000000000000]}'),
        ({"f": [0.1, 1.0, 1e22, 5e-324]}, '{"f":[0.1,1.0,1e+22,5e-324]}'),
        ({"x": None, "y": True, "z": False}, '{"x":null,"y":true,"z":false}'),
        ({"s": 'a"\n\\/é'}, '{"s":"a\\"\\n\\\\/é"}'),
        ({"o": {"d": [], "c": {}}}, '{"o":{"c":{},"d":[]}}'),
    ],
)
def test_the_canonical_text(arguments, text):
    canonical = canonicalize(arguments)
    assert canonical.text == text
    assert canonical.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert canonical.value == json.loads(text)


def test_letters_that_only_look_alike_stay_what_they_are():
    assert canonicalize({"\ufb01": "\u00b2"}).text == '{"\ufb01":"\u00b2"}'


def test_strings_and_keys_are_composed():
    decomposed = canonicalize({"e\u0301": ["A\u030a"]})
    assert decomposed == canonicalize({"\u00e9": ["\u00c5"]})
    assert decomposed.value == {"\u00e9": ["\u00c5"]}


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"a": math.nan}, "arguments.0"),
        ({"a": [1, math.inf]}, "arguments.0[1]"),
        ({"a": -math.inf}, "arguments.0"),
        ({"a": {"b": -0.0}}, "arguments.0.0"),
        ({"a": "\ud800"}, "arguments.0"),
        ({"\udfff": 1}, "arguments.0"),
        ({"a": {1, 2}}, "arguments.0"),
        ({"a": b"bytes"}, "arguments.0"),
        ({1: "a"}, "arguments.0"),
        ({"a": 1, "e\u0301": 2, "\u00e9": 3}, "arguments.2"),
    ],
)
def test_what_has_no_canonical_form(arguments, where):
    with pytest.raises(NotCanonical, match=rf"^{where.replace('[', chr(92) + '[')}: "):
        canonicalize(arguments)


def nested(depth, kind):
    value = {}
    for _ in range(depth - 1):
        value = {"a": value} if kind == "object" else {"a": [value]}
    return value


def test_depth_is_bounded():
    assert canonicalize(nested(MAXIMUM_DEPTH, "object"))
    assert canonicalize(nested(MAXIMUM_DEPTH // 2, "array"))
    for value in (nested(MAXIMUM_DEPTH + 1, "object"), nested(MAXIMUM_DEPTH // 2 + 1, "array")):
        with pytest.raises(NotCanonical, match="more than 32 levels"):
            canonicalize(value)


def test_the_input_is_left_alone():
    arguments = {"b": [{"e\u0301": 1}], "a": 1}
    canonicalize(arguments).value["b"].append(2)
    assert arguments == {"b": [{"e\u0301": 1}], "a": 1}


@pytest.mark.parametrize("text", ['{"a": 1}', " {} ", '{"a": [1.5, null, "x"]}'])
def test_objects_are_parsed(text):
    assert parse_json_object(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "1", '"a"', "[]", "[{}]", "{} {}", "{'a': 1}", '{"a": NaN}',
        '{"a": Infinity}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": -1e999}', "{a: 1}",
        '{"a": 1,}', '{"a": 1, "a": 1}', '{"b": [{"a": 1, "\\u0061": 2}]}',
        '{"a": ' + "9" * 5000 + "}", "[" * 100_000, '{"a":' * 100_000,
    ],
)  # fmt: skip
def test_what_is_not_an_object_is_refused(text):
    with pytest.raises(ValueError):
        parse_json_object(text)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x or math.copysign(1, x) > 0),
    st.text(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


def reordered(value, random_source):
    if isinstance(value, dict):
        members = [(key, reordered(member, random_source)) for key, member in value.items()]
        random_source.shuffle(members)
        return dict(members)
    return [reordered(item, random_source) for item in value] if isinstance(value, list) else value


def recomposed(value, form):
    if isinstance(value, dict):
        return {recomposed(key, form): recomposed(member, form) for key, member in value.items()}
    if isinstance(value, list):
        return [recomposed(item, form) for item in value]
    return unicodedata.normalize(form, value) if isinstance(value, str) else value


def canonical_or_none(arguments):
    try:
        return canonicalize(arguments)
    except NotCanonical:
        return None


@given(OBJECTS, st.integers())
def test_the_order_of_keys_does_not_matter(arguments, seed):
    # A refusal may name another place, since places are counted; that it refuses may not change.
    shuffled = reordered(arguments, random.Random(seed))
    assert canonical_or_none(shuffled) == canonical_or_none(arguments)


@given(OBJECTS)
def test_composition_does_not_matter(arguments):
    canonical = canonical_or_none(arguments)
    decomposed = recomposed(arguments, "NFD")
    if canonical is not None:
        assert canonicalize(decomposed) == canonical


@given(OBJECTS)
def test_the_canonical_form_is_its_own(arguments):
    canonical = canonical_or_none(arguments)
    if canonical is not None:
        assert canonicalize(canonical.value) == canonical
        assert canonicalize(parse_json_object(canonical.text)) == canonical


@given(OBJECTS, OBJECTS)
def test_values_that_differ_have_forms_that_differ(one, other):
    first, second = canonical_or_none(one), canonical_or_none(other)
    if first is not None and second is not None:
        same = json.dumps(first.value, sort_keys=True) == json.dumps(second.value, sort_keys=True)
        assert (first.sha256 == second.sha256) == same
