"""The words of error messages: what was found, what is allowed, the nearest known name."""

from __future__ import annotations

import json
from collections.abc import Iterable

_SHOWN_CHARACTERS = 60
_SHOWN_CHOICES = 24

# How alike a suggestion has to be. Ids and paths share their beginnings, so more is asked of them.
LIKE = 0.7
LIKE_PATHS = 0.9


def shown(value: object) -> str:
    """A value on one line: texts quoted and escaped, long ones cut, containers by kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        digits = str(value) if abs(value) < 10**_SHOWN_CHARACTERS else "a very large number"
        return digits
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "a map" if value else "an empty map"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    return type(value).__name__


def quoted(text: str) -> str:
    """`text` in single quotes on one line, cut after 60 characters, control characters escaped."""
    cut = text[:_SHOWN_CHARACTERS]
    safe = "".join(
        character if character.isprintable() else json.dumps(character)[1:-1] for character in cut
    )
    rest = "" if len(cut) == len(text) else f"... ({len(text)} characters)"
    return f"'{safe}{rest}'"


def choices(names: Iterable[str]) -> str:
    """`a, b or c`; a long list is cut and says how many were left out."""
    ordered = list(names)
    if not ordered:
        return "nothing"
    if len(ordered) > _SHOWN_CHOICES:
        left_out = len(ordered) - _SHOWN_CHOICES
        return f"{', '.join(ordered[:_SHOWN_CHOICES])} and {left_out} more"
    if len(ordered) == 1:
        return ordered[0]
    return f"{', '.join(ordered[:-1])} or {ordered[-1]}"


def nearest(name: str, known: Iterable[str], likeness: float = LIKE) -> str | None:
    """The known name most like `name` (difflib's ratio, from 0 to 1), or None.

    Where none is alike, it is the one that has `name` among its words: `delay_seconds` of `delay`.
    """
    import difflib  # only a mistake pays for it

    by_lower_case = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), list(by_lower_case), 1, likeness)
    if not matches:
        matches = [one for one in by_lower_case if name.lower() in one.split("_")]
    return by_lower_case[matches[0]] if len(matches) == 1 else None


def did_you_mean(name: str, known: Iterable[str], likeness: float = LIKE) -> str:
    """`; did you mean 'x'?`, or nothing when no known name is near."""
    match = nearest(name, known, likeness)
    return f"; did you mean '{match}'?" if match else ""
