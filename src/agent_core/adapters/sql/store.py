"""A database as a store: where units of work come from."""

from __future__ import annotations

from sqlalchemy import inspect, select, text

from agent_core.adapters.sql.engine import open_engine
from agent_core.adapters.sql.failures import translated
from agent_core.adapters.sql.schema_version import SCHEMA_VERSION
from agent_core.adapters.sql.tables import TENANTS
from agent_core.adapters.sql.transaction import begin, commit
from agent_core.adapters.sql.unit_of_work import OpenUnits, SqlUnitOfWork
from agent_core.domain.errors import NotFound, SchemaMismatch
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory


class SqlStore:
    """Connections to one database. They open when they are needed, and `close` ends them."""

    def __init__(self, url: str) -> None:
        """Raises `ValueError` for a URL that is none of a database that this adapter knows."""
        self._engine = open_engine(url)
        self._open_units = OpenUnits()

    @property
    def is_embedded(self) -> bool:
        """Whether the database is a file of the process that opens it."""
        return self._engine.dialect.name == "sqlite"

    def schema_version(self) -> str | None:
        """Which migration came last; None before the first. Raises `StorageUnavailable`."""
        with translated("reading the version of the schema"), self._engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            return None if found is None else str(found)

    def check_schema(self) -> None:
        """Raises `SchemaMismatch` unless the database has the tables that this program needs, and
        `StorageUnavailable`."""
        found = self.schema_version()
        if found != SCHEMA_VERSION:
            raise SchemaMismatch(f"the schema is {found or 'not there'}; needed: {SCHEMA_VERSION}")

    def check_tenant(self, tenant_id: str) -> None:
        """Raises `NotFound` for a tenant that is not registered, and `StorageUnavailable`."""
        connection, transaction = begin(self._engine, tenant_id)
        with connection:
            if transaction.first(select(TENANTS).where(TENANTS.c.id == tenant_id)) is None:
                raise NotFound(f"tenant {tenant_id}")

    def register_tenant(self, tenant_id: str) -> None:
        """Let a tenant have records; one that is registered stays so. On PostgreSQL this takes the
        owner of the tables. `ValueError` for an empty id, which is what the setting of a
        transaction that names no tenant may look like."""
        if not tenant_id:
            raise ValueError("a tenant's id is not empty")
        connection, transaction = begin(self._engine, tenant_id)
        with connection:
            transaction.register_tenant()
            commit(connection)

    def units(self, tenant_id: str, listener: EventListener | None = None) -> UnitOfWorkFactory:
        """Units of work over the records of one tenant. `listener` is told of each event that
        these units commit."""

        def unit() -> SqlUnitOfWork:
            return SqlUnitOfWork(self._engine, tenant_id, self._open_units, listener)

        return unit

    def close(self) -> None:
        """End all connections. A unit of work after that opens new ones."""
        self._engine.dispose()
