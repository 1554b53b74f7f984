"""Records become columns and come back, also when a later version has added a field."""

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

import pytest

from agent_core.adapters.sql.records import plain, record_of, values_of
from agent_core.domain.canonical import JsonObject

NOW = datetime(2026, 1, 1, 0, 0, 0, 1, UTC)


class Colour(StrEnum):
    RED = "red"


class Inner(NamedTuple):
    at: datetime
    colour: Colour
    numbers: tuple[int, ...] = ()


class Outer(NamedTuple):
    id: str
    at: datetime
    inner: Inner
    output: JsonObject
    names: frozenset[str] = frozenset()
    inners: tuple[Inner, ...] = ()
    colour: Colour | None = None
    maybe: Inner | None = None
    number: float = 0.0


FULL = Outer(
    id="one",
    at=NOW,
    inner=Inner(NOW, Colour.RED, (1, 2)),
    output={"list": [1, {"colour": "red"}]},
    names=frozenset({"b", "a"}),
    inners=(Inner(NOW, Colour.RED), Inner(NOW, Colour.RED, (3,))),
    colour=Colour.RED,
    maybe=Inner(NOW, Colour.RED),
    number=1,
)
BARE = Outer("two", NOW, Inner(NOW, Colour.RED), {})


def stored(record):
    """The columns of a record after their JSON was text."""
    return {
        name: value if isinstance(value, datetime) else json.loads(json.dumps(value))
        for name, value in values_of(record).items()
    }


@pytest.mark.parametrize("record", [FULL, BARE])
def test_a_record_is_read_as_it_was_written(record):
    assert record_of(Outer, stored(record)) == record


def test_the_parts_have_their_types_again():
    found = record_of(Outer, stored(FULL))
    assert isinstance(found.inner, Inner) and isinstance(found.inners[1], Inner)
    assert isinstance(found.colour, Colour) and isinstance(found.maybe.colour, Colour)
    assert found.inner.at.utcoffset() is not None
    assert type(found.number) is int


def test_an_instant_at_the_top_is_left_to_its_column():
    values = values_of(FULL)
    assert values["at"] == NOW
    assert values["inner"] == {"at": NOW.isoformat(), "colour": "red", "numbers": [1, 2]}
    assert values["names"] == ["a", "b"]
    assert type(values["colour"]) is str


def test_a_field_that_was_not_written_yet_has_its_default():
    old = stored(FULL)
    del old["number"], old["inner"]["numbers"]
    assert record_of(Outer, old) == FULL._replace(number=0.0, inner=Inner(NOW, Colour.RED))


def test_a_column_of_another_record_is_left_alone():
    assert record_of(Inner, {"at": NOW, "colour": "red", "tenant_id": "x"}) == Inner(
        NOW, Colour.RED
    )


def test_a_value_of_an_enumeration_that_is_not_known_is_an_error():
    with pytest.raises(ValueError):
        record_of(Inner, {"at": NOW, "colour": "blue"})


def test_plain_values_share_nothing_with_a_list_of_the_record():
    numbers = [1]
    seen = plain(numbers)
    numbers.append(2)
    assert seen == [1]
