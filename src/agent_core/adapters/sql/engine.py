"""Connections, set up for short transactions that wait for nobody for long."""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

WAIT_SECONDS = 10
"""How long a statement waits for others: for a lock, and for a connection."""

CONNECTIONS = 15
"""How many connections a process has at most."""

STATEMENT_SECONDS = 30
"""How long a statement may take on PostgreSQL, waiting included."""

_SQLITE = "sqlite"
_POSTGRESQL = "postgresql+psycopg"


def parsed(url: str) -> URL:
    """The address of a database. `ValueError` for another kind; no message shows the address,
    which may hold a password."""
    try:
        parts = make_url(url)
    except ArgumentError:
        raise ValueError("not the URL of a database") from None
    if parts.drivername == _SQLITE and parts.database not in (None, "", ":memory:"):
        return parts
    if parts.drivername in (_POSTGRESQL, "postgresql"):
        return parts.set(drivername=_POSTGRESQL)
    raise ValueError(f"no such storage; allowed: sqlite:///PATH, {_POSTGRESQL}://...")


def open_engine(url: str) -> Engine:
    """A pool of connections; none is opened yet. `ValueError` for a URL that is none of ours."""
    parts = parsed(url)
    return _sqlite(parts) if parts.drivername == _SQLITE else _postgresql(parts)


def is_postgresql(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _postgresql(url: URL) -> Engine:
    settings = {
        "lock_timeout": f"{WAIT_SECONDS}s",
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{STATEMENT_SECONDS}s",
        "timezone": "UTC",
    }
    return create_engine(
        url,
        connect_args={
            "connect_timeout": WAIT_SECONDS,
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
        },
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,  # a connection from before a restart of the server is replaced
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        hide_parameters=True,
    )


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url,
        connect_args={"timeout": WAIT_SECONDS},
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself
        for pragma in ("foreign_keys=ON", "journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that starts as a reader cannot become a writer once another has written, so
        # each one takes its turn from the start.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
