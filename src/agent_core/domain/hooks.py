"""Hooks: work that follows a run which has ended, and that cannot change how it ended."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.leases import Lease

MAXIMUM_HOOK_ATTEMPTS = 3


class HookKind(StrEnum):
    """What there is to do after a run. A kind is added with the code that does it."""

    TRAJECTORY_MARKER = "trajectory_marker"
    """Marks the record of a run as complete, so that it may be exported."""


class HookStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"

    @property
    def is_finished(self) -> bool:
        return self in (HookStatus.DONE, HookStatus.FAILED)


class HookTask(NamedTuple):
    """One piece of work for one run. A run has at most one of each kind.

    `attempts` counts its claims, and the epoch of `lease` is the claim's number. `lease` is set
    exactly while it is RUNNING. A task that failed too often is FAILED.
    """

    id: str
    tenant_id: str
    run_id: str
    kind: HookKind
    status: HookStatus
    created_at: datetime
    attempts: int = 0
    lease: Lease | None = None
    completed_at: datetime | None = None
