"""What went wrong at the database, in the words of the domain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
)
from sqlalchemy.exc import (
    TimeoutError as PoolTimeout,
)

from agent_core.domain.errors import StorageFull, StorageUnavailable

_NOT_THE_DATABASE = (DataError, IntegrityError, NotSupportedError, ProgrammingError)
_SQLITE_FULL = 13
_SQLITE_PRIMARY_CODE = 0xFF
_POSTGRESQL_FULL = "53100"
_POSTGRESQL_NOT_PERMITTED = "42501"


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Raises `StorageFull` or `StorageUnavailable` for what the database cannot do.

    `doing` says in the message what was being done. Broken constraints and statements that are
    wrong pass. No message repeats the database's, which may quote records.
    """
    try:
        yield
    except PoolTimeout as error:
        raise StorageUnavailable(f"{doing}: all connections are taken") from error
    except DBAPIError as error:
        refused = getattr(error.orig, "sqlstate", None) == _POSTGRESQL_NOT_PERMITTED
        if isinstance(error, _NOT_THE_DATABASE) and not refused:
            raise
        raise _translation(error, doing) from error


def _translation(error: DBAPIError, doing: str) -> StorageUnavailable:
    original: Any = error.orig
    name = getattr(original, "sqlite_errorname", None) or getattr(original, "sqlstate", None)
    code = getattr(original, "sqlite_errorcode", 0) & _SQLITE_PRIMARY_CODE
    message = f"{doing}: {name or type(original).__name__}"
    if code == _SQLITE_FULL or name == _POSTGRESQL_FULL:
        return StorageFull(message)
    return StorageUnavailable(message)
