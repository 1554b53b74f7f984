"""Copies of JSON values, as they come back from a database that keeps JSON text."""

from __future__ import annotations

import json

from agent_core.domain.canonical import JsonObject, JsonValue, canonical_json

_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def json_copy(value: JsonObject) -> JsonObject:
    """What reading the text of `value` gives: nothing of it is shared, and keys are sorted.

    `ValueError` for what is not JSON.
    """
    try:
        return {key: _copied(value[key]) for key in sorted(value)}
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def _copied(value: object) -> JsonValue:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value  # type: ignore[return-value]  # one of the types above
    if kind is dict and all(type(key) is str for key in value):  # type: ignore[attr-defined]
        return json_copy(value)  # type: ignore[arg-type]
    if kind is list:
        return [_copied(item) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, str):
        return str.__str__(value)  # a member of an enumeration is its text
    copied: JsonValue = json.loads(canonical_json(value))
    return copied
