"""Comparing JSON values: is one contained in another, and if not, where does it differ?"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_VALUE_CHARACTERS = 200


def differences(actual: Any, subset: Any, place: str = "") -> Iterator[str]:
    """Where `actual` does not contain `subset`; nothing when it does.

    A map is contained in a map that has its keys with values that contain its values. A list is
    contained in a list of the same length, item by item. Numbers are compared by value, so 1 is
    1.0; true and false are no numbers.
    """
    if isinstance(subset, Mapping) and isinstance(actual, Mapping):
        for key, value in subset.items():
            below = f"{place}.{key}" if place else str(key)
            if key in actual:
                yield from differences(actual[key], value, below)
            else:
                yield f"{below}: expected {shown(value)}, found no such key"
    elif isinstance(subset, list) and isinstance(actual, (list, tuple)):
        if len(actual) != len(subset):
            yield f"{_named(place)}: expected {len(subset)} items, found {len(actual)}"
            return
        for index, value in enumerate(subset):
            yield from differences(actual[index], value, f"{place}[{index}]")
    elif not _equal(actual, subset):
        yield f"{_named(place)}: expected {shown(subset)}, found {shown(actual)}"


def contains(actual: Any, subset: Any) -> bool:
    """Whether `actual` contains `subset`, as `differences` says."""
    return next(differences(actual, subset), None) is None


def equal(one: Any, other: Any) -> bool:
    """Whether each of two values contains the other."""
    return contains(one, other) and contains(other, one)


def written(value: Any) -> str:
    """A value as a text: a text is itself, everything else is JSON with sorted keys.

    Equal numbers are written alike: 1.0 as 1.
    """
    return value if isinstance(value, str) else json.dumps(_plain(value), **_WRITTEN)


_WRITTEN: dict[str, Any] = {"ensure_ascii": False, "sort_keys": True, "separators": (",", ":")}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(below) for key, below in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def shown(value: Any) -> str:
    """A value as JSON on one line, cut after 200 characters."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    cut = text[:_VALUE_CHARACTERS]
    return text if cut == text else f"{cut}... ({len(text)} characters)"


def _named(place: str) -> str:
    return place or "the value"


def _equal(actual: Any, expected: Any) -> bool:
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, (Mapping, list, tuple)) or isinstance(expected, (Mapping, list, tuple)):
        return False
    return bool(actual == expected)
