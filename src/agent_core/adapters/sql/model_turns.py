"""Turns of the model in SQL."""

from __future__ import annotations

from sqlalchemy import select

from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import MODEL_TURNS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.ports.repositories import ModelTurnRepository


class SqlModelTurnRepository(ModelTurnRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, turn: RecordedTurn) -> None:
        what = f"turn {turn.step_number} of run {turn.run_id}"
        self._transaction.insert(MODEL_TURNS, values_of(turn), what)

    async def list_for_run(self, run_id: str, after_step: int = 0) -> tuple[RecordedTurn, ...]:
        step = MODEL_TURNS.c.step_number
        owned = self._transaction.owned(MODEL_TURNS, run_id=run_id)
        later = select(MODEL_TURNS).where(owned, step > after_step).order_by(step)
        return tuple(record_of(RecordedTurn, row) for row in self._transaction.rows(later))
