"""Writing events: the one place that gives them an id, a time and an actor."""

from __future__ import annotations

from collections.abc import Mapping

from agent_core.domain.canonical import JsonValue
from agent_core.domain.events import ActorType, Event, EventType, NewEvent
from agent_core.domain.runs import Run
from agent_core.domain.sessions import Session
from agent_core.domain.upcasting import current_version
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWork

_RUNTIME = "agent_core"


class Journal:
    """Appends events within a unit of work that the caller has open."""

    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    async def record(
        self, unit: UnitOfWork, run: Run, event_type: EventType, payload: Mapping[str, JsonValue]
    ) -> None:
        """An event of `run`, caused by the runtime."""
        await unit.events.append(
            self._event(run.session_id, run.id, event_type, payload, ActorType.RUNTIME, _RUNTIME)
        )

    async def record_principal(
        self,
        unit: UnitOfWork,
        session: Session,
        run_id: str | None,
        event_type: EventType,
        payload: Mapping[str, JsonValue],
    ) -> Event:
        """An event caused by the principal of `session`, as it is stored."""
        actor_id = session.principal.id
        return await unit.events.append(
            self._event(session.id, run_id, event_type, payload, ActorType.PRINCIPAL, actor_id)
        )

    def _event(
        self,
        session_id: str,
        run_id: str | None,
        event_type: EventType,
        payload: Mapping[str, JsonValue],
        actor_type: ActorType,
        actor_id: str,
    ) -> NewEvent:
        return NewEvent(
            id=self._ids.new_id(),
            session_id=session_id,
            run_id=run_id,
            event_type=event_type,
            payload_schema_version=current_version(event_type),
            actor_type=actor_type,
            actor_id=actor_id,
            payload=dict(payload),
            created_at=self._clock.now(),
        )
