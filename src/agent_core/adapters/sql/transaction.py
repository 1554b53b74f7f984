"""One transaction of one tenant: where every statement goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Executable,
    RowMapping,
    Select,
    Table,
    and_,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from agent_core.adapters.sql.engine import is_postgresql
from agent_core.adapters.sql.failures import translated
from agent_core.adapters.sql.tables import TENANTS
from agent_core.domain.errors import AlreadyExists, NotFound

TENANT_SETTING = "app.tenant"
"""The setting of a PostgreSQL transaction that the policies on rows compare tenants with."""

Values: TypeAlias = Mapping[str, Any]


class Transaction:
    """Statements over the rows of one tenant, on a connection with a transaction open.

    Every statement names the tenant. On PostgreSQL the policies on rows make sure of it.
    """

    def __init__(self, connection: Connection, tenant_id: str) -> None:
        self.tenant_id = tenant_id
        self._connection = connection
        self._insert = postgresql.insert if is_postgresql(connection) else sqlite.insert
        if is_postgresql(connection):
            self.execute(select(func.set_config(TENANT_SETTING, tenant_id, True)))

    def execute(self, statement: Executable) -> Sequence[RowMapping]:
        """All rows that a statement gives; none for one that gives none."""
        with translated("a statement"):
            result = self._connection.execute(statement)
            return result.mappings().all() if result.returns_rows else ()

    def rows(self, statement: Select[Any]) -> Sequence[RowMapping]:
        """The rows of a query that says in which order they come."""
        return self.execute(statement)

    def first(self, statement: Executable) -> RowMapping | None:
        """The first row that a statement gives, if there is one."""
        found = self.execute(statement)
        return found[0] if found else None

    def insert(self, table: Table, values: Values, what: str) -> None:
        """Add a row. `what` names it in messages.

        `AlreadyExists` if one of its keys is taken, `NotFound` for another tenant's row.
        """
        tenant_id = values.get("tenant_id", self.tenant_id)
        if tenant_id != self.tenant_id:
            raise NotFound(f"{what}: tenant {tenant_id}")
        statement = (
            self._insert(table)
            .values({**values, "tenant_id": tenant_id})
            .on_conflict_do_nothing()
            .returning(table.c.tenant_id)
        )
        if not self.execute(statement):
            raise AlreadyExists(what)

    def upsert(
        self, table: Table, values: Values, *, key: Sequence[str], changes: Values
    ) -> RowMapping:
        """Add a row, or change the one that has its key; gives what is stored now."""
        statement = (
            self._insert(table)
            .values({**values, "tenant_id": self.tenant_id})
            .on_conflict_do_update(index_elements=list(key), set_=dict(changes))
            .returning(table)
        )
        return self.execute(statement)[0]

    def register_tenant(self) -> None:
        """Add the tenant itself, where it is not there."""
        self.execute(self._insert(TENANTS).values(id=self.tenant_id).on_conflict_do_nothing())

    def owned(self, table: Table, **equal: object) -> ColumnElement[bool]:
        """The condition for the tenant's rows of `table` whose columns are as given."""
        columns = [table.c[name] == value for name, value in equal.items()]
        return and_(table.c.tenant_id == self.tenant_id, *columns)


def begin(engine: Engine, tenant_id: str) -> tuple[Connection, Transaction]:
    """A connection with a transaction open. Whoever closes it rolls back what is not committed."""
    with translated("connecting"):
        connection = engine.connect()
    try:
        with translated("beginning"):
            connection.begin()
        return connection, Transaction(connection, tenant_id)
    except BaseException:
        connection.close()
        raise


def commit(connection: Connection) -> None:
    """End the transaction of a connection; `IntegrityError` if records name what is not there.

    A connection whose commit failed is closed: its transaction may be open still.
    """
    try:
        with translated("committing"):
            connection.commit()
    except BaseException:
        connection.invalidate()
        raise
