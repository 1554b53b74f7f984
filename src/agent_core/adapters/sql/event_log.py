"""The event log in SQL."""

from __future__ import annotations

import json

from sqlalchemy import RowMapping, select

from agent_core.adapters.sql.columns import json_text
from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import EVENT_SEQUENCES, EVENTS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import AlreadyExists, UnknownPayloadVersion
from agent_core.domain.events import Event, EventType, NewEvent
from agent_core.domain.upcasting import check_written, decoded
from agent_core.ports.repositories import EventRepository

_KNOWN = frozenset(EventType)


class SqlEventRepository(EventRepository):
    """`appended` collects what this transaction has appended so far."""

    def __init__(self, transaction: Transaction) -> None:
        self.appended: list[Event] = []
        self._transaction = transaction

    async def append(self, event: NewEvent) -> Event:
        check_written(event)
        payload = json.loads(json_text(event.payload))
        sequence = self._count(event.session_id, 1)
        stored = Event(**{**event._asdict(), "payload": payload}, sequence=sequence)
        try:
            self._transaction.insert(EVENTS, values_of(stored), f"event {event.id}")
        except AlreadyExists:
            self._count(event.session_id, -1)
            raise
        self.appended.append(stored)
        return stored._replace(payload=json.loads(json_text(payload)))

    def _count(self, session_id: str, events: int) -> int:
        """Count the session's events on; gives the last sequence. Whoever else appends to it waits
        for this transaction, so that a later sequence is never seen before an earlier one."""
        counted = self._transaction.upsert(
            EVENT_SEQUENCES,
            {"session_id": session_id, "last": events},
            key=("tenant_id", "session_id"),
            changes={"last": EVENT_SEQUENCES.c.last + events},
        )
        return int(counted["last"])

    async def list_for_session(self, session_id: str, after: int = 0) -> tuple[Event, ...]:
        owned = self._transaction.owned(EVENTS, session_id=session_id)
        later = select(EVENTS).where(owned, EVENTS.c.sequence > after)
        return tuple(map(_event, self._transaction.rows(later.order_by(EVENTS.c.sequence))))


def _event(row: RowMapping) -> Event:
    if row["event_type"] not in _KNOWN:
        raise UnknownPayloadVersion(f"event {row['id']}: a type that is not known")
    return decoded(record_of(Event, row))
