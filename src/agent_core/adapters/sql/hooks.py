"""Hook tasks in SQL."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, exists, or_, select, update

from agent_core.adapters.sql.leases import NO_LEASE, columns_of, lease_of
from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.runs import ENDED, run_of
from agent_core.adapters.sql.tables import HOOK_TASKS, RUNS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import Fenced
from agent_core.domain.hooks import HookKind, HookStatus, HookTask
from agent_core.domain.leases import Lease
from agent_core.domain.runs import Run
from agent_core.ports.hooks import HookRepository

_FINISHED = tuple(status for status in HookStatus if status.is_finished)


class SqlHookRepository(HookRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, task: HookTask) -> None:
        values = values_of(task._replace(lease=None))
        del values["lease"]
        what = f"hook {task.id}: {task.kind} of run {task.run_id}"
        self._transaction.insert(HOOK_TASKS, values | columns_of(task.lease), what)

    async def list_for_run(self, run_id: str) -> tuple[HookTask, ...]:
        return self._by_id(self._owned(run_id=run_id))

    async def list_unfinished(self, tenant_id: str) -> tuple[HookTask, ...]:
        unfinished = HOOK_TASKS.c.status.not_in(_FINISHED)
        return self._by_id(self._owned(tenant_id=tenant_id) & unfinished)

    async def list_missing(self, kind: HookKind, limit: int) -> tuple[Run, ...]:
        has_one = exists().where(self._owned(kind=kind), HOOK_TASKS.c.run_id == RUNS.c.id)
        ended = and_(self._transaction.owned(RUNS), RUNS.c.status.in_(ENDED))
        missing = select(RUNS).where(ended, ~has_one).order_by(RUNS.c.id).limit(limit)
        return tuple(run_of(row) for row in self._transaction.rows(missing))

    async def claim(self, owner: str, now: datetime, until: datetime) -> HookTask | None:
        lost = and_(HOOK_TASKS.c.status == HookStatus.RUNNING, HOOK_TASKS.c.lease_expires_at <= now)
        free = (
            select(HOOK_TASKS.c.id)
            .where(self._owned(), or_(HOOK_TASKS.c.status == HookStatus.PENDING, lost))
            .order_by(HOOK_TASKS.c.created_at, HOOK_TASKS.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        return self._change(
            self._owned(id=free),
            {
                "status": HookStatus.RUNNING,
                "attempts": HOOK_TASKS.c.attempts + 1,
                "lease_owner": owner,
                "lease_expires_at": until,
            },
        )

    async def finish(
        self, task_id: str, lease: Lease, status: HookStatus, at: datetime
    ) -> HookTask:
        held = self._owned(
            id=task_id,
            status=HookStatus.RUNNING,
            lease_owner=lease.owner,
            attempts=lease.epoch,
        )
        completed_at = at if status.is_finished else None
        finished = self._change(held, {"status": status, "completed_at": completed_at, **NO_LEASE})
        if finished is None:
            raise Fenced(f"hook {task_id}: not held by {lease.owner} under epoch {lease.epoch}")
        return finished

    def _owned(self, **equal: object) -> ColumnElement[bool]:
        return self._transaction.owned(HOOK_TASKS, **equal)

    def _change(self, condition: ColumnElement[bool], values: dict[str, Any]) -> HookTask | None:
        """Write `values` into the task for which `condition` holds; None if there is none."""
        changed = update(HOOK_TASKS).where(condition).values(values).returning(HOOK_TASKS)
        row = self._transaction.first(changed)
        return None if row is None else _task(row)

    def _by_id(self, condition: ColumnElement[bool]) -> tuple[HookTask, ...]:
        found = select(HOOK_TASKS).where(condition).order_by(HOOK_TASKS.c.id)
        return tuple(_task(row) for row in self._transaction.rows(found))


def _task(row: RowMapping) -> HookTask:
    return record_of(HookTask, row)._replace(lease=lease_of(row, "attempts"))
