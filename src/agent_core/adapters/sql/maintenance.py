"""Maintenance of a database, by a role of its own on PostgreSQL."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from agent_core.adapters.sql.engine import open_engine
from agent_core.adapters.sql.hooks import SqlHookRepository
from agent_core.adapters.sql.runs import SqlRunRepository
from agent_core.adapters.sql.tables import TENANT_OWNED
from agent_core.adapters.sql.transaction import Transaction, begin, commit
from agent_core.domain.errors import TenantBusy
from agent_core.ports.maintenance import TenantMaintenance


class SqlTenantMaintenance(TenantMaintenance):
    """Has its own connections, which `close` ends. The runtime's role may not delete what this one
    may, and this one may not write."""

    def __init__(self, url: str) -> None:
        """Raises `ValueError` for a URL that is none of a database that this adapter knows."""
        self._engine = open_engine(url)

    async def truncate_tenant(self, tenant_id: str) -> None:
        connection, transaction = begin(self._engine, tenant_id)
        try:
            with connection:
                await self._truncate(transaction)
                commit(connection)
        except IntegrityError as error:
            raise TenantBusy(f"{tenant_id}: a record was written meanwhile") from error

    @staticmethod
    async def _truncate(transaction: Transaction) -> None:
        tenant_id = transaction.tenant_id
        runs = await SqlRunRepository(transaction).list_unfinished(tenant_id)
        hooks = await SqlHookRepository(transaction).list_unfinished(tenant_id)
        if runs or hooks:
            raise TenantBusy(f"{tenant_id}: {len(runs)} runs and {len(hooks)} hooks left")
        for table in reversed(TENANT_OWNED):
            transaction.execute(delete(table).where(transaction.owned(table)))

    def close(self) -> None:
        """End all connections."""
        self._engine.dispose()
