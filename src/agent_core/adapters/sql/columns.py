"""Column types that give back exactly what they were given, alike on every database."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

_UNSTORABLE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


class ExactText(TypeDecorator[str]):
    """Any text. It sorts by code point, whatever the locale of the database.

    PostgreSQL keeps no NUL, and neither database keeps a lone surrogate; a model may give either as
    the name of a tool. These are kept as `\\uXXXX`, and so is the backslash itself.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else _UNSTORABLE.sub(_escape, value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else _ESCAPED.sub(_unescape, value)


class Instant(TypeDecorator[datetime]):
    """An aware instant, to the microsecond; it is read in UTC.

    SQLite has no type for it: there it is text that sorts as the instants do. `ValueError` for a
    time without a zone.
    """

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(DateTime(timezone=True))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError("an instant has a time zone")
        instant = value.astimezone(UTC)
        if dialect.name == "postgresql":
            return instant
        return instant.isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        instant = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return instant.astimezone(UTC)


class Json(TypeDecorator[Any]):
    """A JSON value, kept as its text: a database's own type would change numbers and texts.

    None is stored as NULL. `ValueError` for a value that is not JSON. Keys are sorted.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


def json_text(value: object) -> str:
    """JSON in ASCII, so that every text has a form. `ValueError` for a value that is not JSON."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except TypeError as error:
        raise ValueError(f"not JSON: {error}") from error


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))
