"""Checkpoints in SQL."""

from __future__ import annotations

from sqlalchemy import delete, func, select

from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import CHECKPOINTS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.checkpoints import Checkpoint, StoredCheckpoint, restored, stored
from agent_core.ports.repositories import CheckpointRepository


class SqlCheckpointRepository(CheckpointRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, checkpoint: Checkpoint) -> None:
        kept = stored(checkpoint, await self.latest(checkpoint.run_id))
        values = {**values_of(kept.checkpoint), "kept_items": kept.kept_items}
        what = f"checkpoint {checkpoint.version} of run {checkpoint.run_id}"
        self._transaction.insert(CHECKPOINTS, values, what)

    async def latest(self, run_id: str) -> Checkpoint | None:
        chain = await self.chain(run_id)
        return restored(chain) if chain else None

    async def chain(self, run_id: str) -> tuple[StoredCheckpoint, ...]:
        owned = self._transaction.owned(CHECKPOINTS, run_id=run_id)
        version = CHECKPOINTS.c.version
        last_full = (
            select(func.coalesce(func.max(version), 0))
            .where(owned, CHECKPOINTS.c.kept_items.is_(None))
            .scalar_subquery()
        )
        kept = select(CHECKPOINTS).where(owned, version >= last_full)
        rows = self._transaction.rows(kept.order_by(version))
        return tuple(
            StoredCheckpoint(record_of(Checkpoint, row), row["kept_items"]) for row in rows
        )

    async def delete_for_run(self, run_id: str) -> int:
        owned = self._transaction.owned(CHECKPOINTS, run_id=run_id)
        deleted = delete(CHECKPOINTS).where(owned).returning(CHECKPOINTS.c.version)
        return len(self._transaction.execute(deleted))
