"""Bringing a database to this program's schema, and who may use it then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from agent_core.adapters.sql.engine import is_postgresql, open_engine
from agent_core.adapters.sql.failures import translated
from agent_core.adapters.sql.migrations.versions import MIGRATIONS
from agent_core.adapters.sql.tables import METADATA, TENANT_OWNED
from agent_core.domain.errors import SchemaMismatch

_ROLE = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_LOCK = 0x6861_7264_6761_7465
"""An advisory lock of PostgreSQL: of several processes that migrate one database, one does."""

_APPEND_ONLY = frozenset({"events", "model_turns"})
_DISPENSABLE = frozenset({"checkpoints"})


class _Migrations(ScriptDirectory):
    """The migrations as modules that were imported, where Alembic would read a folder."""

    def __init__(self) -> None:
        super().__init__(Path().anchor or ".")

    def _load_revisions(self) -> Iterator[Script]:
        for module in MIGRATIONS:
            yield Script(module, module.revision, str(module.__file__))


def upgrade(
    url: str, application_role: str | None = None, maintenance_role: str | None = None
) -> None:
    """Bring the database at `url` to the present schema; one that is there already is left alone.

    On PostgreSQL, `url` is its owner's, and the roles, which exist, are granted what they need:
    the one to run agents, the other to remove the records of a tenant. Raises `ValueError` for a
    URL that is none of ours and for a role that could see past the policies on rows,
    `SchemaMismatch` for a schema that this program does not know, `StorageFull` and
    `StorageUnavailable`; then nothing was changed.
    """
    engine = open_engine(url)
    try:
        with translated("migrating"), engine.begin() as connection:
            if is_postgresql(connection):
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            _run(connection)
            if is_postgresql(connection):
                _grant(connection, application_role, rights_to_run)
                _grant(connection, maintenance_role, rights_to_maintain)
    finally:
        engine.dispose()


def heads() -> Sequence[str]:
    """The migrations that no other follows."""
    return _Migrations().get_heads()


def differences(url: str) -> list[Any]:
    """How the database at `url` differs from the tables that the adapter uses, as Alembic says
    it; empty where they agree."""
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            return list(compare_metadata(context, METADATA))
    finally:
        engine.dispose()


def _run(connection: Connection) -> None:
    script = _Migrations()
    environment = EnvironmentContext(
        Config(), script, fn=lambda revision, _: script._upgrade_revs("head", revision)
    )
    with environment:
        environment.configure(connection=connection, target_metadata=METADATA)
        with environment.begin_transaction():
            try:
                environment.run_migrations()
            except CommandError as error:
                raise SchemaMismatch("the schema is one that this program does not know") from error


def _grant(connection: Connection, role: str | None, rights: Callable[[str], str]) -> None:
    """Grant a role, if there is one, the `rights` that each table's name has."""
    if role is None:
        return
    if not _ROLE.fullmatch(role):
        raise ValueError("a role's name has lower case, digits and underscores, at most 63")
    question = text(
        "SELECT rolsuper OR rolbypassrls OR pg_has_role(rolname, current_user, 'MEMBER') "
        "FROM pg_roles WHERE rolname = :role"
    )
    passes = connection.execute(question, {"role": role}).scalar()
    if passes is None:
        raise ValueError(f"there is no role {role}")
    if passes:
        raise ValueError(f"the role {role} could see past the policies on rows")
    connection.execute(text(f"GRANT SELECT ON alembic_version, tenants TO {role}"))
    for table in TENANT_OWNED:
        connection.execute(text(f"GRANT {rights(table.name)} ON {table.name} TO {role}"))


def rights_to_run(table: str) -> str:
    """What the application's role is granted on a table that tenants own."""
    if table in _APPEND_ONLY:
        return "SELECT, INSERT"
    if table in _DISPENSABLE:
        return "SELECT, INSERT, UPDATE, DELETE"
    return "SELECT, INSERT, UPDATE"


def rights_to_maintain(table: str) -> str:
    """What the role for maintenance is granted on a table that tenants own."""
    return "SELECT, DELETE"
