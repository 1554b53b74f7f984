"""Runs in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    and_,
    func,
    literal,
    or_,
    select,
    update,
)

from agent_core.adapters.sql.columns import Instant
from agent_core.adapters.sql.leases import NO_LEASE, columns_of, lease_of
from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import RUNS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import Fenced, NotFound, StaleState
from agent_core.domain.leases import Lease
from agent_core.domain.runs import Run, RunStatus
from agent_core.ports.repositories import RunRepository

ENDED = tuple(status for status in RunStatus if status.is_terminal)
_WAITING = tuple(status for status in RunStatus if status.is_waiting)
_KEPT = ("lease_epoch", "attempts", "cancel_requested_at")
"""What an update leaves as it is stored."""


class SqlRunRepository(RunRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, run: Run) -> None:
        self._transaction.insert(RUNS, _values(run), f"run {run.id}")

    async def get(self, run_id: str) -> Run:
        row = self._transaction.first(select(RUNS).where(self._owned(id=run_id)))
        if row is None:
            raise NotFound(f"run {run_id}")
        return run_of(row)

    async def list_for_session(self, session_id: str) -> tuple[Run, ...]:
        found = select(RUNS).where(self._owned(session_id=session_id))
        return _runs(self._transaction.rows(found.order_by(RUNS.c.id)))

    async def list_unfinished(self, tenant_id: str) -> tuple[Run, ...]:
        unfinished = RUNS.c.status.not_in(ENDED)
        found = select(RUNS).where(self._owned(tenant_id=tenant_id), unfinished)
        return _runs(self._transaction.rows(found.order_by(RUNS.c.id)))

    async def update(self, run: Run, expected: RunStatus) -> Run:
        if run.status is expected or expected.can_become(run.status):
            values = _values(run)
            for name in (*_KEPT, *NO_LEASE):
                del values[name]
            if run.status is not RunStatus.RUNNING:
                values |= NO_LEASE
            same = self._owned(id=run.id, status=expected, lease_epoch=run.lease_epoch)
            if changed := self._change(same, values):
                return changed
        stored = await self.get(run.id)
        raise StaleState(
            f"run {run.id}: {stored.status} in epoch {stored.lease_epoch}, "
            f"not {expected} in {run.lease_epoch} -> {run.status}"
        )

    async def claim(
        self, owner: str, now: datetime, until: datetime, run_id: str | None = None
    ) -> Run | None:
        queued = select(RUNS.c.id).where(self._owned(status=RunStatus.QUEUED))
        if run_id is not None:
            queued = queued.where(RUNS.c.id == run_id)
        oldest = queued.order_by(RUNS.c.created_at, RUNS.c.id).limit(1)
        free = oldest.with_for_update(skip_locked=True).scalar_subquery()
        return self._change(
            self._owned(id=free),
            {
                "status": RunStatus.RUNNING,
                "lease_owner": owner,
                "lease_expires_at": until,
                "lease_epoch": RUNS.c.lease_epoch + 1,
                "attempts": RUNS.c.attempts + 1,
            },
        )

    async def hold(self, run_id: str, lease: Lease) -> Run:
        held = select(RUNS).where(self._held(run_id, lease)).with_for_update()
        row = self._transaction.first(held)
        if row is None:
            raise Fenced(f"run {run_id}: not held by {lease.owner} under epoch {lease.epoch}")
        return run_of(row)

    async def renew(self, run_id: str, lease: Lease, until: datetime) -> Run:
        renewed = self._change(self._held(run_id, lease), {"lease_expires_at": until})
        if renewed is None:
            raise Fenced(f"run {run_id}: not held by {lease.owner} under epoch {lease.epoch}")
        return renewed

    async def list_expired(self, now: datetime) -> tuple[Run, ...]:
        over = RUNS.c.lease_expires_at <= now
        found = select(RUNS).where(self._owned(status=RunStatus.RUNNING), over)
        by_end = found.order_by(RUNS.c.lease_expires_at, RUNS.c.id)
        return _runs(self._transaction.rows(by_end))

    async def requeue(self, run: Run, now: datetime, attempts: int) -> Run:
        same = self._owned(id=run.id, status=run.status, lease_epoch=run.lease_epoch)
        nobodys = or_(RUNS.c.lease_expires_at.is_(None), RUNS.c.lease_expires_at <= now)
        waits = RUNS.c.status.in_(_WAITING)
        queued = self._change(
            and_(same, or_(waits, and_(RUNS.c.status == RunStatus.RUNNING, nobodys))),
            {"status": RunStatus.QUEUED, "attempts": attempts, "suspension": None, **NO_LEASE},
        )
        if queued is not None:
            return queued
        stored = await self.get(run.id)
        raise StaleState(
            f"run {run.id}: {stored.status} in epoch {stored.lease_epoch}, and not to be queued"
        )

    async def request_cancel(self, run_id: str, at: datetime) -> Run:
        requested = RUNS.c.cancel_requested_at
        noted = self._change(
            and_(self._owned(id=run_id), RUNS.c.status.not_in(ENDED)),
            {"cancel_requested_at": func.coalesce(requested, literal(at, Instant))},
        )
        return noted or await self.get(run_id)

    def _owned(self, **equal: object) -> ColumnElement[bool]:
        return self._transaction.owned(RUNS, **equal)

    def _held(self, run_id: str, lease: Lease) -> ColumnElement[bool]:
        return self._owned(
            id=run_id,
            status=RunStatus.RUNNING,
            lease_owner=lease.owner,
            lease_epoch=lease.epoch,
        )

    def _change(self, condition: ColumnElement[bool], values: dict[str, Any]) -> Run | None:
        """Write `values` into the run for which `condition` holds; None if there is none."""
        row = self._transaction.first(update(RUNS).where(condition).values(values).returning(RUNS))
        return None if row is None else run_of(row)


def run_of(row: RowMapping) -> Run:
    """The run that a row of the table is."""
    return record_of(Run, row)._replace(lease=lease_of(row, "lease_epoch"))


def _runs(rows: Sequence[RowMapping]) -> tuple[Run, ...]:
    return tuple(run_of(row) for row in rows)


def _values(run: Run) -> dict[str, Any]:
    values = values_of(run._replace(lease=None))
    del values["lease"]
    return values | columns_of(run.lease)
