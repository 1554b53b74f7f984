"""The columns give back what they were given, whatever it is."""

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, MetaData, Table, create_engine, insert, select

from agent_core.adapters.sql.columns import ExactText, Instant, Json

TABLE = Table(
    "kept",
    MetaData(),
    Column("text", ExactText),
    Column("instant", Instant),
    Column("json", Json),
)
ENGINE = create_engine("sqlite://")
TABLE.metadata.create_all(ENGINE)

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
)


def kept(name, *values):
    """The values of a column after they were stored, in the column's order."""
    column = TABLE.c[name]
    with ENGINE.begin() as connection:
        for value in values:
            connection.execute(insert(TABLE).values({name: value}))
        found = connection.execute(select(column).order_by(column)).scalars().all()
        connection.execute(TABLE.delete())
    return found


def types(value):
    """A value with the type of everything in it, because 1 equals 1.0 and True."""
    if isinstance(value, dict):
        return {key: types(member) for key, member in value.items()}
    if isinstance(value, list):
        return [types(member) for member in value]
    return type(value), repr(value)


@given(ANY_TEXT)
def test_any_text_is_given_back(text):
    assert kept("text", text) == [text]


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "\\", "\\u0000", "\\\\u0000", "é\U0001f600"])
def test_what_a_database_would_not_keep_is_given_back(text):
    assert kept("text", text) == [text]


def test_nothing_stays_nothing():
    assert kept("text", None) == kept("instant", None) == kept("json", None) == [None]


def test_text_is_in_the_order_of_its_code_points():
    texts = ["a", "B", "ä", "Z", "_", "\U0001f600", "\uffff", "aa", ""]
    assert kept("text", *texts) == sorted(texts)


@given(JSON)
def test_json_is_given_back_with_its_types(value):
    (found,) = kept("json", {"value": value})
    assert types(found) == types({"value": value})


def test_numbers_stay_what_they_are():
    numbers = [1, 1.0, True, 10**40, -0.0, 1e300, 5e-324]
    (found,) = kept("json", numbers)
    assert types(found) == types(numbers)


@pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, b"bytes", object()])
def test_what_is_not_json_is_refused(value):
    with pytest.raises(ValueError):
        Json().process_bind_param([value], ENGINE.dialect)


def test_the_same_object_has_the_same_text():
    texts = {
        Json().process_bind_param(value, ENGINE.dialect)
        for value in ({"b": 1, "a": 2}, {"a": 2, "b": 1})
    }
    assert texts == {json.dumps({"a": 2, "b": 1}, separators=(",", ":"))}


ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
FIRST, LAST = datetime(1, 1, 2), datetime(9999, 12, 30)


@given(st.datetimes(FIRST, LAST, timezones=ZONES))
def test_an_instant_is_given_back_to_the_microsecond_in_utc(instant):
    (found,) = kept("instant", instant)
    assert found == instant
    assert found.tzinfo is UTC


@given(st.lists(st.datetimes(FIRST, LAST, timezones=ZONES), min_size=2, max_size=5))
def test_instants_are_in_their_order(instants):
    assert kept("instant", *instants) == sorted(instants)


def test_an_instant_has_a_zone():
    with pytest.raises(ValueError, match="time zone"):
        Instant().process_bind_param(datetime(2026, 1, 1), ENGINE.dialect)
