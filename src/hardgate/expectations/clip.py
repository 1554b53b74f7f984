"""Keeps a verdict small: what was observed may be as large as a model likes."""

from collections.abc import Mapping
from typing import Any

TEXT_CHARACTERS = 4000
LIST_ITEMS = 200
DEPTH = 40


def clipped(value: Any, depth: int = 0) -> Any:
    """`value` with long texts, long lists and deep nesting cut; what was cut is counted."""
    if isinstance(value, str):
        if len(value) <= TEXT_CHARACTERS:
            return value
        left_out = len(value) - TEXT_CHARACTERS
        return f"{value[:TEXT_CHARACTERS]}... [{left_out} characters left out]"
    if isinstance(value, Mapping):
        if depth >= DEPTH:
            return f"[a map of {len(value)} keys left out]"
        kept = {str(key): clipped(value[key], depth + 1) for key in list(value)[:LIST_ITEMS]}
        return kept | dict.fromkeys(_left_out(len(value), "keys"), "")
    if isinstance(value, (list, tuple)):
        if depth >= DEPTH:
            return f"[a list of {len(value)} items left out]"
        items = [clipped(item, depth + 1) for item in value[:LIST_ITEMS]]
        return items + _left_out(len(value), "items")
    return value


def _left_out(size: int, what: str) -> list[str]:
    return [f"... [{size - LIST_ITEMS} {what} left out]"] if size > LIST_ITEMS else []
