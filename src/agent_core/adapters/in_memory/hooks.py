"""Hook tasks in memory."""

from __future__ import annotations

from datetime import datetime

from agent_core.adapters.in_memory.repositories import InMemoryRunRepository
from agent_core.adapters.in_memory.undo import UndoLog
from agent_core.domain.errors import AlreadyExists, Fenced
from agent_core.domain.hooks import HookKind, HookStatus, HookTask
from agent_core.domain.leases import Lease
from agent_core.domain.runs import Run
from agent_core.ports.hooks import HookRepository


class InMemoryHookRepository(HookRepository):
    def __init__(
        self, runs: InMemoryRunRepository | None = None, undo: UndoLog | None = None
    ) -> None:
        self._undo = undo or UndoLog()
        self._runs = runs or InMemoryRunRepository(self._undo)
        self._tasks: dict[str, HookTask] = {}

    async def add(self, task: HookTask) -> None:
        for one in self._tasks.values():
            if task.id == one.id or (task.run_id, task.kind) == (one.run_id, one.kind):
                raise AlreadyExists(f"hook {task.id}: {task.kind} of run {task.run_id}")
        self._tasks[task.id] = task
        self._undo.record(lambda: self._tasks.pop(task.id))

    async def list_for_run(self, run_id: str) -> tuple[HookTask, ...]:
        return tuple(one for _, one in sorted(self._tasks.items()) if one.run_id == run_id)

    async def list_unfinished(self, tenant_id: str) -> tuple[HookTask, ...]:
        return tuple(
            one
            for _, one in sorted(self._tasks.items())
            if one.tenant_id == tenant_id and not one.status.is_finished
        )

    async def list_missing(self, kind: HookKind, limit: int) -> tuple[Run, ...]:
        have = {one.run_id for one in self._tasks.values() if one.kind is kind}
        missing = [run for run in self._runs.all() if run.status.is_terminal and run.id not in have]
        return tuple(sorted(missing, key=lambda run: run.id)[:limit])

    async def claim(self, owner: str, now: datetime, until: datetime) -> HookTask | None:
        free = [
            one
            for one in self._tasks.values()
            if one.status is HookStatus.PENDING
            or (one.lease is not None and one.lease.is_over(now))
        ]
        if not free:
            return None
        oldest = min(free, key=lambda one: (one.created_at, one.id))
        attempts = oldest.attempts + 1
        return self._put(
            oldest,
            oldest._replace(
                status=HookStatus.RUNNING,
                attempts=attempts,
                lease=Lease(owner, attempts, until),
            ),
        )

    async def finish(
        self, task_id: str, lease: Lease, status: HookStatus, at: datetime
    ) -> HookTask:
        stored = self._tasks.get(task_id)
        held = None if stored is None else stored.lease
        if stored is None or held is None or held[:2] != lease[:2]:
            raise Fenced(f"hook {task_id}: not held under epoch {lease.epoch}")
        completed_at = at if status.is_finished else None
        return self._put(
            stored,
            stored._replace(status=status, lease=None, completed_at=completed_at),
        )

    def remove_run(self, run_id: str) -> None:
        for one in [one for one in self._tasks.values() if one.run_id == run_id]:
            del self._tasks[one.id]

    def _put(self, stored: HookTask, task: HookTask) -> HookTask:
        self._tasks[task.id] = task
        self._undo.record(lambda: self._tasks.update({task.id: stored}))
        return task
