"""Maintenance of a store in memory."""

from __future__ import annotations

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.domain.errors import TenantBusy
from agent_core.ports.maintenance import TenantMaintenance


class InMemoryTenantMaintenance(TenantMaintenance):
    def __init__(self, store: InMemoryUnitOfWork) -> None:
        self._store = store

    async def truncate_tenant(self, tenant_id: str) -> None:
        async with self._store as store:
            runs = await store.runs.list_unfinished(tenant_id)
            hooks = await store.hooks.list_unfinished(tenant_id)
            if runs or hooks:
                raise TenantBusy(f"{tenant_id}: {len(runs)} runs and {len(hooks)} hooks left")
            self._remove(tenant_id)

    def _remove(self, tenant_id: str) -> None:
        store = self._store
        sessions = store.sessions.remove_tenant(tenant_id)
        for session_id in sessions:
            store.events.remove_session(session_id)
            store.projections.remove_session(session_id)
        for run in [run for run in store.runs.all() if run.session_id in sessions]:
            for records in (
                store.invocations,
                store.turns,
                store.checkpoints,
                store.reviews,
                store.hooks,
            ):
                records.remove_run(run.id)
            store.runs.remove(run.id)
