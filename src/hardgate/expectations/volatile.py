"""Compares the event logs of two runs of one case, field by field outside the volatile list."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from hardgate.cases.record import ObservedEvent
from hardgate.cases.volatile import EVERY_EVENT, VolatileFields
from hardgate.expectations.json_values import shown

_NOT_THERE = object()


def log_differences(
    first: Sequence[ObservedEvent], second: Sequence[ObservedEvent], volatile: VolatileFields
) -> Iterator[str]:
    """What the logs do not have in common, one line each: nothing when they are equal.

    A field of the list may have any value, or be missing. Everything else has to be the same: the
    number of events, their order, types and sequence numbers, and the types of values (1 is not
    1.0, for these are the bytes that a program wrote twice).
    """
    for number, (one, other) in enumerate(zip_longest(first, second), start=1):
        if one is None or other is None:
            extra = other if one is None else one
            where = "second" if one is None else "first"
            yield f"event {number}: {extra.type} is in the {where} log only"
        elif (one.type, one.sequence) != (other.type, other.sequence):
            yield (
                f"event {number}: {one.type} with sequence {one.sequence}, "
                f"then {other.type} with sequence {other.sequence}"
            )
        else:
            fields = [
                entry.field.split(".")
                for entry in volatile
                if entry.event in (EVERY_EVENT, one.type)
            ]
            place = f"event {number} ({one.type})"
            yield from _differences(
                _without(one.payload, fields), _without(other.payload, fields), place
            )


def _without(value: Any, fields: Sequence[Sequence[str]]) -> Any:
    """A copy of a value without what the fields lead to."""
    if isinstance(value, Mapping):
        dropped = {field[0] for field in fields if len(field) == 1}
        return {
            key: _without(below, [field[1:] for field in fields if field[0] == key])
            for key, below in value.items()
            if key not in dropped
        }
    if isinstance(value, (list, tuple)):
        return [_without(item, fields) for item in value]
    return value


def _differences(one: Any, other: Any, place: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differences(
                one.get(key, _NOT_THERE), other.get(key, _NOT_THERE), f"{place}.{key}"
            )
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (item, other_item) in enumerate(zip(one, other, strict=True)):
            yield from _differences(item, other_item, f"{place}[{index}]")
    elif type(one) is not type(other) or one != other:
        yield f"{place}: {_named(one)}, then {_named(other)}"


def _named(value: Any) -> str:
    return "nothing" if value is _NOT_THERE else shown(value)
