"""Leases as the columns `lease_owner` and `lease_expires_at`, beside the one that has the epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_core.domain.leases import Lease

NO_LEASE = {"lease_owner": None, "lease_expires_at": None}


def columns_of(lease: Lease | None) -> dict[str, Any]:
    """What the two columns hold."""
    if lease is None:
        return dict(NO_LEASE)
    return {"lease_owner": lease.owner, "lease_expires_at": lease.expires_at}


def lease_of(row: Mapping[Any, Any], epoch: str) -> Lease | None:
    """The lease in a row whose column `epoch` has its epoch."""
    if row["lease_owner"] is None:
        return None
    return Lease(row["lease_owner"], row[epoch], row["lease_expires_at"])
