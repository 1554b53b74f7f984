"""A copy in memory is what a database that keeps text would give back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.adapters.in_memory.json_copy import json_copy
from agent_core.domain.canonical import canonical_json
from agent_core.domain.trust import TrustLevel

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(categories=None))
    | st.sampled_from(TrustLevel)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
    max_leaves=20,
)


def through_text(value):
    return json.loads(canonical_json(value))


def types(value):
    if isinstance(value, dict):
        return {key: types(item) for key, item in value.items()}
    return [types(item) for item in value] if isinstance(value, list) else type(value)


@given(st.dictionaries(st.text(), VALUES))
@settings(max_examples=300)
def test_it_is_what_the_text_gives(value):
    copied, expected = json_copy(value), through_text(value)
    assert copied == expected
    assert list(copied) == list(expected)
    assert types(copied) == types(expected)
    assert canonical_json(copied) == canonical_json(value)


def test_nothing_is_shared():
    value = {"a": [{"b": [1]}]}
    copied = json_copy(value)
    copied["a"][0]["b"].append(2)
    copied["a"].append(3)
    assert value == {"a": [{"b": [1]}]}


def nested():
    value = []
    value.append(value)
    return {"a": value}


@pytest.mark.parametrize(
    "value",
    [{"a": {1, 2}}, {"a": [float("nan")]}, {"a": float("inf")}, {"a": b"bytes"}, nested()],
)
def test_what_is_not_json_is_refused(value):
    with pytest.raises(ValueError):
        json_copy(value)
