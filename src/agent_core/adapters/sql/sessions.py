"""Sessions in SQL."""

from __future__ import annotations

from sqlalchemy import select

from agent_core.adapters.sql.records import plain
from agent_core.adapters.sql.tables import SESSIONS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import NotFound
from agent_core.domain.sessions import Principal, Session
from agent_core.ports.repositories import SessionRepository


class SqlSessionRepository(SessionRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, session: Session) -> None:
        principal = session.principal
        values = {
            "id": session.id,
            "tenant_id": principal.tenant_id,
            "principal_id": principal.id,
            "principal_scopes": plain(principal.scopes),
            "tool_names": plain(session.tool_names),
            "created_at": session.created_at,
        }
        self._transaction.insert(SESSIONS, values, f"session {session.id}")

    async def get(self, session_id: str) -> Session:
        owned = self._transaction.owned(SESSIONS, id=session_id)
        # Not the strongest lock: records that name the session can still be added.
        locked = select(SESSIONS).where(owned).with_for_update(key_share=True)
        row = self._transaction.first(locked)
        if row is None:
            raise NotFound(f"session {session_id}")
        scopes = frozenset(row["principal_scopes"])
        principal = Principal(row["principal_id"], scopes, row["tenant_id"])
        return Session(row["id"], principal, tuple(row["tool_names"]), row["created_at"])
