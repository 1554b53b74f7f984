"""Keeping projections up with the log."""

from __future__ import annotations

from collections.abc import Iterable

from agent_core.domain.errors import StaleState
from agent_core.domain.projections import (
    PROJECTIONS,
    ProjectedState,
    Projection,
    empty,
    folded,
)
from agent_core.ports.persistence import UnitOfWorkFactory

SESSIONS_AT_ONCE = 100


class Projector:
    """Any number of these may work on one store: of two that take the same events one is stale,
    and changes nothing."""

    def __init__(
        self, *, units: UnitOfWorkFactory, projections: Iterable[Projection] = PROJECTIONS
    ) -> None:
        self._units = units
        self._projections = {one.name: one for one in projections}

    async def catch_up_all(self) -> int:
        """Take up what every session has appended; returns how many states were brought forward.

        At most `SESSIONS_AT_ONCE` sessions of each projection: call it again until it returns 0.
        """
        moved = 0
        for projection in self._projections.values():
            async with self._units() as unit:
                behind = await unit.projections.list_behind(
                    projection.name, projection.builder_version, SESSIONS_AT_ONCE
                )
            for session_id in behind:
                moved += await self._catch_up(projection, session_id)
        return moved

    async def state(self, name: str, session_id: str) -> ProjectedState:
        """The state of a projection, with every event that is committed now.

        Raises `KeyError` for a name that no projection has, and `NotFound` for the session.
        """
        projection = self._projections[name]
        async with self._units() as unit:
            await unit.sessions.get(session_id)
        await self._catch_up(projection, session_id)
        async with self._units() as unit:
            found = await unit.projections.get(name, session_id)
        return found or empty(projection, session_id)

    async def rebuilt(self, name: str, session_id: str) -> ProjectedState:
        """What the projection makes of the log from its first event; nothing is stored."""
        projection = self._projections[name]
        async with self._units() as unit:
            events = await unit.events.list_for_session(session_id)
        return folded(projection, empty(projection, session_id), events)

    async def _catch_up(self, projection: Projection, session_id: str) -> bool:
        """Whether this brought the state forward; a state of another version starts anew."""
        try:
            async with self._units() as unit:
                found = await unit.projections.get(projection.name, session_id)
                stored_at = None if found is None else found.position
                if found is None or found.builder_version != projection.builder_version:
                    found = empty(projection, session_id)
                events = await unit.events.list_for_session(session_id, after=found.position)
                if not events:
                    return False
                await unit.projections.save(folded(projection, found, events), stored_at)
        except StaleState:
            return False
        return True
