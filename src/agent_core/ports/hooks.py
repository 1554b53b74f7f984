"""Where the tasks that follow a run are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from agent_core.domain.hooks import HookKind, HookStatus, HookTask
from agent_core.domain.leases import Lease
from agent_core.domain.runs import Run


class HookRepository(Protocol):
    async def add(self, task: HookTask) -> None:
        """Store a new task. `AlreadyExists` for an id, or a kind of the run, that has one."""
        ...

    async def list_for_run(self, run_id: str) -> tuple[HookTask, ...]:
        """The tasks of a run, by id."""
        ...

    async def list_unfinished(self, tenant_id: str) -> tuple[HookTask, ...]:
        """The tasks of a tenant that are PENDING or RUNNING, by id."""
        ...

    async def list_missing(self, kind: HookKind, limit: int) -> tuple[Run, ...]:
        """The first `limit` runs, by id, that have ended and have no task of this kind."""
        ...

    async def claim(self, owner: str, now: datetime, until: datetime) -> HookTask | None:
        """Take the oldest task, by `created_at`, then id, that is PENDING, or RUNNING with a lease
        that is over at `now`.

        It is RUNNING then, with one attempt more and a lease until `until` whose epoch is the
        number of the attempt. A task that somebody else is claiming at this moment is passed over.
        None if there is nothing to take.
        """
        ...

    async def finish(
        self, task_id: str, lease: Lease, status: HookStatus, at: datetime
    ) -> HookTask:
        """End the attempt that holds `lease`: the task is DONE, FAILED, or PENDING again, has no
        lease, and `completed_at` if it is finished. Returns what is stored now.

        `Fenced` if the task is not RUNNING under owner and epoch of `lease`.
        """
        ...
