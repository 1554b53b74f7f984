"""The in-memory unit of work, which is also the store: all records live in its repositories."""

from __future__ import annotations

from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from agent_core.adapters.in_memory.repositories import (
    InMemoryCheckpointRepository,
    InMemoryEventRepository,
    InMemoryModelTurnRepository,
    InMemoryProjectionRepository,
    InMemoryRunRepository,
    InMemorySessionRepository,
    InMemoryToolInvocationRepository,
)
from agent_core.adapters.in_memory.undo import UndoLog
from agent_core.domain.turns import give_way
from agent_core.ports.persistence import EventListener, UnitOfWork

if TYPE_CHECKING:
    from agent_core.adapters.in_memory.hooks import InMemoryHookRepository
    from agent_core.adapters.in_memory.reviews import InMemoryEffectReviewRepository


class InMemoryUnitOfWork(UnitOfWork):
    """May be entered again after it was left. Before it opens it gives way, as a database would
    let others go on. One at a time: nothing in a unit of work waits or gives way, so a second
    entry means that one was left open across something that does, a `RuntimeError`."""

    def __init__(self, listener: EventListener | None = None) -> None:
        self._listener = listener
        self._undo = UndoLog()
        self._open = False
        self._sessions = InMemorySessionRepository(self._undo)
        self._runs = InMemoryRunRepository(self._undo)
        self._events = InMemoryEventRepository(self._undo)
        self._invocations = InMemoryToolInvocationRepository(self._undo)
        self._turns = InMemoryModelTurnRepository(self._undo)
        self._checkpoints = InMemoryCheckpointRepository(self._undo)
        self._projections = InMemoryProjectionRepository(self._events, self._undo)

    @property
    def sessions(self) -> InMemorySessionRepository:
        return self._sessions

    @property
    def runs(self) -> InMemoryRunRepository:
        return self._runs

    @property
    def events(self) -> InMemoryEventRepository:
        return self._events

    @property
    def invocations(self) -> InMemoryToolInvocationRepository:
        return self._invocations

    @property
    def turns(self) -> InMemoryModelTurnRepository:
        return self._turns

    # Made when they are first used: few runs leave anything to review, and hooks are for workers.

    @cached_property
    def reviews(self) -> InMemoryEffectReviewRepository:
        from agent_core.adapters.in_memory.reviews import InMemoryEffectReviewRepository

        return InMemoryEffectReviewRepository(self._undo)

    @cached_property
    def hooks(self) -> InMemoryHookRepository:
        from agent_core.adapters.in_memory.hooks import InMemoryHookRepository

        return InMemoryHookRepository(self._runs, self._undo)

    @property
    def checkpoints(self) -> InMemoryCheckpointRepository:
        return self._checkpoints

    @property
    def projections(self) -> InMemoryProjectionRepository:
        return self._projections

    async def __aenter__(self) -> Self:
        await give_way()
        if self._open:
            raise RuntimeError("a unit of work is open already")
        self._open = True
        self._undo.forget()
        self._events.appended.clear()
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open = False
        if error_type is not None:
            self._undo.roll_back()
            return
        self._undo.forget()
        if self._listener is not None:
            for event in tuple(self._events.appended):
                self._listener(event)
