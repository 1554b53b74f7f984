"""Units of work over SQL: one connection and one transaction each."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from agent_core.adapters.sql.checkpoints import SqlCheckpointRepository
from agent_core.adapters.sql.event_log import SqlEventRepository
from agent_core.adapters.sql.hooks import SqlHookRepository
from agent_core.adapters.sql.invocations import SqlToolInvocationRepository
from agent_core.adapters.sql.model_turns import SqlModelTurnRepository
from agent_core.adapters.sql.projections import SqlProjectionRepository
from agent_core.adapters.sql.reviews import SqlEffectReviewRepository
from agent_core.adapters.sql.runs import SqlRunRepository
from agent_core.adapters.sql.sessions import SqlSessionRepository
from agent_core.adapters.sql.transaction import Transaction, begin, commit
from agent_core.domain.errors import NotFound
from agent_core.domain.turns import give_way
from agent_core.ports.persistence import EventListener, UnitOfWork


class OpenUnits(threading.local):
    """Whether this thread has a unit of work of a store open."""

    any: bool = False


class SqlUnitOfWork(UnitOfWork):
    """May be entered again after it was left. Before it opens it gives way, and then it waits for
    nobody but the database, and not for long.

    Of the units of one store a thread has one open at a time: nothing in a unit of work waits or
    gives way, so a second one means that the first was left open across something that does, a
    `RuntimeError`. Other threads and processes have their own, and see what was committed.
    """

    def __init__(
        self,
        engine: Engine,
        tenant_id: str,
        open_units: OpenUnits,
        listener: EventListener | None = None,
    ) -> None:
        self._engine = engine
        self._tenant_id = tenant_id
        self._open_units = open_units
        self._listener = listener
        self._connection: Connection | None = None

    @property
    def sessions(self) -> SqlSessionRepository:
        return self._sessions

    @property
    def runs(self) -> SqlRunRepository:
        return self._runs

    @property
    def events(self) -> SqlEventRepository:
        return self._events

    @property
    def invocations(self) -> SqlToolInvocationRepository:
        return self._invocations

    @property
    def checkpoints(self) -> SqlCheckpointRepository:
        return self._checkpoints

    @property
    def turns(self) -> SqlModelTurnRepository:
        return self._turns

    @property
    def reviews(self) -> SqlEffectReviewRepository:
        return self._reviews

    @property
    def hooks(self) -> SqlHookRepository:
        return self._hooks

    @property
    def projections(self) -> SqlProjectionRepository:
        return self._projections

    async def __aenter__(self) -> Self:
        await give_way()
        if self._open_units.any:
            raise RuntimeError("a unit of work is open already")
        self._connection, transaction = begin(self._engine, self._tenant_id)
        self._use(transaction)
        self._open_units.any = True
        return self

    def _use(self, transaction: Transaction) -> None:
        self._sessions = SqlSessionRepository(transaction)
        self._runs = SqlRunRepository(transaction)
        self._events = SqlEventRepository(transaction)
        self._invocations = SqlToolInvocationRepository(transaction)
        self._turns = SqlModelTurnRepository(transaction)
        self._reviews = SqlEffectReviewRepository(transaction)
        self._hooks = SqlHookRepository(transaction)
        self._projections = SqlProjectionRepository(transaction)
        self._checkpoints = SqlCheckpointRepository(transaction)

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        connection, self._connection = self._connection, None
        self._open_units.any = False
        assert connection is not None  # it was entered
        with connection:  # closing it rolls back what was not committed
            if error_type is not None:
                return
            try:
                commit(connection)
            except IntegrityError as broken:
                raise NotFound("a record that another one refers to") from broken
        if self._listener is not None:
            for event in self._events.appended:
                self._listener(event)
