"""Maintenance of a store, by a path of its own beside the units of work."""

from __future__ import annotations

from typing import Protocol


class TenantMaintenance(Protocol):
    async def truncate_tenant(self, tenant_id: str) -> None:
        """Remove every record of a tenant, all at once; nothing of another tenant is touched.

        `TenantBusy`, and nothing is removed, while a run or a hook of the tenant has not ended.
        """
        ...
