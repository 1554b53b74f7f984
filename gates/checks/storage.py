"""The check of the area storage; docs/specs/event_log.md declares its gate."""

from __future__ import annotations

from hardgate.kinds.property import PropertyContext


def tenant_isolation(context: PropertyContext) -> None:
    """Migrates a PostgreSQL server of its own, and tries to get at other tenants' rows there."""
    from gates.checks import storage_tenants

    storage_tenants.check(context)
