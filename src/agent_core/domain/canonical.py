"""JSON values and their canonical form, by which two equal calls are recognised."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

JsonValue: TypeAlias = "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"
JsonObject: TypeAlias = "dict[str, JsonValue]"

MAXIMUM_DEPTH = 32
"""Objects and arrays inside each other, the outermost one included."""


class NotCanonical(ValueError):
    """A value without a canonical form. The message names the place, never the content."""


class CanonicalArguments(NamedTuple):
    """The normalized arguments of a call.

    `value`: the arguments with every string in Unicode normalization form C.
    `text`: keys in code point order, no blanks, integers as integers, floats as the shortest
    text that reads back equal. `sha256`: 64 hexadecimal digits over the UTF-8 bytes of `text`.
    """

    value: JsonObject
    text: str
    sha256: str


def parse_json_object(text: str) -> JsonObject:
    """The object that `text` is.

    Raises `ValueError` for anything else: other JSON, text that is not JSON, an object with a
    key twice, numbers that are not finite, and nesting or integers beyond what the parser takes.
    """
    try:
        value = json.loads(
            text, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_members
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _members(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is there once")
    return members


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is finite")
    return value


def canonicalize(arguments: Mapping[str, JsonValue]) -> CanonicalArguments:
    """The canonical form of `arguments` (see docs/specs/tool_system.md).

    Raises `NotCanonical` for NaN, infinities, -0.0, a lone surrogate, more than
    `MAXIMUM_DEPTH` levels, a value JSON does not have, and two keys that normalize to one.
    """
    value = _normalized_object(arguments, "arguments", 1)
    text = canonical_json(value)
    return CanonicalArguments(value, text, sha256_hex(text))


def canonical_json(value: object) -> str:
    """JSON text with sorted keys and no blanks; equal values give equal text."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256_hex(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _normalized(value: object, where: str, depth: int) -> JsonValue:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return _checked_float(value, where)
    if isinstance(value, str):
        return _normalized_text(value, where)
    if isinstance(value, Mapping):
        return _normalized_object(value, where, depth + 1)
    if isinstance(value, list | tuple):
        _check_depth(depth + 1, where)
        return [_normalized(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise NotCanonical(f"{where}: a {type(value).__name__} is not a JSON value")


def _normalized_object(members: Mapping[str, object], where: str, depth: int) -> JsonObject:
    _check_depth(depth, where)
    result: JsonObject = {}
    for position, (key, member) in enumerate(members.items()):
        place = f"{where}.{position}"
        if not isinstance(key, str):
            raise NotCanonical(f"{place}: a key is a string")
        normalized_key = _normalized_text(key, place)
        if normalized_key in result:
            raise NotCanonical(f"{place}: two keys are the same after normalization")
        result[normalized_key] = _normalized(member, place, depth)
    return result


def _normalized_text(text: str, where: str) -> str:
    if text.isascii():
        return text
    import unicodedata  # a megabyte of tables that plain ASCII arguments never need

    if any("\ud800" <= character <= "\udfff" for character in text):
        raise NotCanonical(f"{where}: a lone surrogate has no UTF-8 form")
    return unicodedata.normalize("NFC", text)


def _checked_float(value: float, where: str) -> float:
    if not math.isfinite(value):
        raise NotCanonical(f"{where}: a number is finite")
    if value == 0 and math.copysign(1, value) < 0:
        raise NotCanonical(f"{where}: negative zero has two readings")
    return value


def _check_depth(depth: int, where: str) -> None:
    if depth > MAXIMUM_DEPTH:
        raise NotCanonical(f"{where}: more than {MAXIMUM_DEPTH} levels")
