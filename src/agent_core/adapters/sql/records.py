"""Records of the domain as values that a table can hold, and back, by the types of their fields.

A record is a `NamedTuple`. Its members become plain JSON values: an enumeration its value, a tuple
or a set a list, a record an object with a member for each field. Instants are kept as they are at
the top, where a column takes them, and as ISO 8601 text further down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def values_of(record: object) -> dict[str, Any]:
    """The fields of a record by name, each as what its column takes."""
    return {
        name: value if isinstance(value, datetime) else plain(value)
        for name, value in _members(record).items()
    }


def record_of(kind: Callable[..., Record], values: Mapping[Any, Any]) -> Record:
    """The record of `kind` that `values_of` made `values` of. Other names in it are left alone."""
    hints = _hints(kind)
    return kind(**{name: typed(hints[name], values[name]) for name in hints if name in values})


def plain(value: object) -> Any:
    """A value of the domain as a JSON value."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "_fields"):
        return {name: plain(member) for name, member in _members(value).items()}
    if isinstance(value, frozenset):
        return sorted(plain(member) for member in value)
    if isinstance(value, tuple | list):
        return [plain(member) for member in value]
    return value


def typed(hint: Any, value: Any) -> Any:
    """What `plain` made `value` of, for something of the type `hint`."""
    origin = get_origin(hint)
    if value is None:
        return None
    if origin in (Union, UnionType):
        return typed(_without_none(hint), value)
    if origin in (tuple, frozenset):
        return origin(typed(get_args(hint)[0], member) for member in value)
    if hint is datetime:
        return value if isinstance(value, datetime) else datetime.fromisoformat(value)
    if isinstance(hint, type):
        if issubclass(hint, Enum):
            return hint(value)
        if hasattr(hint, "_fields"):
            return record_of(hint, value)
    return value


def _without_none(hint: Any) -> Any:
    """The first alternative of a union that is not None: the domain has no other unions of types
    that JSON does not tell apart."""
    return next(one for one in get_args(hint) if one is not NoneType)


def _members(record: object) -> dict[str, object]:
    return cast("dict[str, object]", record._asdict())  # type: ignore[attr-defined]


@cache
def _hints(kind: Callable[..., object]) -> dict[str, Any]:
    # The alias for JSON refers to itself, and what it stands for is left as it is anyway.
    return get_type_hints(kind, localns={"JsonObject": dict, "JsonValue": object})
