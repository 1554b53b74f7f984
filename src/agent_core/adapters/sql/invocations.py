"""Tool invocations in SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, case, func, literal, select, update

from agent_core.adapters.sql.columns import Instant
from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import TOOL_INVOCATIONS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import NotFound, StaleState
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.ports.repositories import ToolInvocationRepository

_ENDED = tuple(status for status in InvocationStatus if status.is_terminal)


class SqlToolInvocationRepository(ToolInvocationRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, invocation: ToolInvocation) -> None:
        what = f"invocation {invocation.id} with key {invocation.idempotency_key}"
        self._transaction.insert(TOOL_INVOCATIONS, values_of(invocation), what)

    async def find_by_key(self, idempotency_key: str) -> ToolInvocation | None:
        return self._find(self._owned(idempotency_key=idempotency_key))

    async def list_for_run(self, run_id: str) -> tuple[ToolInvocation, ...]:
        found = select(TOOL_INVOCATIONS).where(self._owned(run_id=run_id))
        rows = self._transaction.rows(found.order_by(TOOL_INVOCATIONS.c.id))
        return tuple(record_of(ToolInvocation, row) for row in rows)

    async def get(self, invocation_id: str) -> ToolInvocation:
        found = self._find(self._owned(id=invocation_id))
        if found is None:
            raise NotFound(f"invocation {invocation_id}")
        return found

    async def update(
        self, invocation: ToolInvocation, expected: InvocationStatus
    ) -> ToolInvocation:
        if expected.can_become(invocation.status):
            values = values_of(invocation)
            del values["effect_sent_at"]
            changed = (
                update(TOOL_INVOCATIONS)
                .where(self._owned(id=invocation.id, status=expected))
                .values(values)
                .returning(TOOL_INVOCATIONS)
            )
            if row := self._transaction.first(changed):
                return record_of(ToolInvocation, row)
        stored = await self.get(invocation.id)
        raise StaleState(
            f"invocation {invocation.id}: {stored.status}, not {expected} -> {invocation.status}"
        )

    async def take_over(self, invocation_id: str, from_epoch: int, to_epoch: int) -> ToolInvocation:
        columns = TOOL_INVOCATIONS.c
        again = case((columns.status == InvocationStatus.RUNNING, 1), else_=0)
        handed_on = (
            update(TOOL_INVOCATIONS)
            .where(self._owned(id=invocation_id, lease_epoch=from_epoch))
            .where(columns.status.not_in(_ENDED))
            .values(lease_epoch=to_epoch, attempt_number=columns.attempt_number + again)
            .returning(TOOL_INVOCATIONS)
        )
        if row := self._transaction.first(handed_on):
            return record_of(ToolInvocation, row)
        stored = await self.get(invocation_id)
        raise StaleState(f"invocation {invocation_id}: {stored.status} in another hold")

    async def mark_effect_sent(self, invocation_id: str, at: datetime) -> datetime:
        sent_at = TOOL_INVOCATIONS.c.effect_sent_at
        marked = (
            update(TOOL_INVOCATIONS)
            .where(self._owned(id=invocation_id, status=InvocationStatus.RUNNING))
            .values(effect_sent_at=func.coalesce(sent_at, literal(at, Instant)))
            .returning(sent_at)
        )
        if row := self._transaction.first(marked):
            holds: datetime = row["effect_sent_at"]
            return holds
        stored = await self.get(invocation_id)
        raise StaleState(f"invocation {invocation_id}: {stored.status}, not RUNNING")

    def _owned(self, **equal: object) -> ColumnElement[bool]:
        return self._transaction.owned(TOOL_INVOCATIONS, **equal)

    def _find(self, condition: ColumnElement[bool]) -> ToolInvocation | None:
        row = self._transaction.first(select(TOOL_INVOCATIONS).where(condition))
        return None if row is None else record_of(ToolInvocation, row)
