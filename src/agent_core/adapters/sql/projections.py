"""States of projections in SQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, exists, or_, select, update

from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import EVENTS, PROJECTIONS, SESSIONS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import AlreadyExists, StaleState
from agent_core.domain.projections import ProjectedState
from agent_core.ports.repositories import ProjectionRepository


class SqlProjectionRepository(ProjectionRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def get(self, projection: str, session_id: str) -> ProjectedState | None:
        state = self._state(projection, session_id)
        row = self._transaction.first(select(PROJECTIONS).where(state))
        return None if row is None else record_of(ProjectedState, row)

    async def save(self, state: ProjectedState, expected_position: int | None) -> None:
        what = f"projection {state.projection} of session {state.session_id}"
        if expected_position is None:
            try:
                self._transaction.insert(PROJECTIONS, values_of(state), what)
            except AlreadyExists:
                raise StaleState(f"{what}: there is a state already") from None
            return
        stored = self._state(state.projection, state.session_id)
        saved = (
            update(PROJECTIONS)
            .where(stored, PROJECTIONS.c.position == expected_position)
            .values(values_of(state))
            .returning(PROJECTIONS.c.position)
        )
        if self._transaction.first(saved) is None:
            raise StaleState(f"{what}: not at {expected_position}")

    async def list_behind(
        self, projection: str, builder_version: int, limit: int
    ) -> tuple[str, ...]:
        state = self._state(projection, SESSIONS.c.id)
        event = self._transaction.owned(EVENTS, session_id=SESSIONS.c.id)
        beyond = exists().where(event, EVENTS.c.sequence > PROJECTIONS.c.position)
        behind = or_(
            PROJECTIONS.c.position.is_(None),
            PROJECTIONS.c.builder_version != builder_version,
            beyond,
        )
        found = (
            select(SESSIONS.c.id)
            .outerjoin(PROJECTIONS, state)
            .where(self._transaction.owned(SESSIONS), and_(exists().where(event), behind))
            .order_by(SESSIONS.c.id)
            .limit(limit)
        )
        return tuple(row["id"] for row in self._transaction.rows(found))

    def _state(self, projection: str, session_id: object) -> ColumnElement[bool]:
        return self._transaction.owned(PROJECTIONS, projection=projection, session_id=session_id)
