"""A process of a history: a coroutine that goes on when it is told to, and that can be killed.

Nothing of a killed process runs any more: it stays where it is, with all that it has in memory, and
what it had not committed the store has rolled back.
"""

from __future__ import annotations

import contextvars
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType
from typing import Any, NoReturn, Protocol, cast

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.sql.unit_of_work import SqlUnitOfWork
from agent_core.domain.errors import StorageFull, StorageUnavailable
from agent_core.domain.events import Event
from agent_core.domain.turns import give_way
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory
from tests.resilience.simulator.faults import (
    AFTER_COMMIT,
    ANSWER_LOST,
    BEFORE_COMMIT,
    BEFORE_UNIT,
    FULL,
    REFUSED,
    Faults,
)


class _Buried(BaseException):
    """Ends the coroutine of a process that was killed, when nobody looks any more."""


class Around(Protocol):
    """What a process is told to, or asks for."""

    def lose_lease(self, process: Process) -> None:
        """Let the leases of `process` end while it does not go on."""
        ...

    def committing(self, process: Process) -> None:
        """The events that are committed next are those of `process`."""
        ...

    def withdrawn(self, events: Sequence[Event]) -> None:
        """These were appended and are rolled back now."""
        ...


class Process:
    """`name` is the owner of what it holds. `pauses` counts the turns that it does not take."""

    def __init__(self, name: str, faults: Faults, around: Around) -> None:
        self.name = name
        self.is_alive = True
        self.is_idle = False
        self.pauses = 0
        self._is_buried = False
        self._faults = faults
        self._around = around
        # What a coroutine leaves in context variables when it is killed is its own.
        self._context = contextvars.copy_context()
        self._work: Coroutine[Any, Any, None] | None = None

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        self._work = work

    def go_on(self) -> bool:
        """Until it gives way; False if it was killed meanwhile. Raises what ends it."""
        assert self._work is not None and self.is_alive
        try:
            self._context.run(self._work.send, None)
        except BaseException:
            self._work = None
            raise
        return self.is_alive

    def bury(self) -> None:
        """Let go of a coroutine that was not finished, when the history is over."""
        if self._work is None:
            return
        if self.is_alive:
            self._work.close()
            return
        # Closing does not reach through an asynchronous generator on every version of Python.
        self._is_buried = True
        with suppress(_Buried, StopIteration):
            self._context.run(self._work.send, None)

    async def at(self, point: str) -> None:
        """A point at which it may be killed, or not go on for longer than its leases last."""
        if not self.is_idle:  # nothing can be lost by one that has nothing to do
            if self._faults.kills(point):
                await self.die()
            if self._faults.loses_lease():
                self._around.lose_lease(self)
        await give_way()

    async def die(self) -> NoReturn:
        self.is_alive = False
        while not self._is_buried:
            await give_way()
        raise _Buried

    def units(self, store: UnitOfWorkFactory) -> UnitOfWorkFactory:
        """Units of work of this process over the store of all."""
        return lambda: _Unit(store(), self, self._faults, self._around)


class _Unit(AbstractAsyncContextManager[UnitOfWork]):
    def __init__(
        self,
        unit: AbstractAsyncContextManager[UnitOfWork],
        process: Process,
        faults: Faults,
        around: Around,
    ) -> None:
        self._unit = unit
        self._process = process
        self._faults = faults
        self._around = around
        self._appended: Sequence[Event] = ()

    async def __aenter__(self) -> UnitOfWork:
        await self._process.at(BEFORE_UNIT)
        fault = self._faults.of_beginning()
        if fault is REFUSED:
            raise StorageUnavailable("simulated")
        unit = await self._unit.__aenter__()
        self._appended = cast(InMemoryUnitOfWork | SqlUnitOfWork, unit).events.appended
        if fault is FULL:
            await self._roll_back(StorageFull("simulated"))
        return unit

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        if error_type is not None:
            self._around.withdrawn(self._appended)
            return await self._unit.__aexit__(error_type, error, traceback)
        if not self._process.is_idle and self._faults.kills(BEFORE_COMMIT):
            await self._undone(StorageUnavailable("killed"))
            await self._process.die()
        fault = self._faults.of_commit()
        if fault not in (None, ANSWER_LOST):
            await self._roll_back(StorageUnavailable("simulated"))
        self._around.committing(self._process)
        await self._unit.__aexit__(None, None, None)
        if fault is ANSWER_LOST:
            raise StorageUnavailable("simulated")
        await self._process.at(AFTER_COMMIT)
        return None

    async def _undone(self, error: StorageUnavailable) -> None:
        self._around.withdrawn(self._appended)
        await self._unit.__aexit__(type(error), error, None)

    async def _roll_back(self, error: StorageUnavailable) -> NoReturn:
        await self._undone(error)
        raise error
