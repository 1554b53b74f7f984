"""What migrations are made of. What is here never changes its meaning: the history would change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    UniqueConstraint,
)

from agent_core.adapters.sql.columns import ExactText, Instant, Json
from agent_core.adapters.sql.engine import is_postgresql
from agent_core.adapters.sql.transaction import TENANT_SETTING


def text(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, ExactText, nullable=optional)


def number(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional)


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def instant(name: str, *, optional: bool = False) -> Column[Any]:
    return Column(name, Instant, nullable=optional)


def json(name: str, *, optional: bool = False) -> Column[Any]:
    return Column(name, Json, nullable=optional)


def create_table_of_tenants(
    name: str,
    *columns: Column[Any],
    key: Sequence[str] = ("id",),
    unique: Sequence[Sequence[str]] = (),
    indexed: Sequence[Sequence[str]] = (),
    **refers: str,
) -> None:
    """A table of records that tenants own; `refers` names the table that a column refers to.

    The tenant comes first in every key.
    """
    op.create_table(
        name,
        text("tenant_id"),
        *columns,
        PrimaryKeyConstraint("tenant_id", *key, name=f"pk_{name}"),
        *(
            UniqueConstraint("tenant_id", *names, name=f"uq_{name}_tenant_id_{'_'.join(names)}")
            for names in unique
        ),
        _reference(f"fk_{name}_tenant_id", ["tenant_id"], ["tenants.id"]),
        *(
            _reference(
                f"fk_{name}_tenant_id_{column}",
                ["tenant_id", column],
                [f"{table}.tenant_id", f"{table}.id"],
            )
            for column, table in refers.items()
        ),
    )
    for names in indexed:
        op.create_index(f"ix_{name}_tenant_id_{'_'.join(names)}", name, ["tenant_id", *names])


def _reference(name: str, columns: Sequence[str], others: Sequence[str]) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(columns, others, name=name, deferrable=True, initially="DEFERRED")


def secure(table: str, column: str = "tenant_id") -> None:
    """Hold everybody to one tenant's rows of a table on PostgreSQL, the table's owner included.

    Without the setting there are no rows. SQLite has nothing of the kind: there the adapter's own
    conditions keep tenants apart.
    """
    if not is_postgresql(op.get_bind()):
        return
    tenant = f"current_setting('{TENANT_SETTING}', true)"
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY tenant_isolation ON {table} "
        f"USING ({column} = {tenant}) WITH CHECK ({column} = {tenant})"
    )


def act_for(tenant_id: str) -> None:
    """Let the rest of the migration write the rows of a tenant."""
    connection = op.get_bind()
    if is_postgresql(connection):
        connection.exec_driver_sql("SELECT set_config(%s, %s, true)", (TENANT_SETTING, tenant_id))
