"""Units of work of one worker: each of its writes takes that it still holds the run."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from types import TracebackType

from agent_core.application import open_units
from agent_core.application.cancellation import CancellationToken
from agent_core.domain.leases import Lease
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory


class FencedUnits:
    """Makes units of work in which the run stays held under `lease`, from their beginning to their
    end. Entering one raises `Fenced` if it is not, before anything is read or written."""

    def __init__(
        self, units: UnitOfWorkFactory, run_id: str, lease: Lease, token: CancellationToken
    ) -> None:
        self._units = units
        self._run_id = run_id
        self._lease = lease
        self._token = token

    def __call__(self) -> AbstractAsyncContextManager[UnitOfWork]:
        return _FencedUnit(self._units(), self._run_id, self._lease, self._token)


class _FencedUnit(AbstractAsyncContextManager[UnitOfWork]):
    def __init__(
        self,
        unit: AbstractAsyncContextManager[UnitOfWork],
        run_id: str,
        lease: Lease,
        token: CancellationToken,
    ) -> None:
        self._unit = unit
        self._run_id = run_id
        self._lease = lease
        self._token = token

    async def __aenter__(self) -> UnitOfWork:
        unit = await self._unit.__aenter__()
        try:
            await self._hold(unit)
        except BaseException as error:
            await self._unit.__aexit__(type(error), error, error.__traceback__)
            raise
        open_units.opened()
        return unit

    async def _hold(self, unit: UnitOfWork) -> None:
        self._token.observe(await unit.runs.hold(self._run_id, self._lease))

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        open_units.closed()
        return await self._unit.__aexit__(error_type, error, traceback)
