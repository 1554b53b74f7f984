"""Second names of keys: a file may use either name of a key, and never both.

A model that has such names lists them in `aliases`, a ClassVar that maps each to the name of a
field. They are replaced before the model sees the document, so everything behind it knows one name,
and every position still points at what the author wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys, Position
from hardgate.documents.wording import quoted


def with_field_names(
    document: Document, at: Keys, aliases: Mapping[str, str]
) -> tuple[Document, list[Problem]]:
    """The document with the map under `at` using the names of fields only.

    Also gives a Problem for each alias that stands beside its field, or beside another alias of it:
    the first one written counts. Nothing happens where `at` leads to no map.
    """
    found = _value_at(document.value, at)
    if not isinstance(found, dict) or not any(key in aliases for key in found):
        return document, []
    problems: list[Problem] = []
    renamed: dict[str, Any] = {}
    used: dict[str, str] = {}
    for key, value in found.items():
        name = aliases.get(key, key)
        if name in used:
            message = (
                f"found {quoted(key)} beside {quoted(used[name])}, which means the same; "
                "allowed: one of the two"
            )
            problems.append(
                document.problem((*at, key), "schema.alias_twice", message, at_key=True)
            )
            continue
        used[name] = key
        renamed[name] = value
    own_name = {key: name for name, key in used.items()}
    return (
        document._replace(
            value=_replaced(document.value, at, renamed),
            positions=_moved(document.positions, at, own_name),
            key_positions=_moved(document.key_positions, at, own_name),
        ),
        problems,
    )


def _value_at(value: Any, keys: Keys) -> Any:
    """The value under `keys`, or None where they lead nowhere."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def _replaced(value: Any, keys: Keys, new: Any) -> Any:
    """A copy of `value` with another value under `keys`."""
    if not keys:
        return new
    copy = value.copy()
    copy[keys[0]] = _replaced(value[keys[0]], keys[1:], new)
    return copy


def _moved(
    positions: Mapping[Keys, Position], at: Keys, own_name: Mapping[str, str]
) -> dict[Keys, Position]:
    """The positions with each key below `at` under its field's name; refused keys lose theirs."""
    depth = len(at)
    moved: dict[Keys, Position] = {}
    for keys, position in positions.items():
        if len(keys) > depth and keys[:depth] == at:
            name = own_name.get(str(keys[depth]))
            if name is None:
                continue
            keys = (*at, name, *keys[depth + 1 :])
        moved[keys] = position
    return moved
