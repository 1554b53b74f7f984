"""Taking runs from the queue, and executing each under a lease of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta
from typing import TypeAlias

from agent_core.application.cancellation import CancellationToken
from agent_core.application.executor import Executed, RunExecutor
from agent_core.application.fencing import FencedUnits
from agent_core.application.journal import Journal
from agent_core.domain.canonical import JsonObject
from agent_core.domain.errors import Fenced
from agent_core.domain.events import EventType
from agent_core.domain.leases import LEASE_SECONDS, Lease
from agent_core.domain.runs import OutcomeKind, Run
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

LEASE_EXPIRED = "lease_expired"
ANSWERED = "answered"
RELEASED = "released"
"""Why a run was put back into the queue."""

BuildExecutor: TypeAlias = Callable[[UnitOfWorkFactory, CancellationToken], RunExecutor]
"""Makes what executes one run, with the units of work of the hold on it."""

Heartbeat: TypeAlias = Callable[
    [str, Lease, CancellationToken], AbstractAsyncContextManager[object]
]
"""A context in which the lease of a run is renewed, and the token told what is seen then."""


class RunDispatcher:
    """`owner` names who holds the runs that are claimed here; no two workers have one name."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        journal: Journal,
        build_executor: BuildExecutor,
        owner: str,
        heartbeat: Heartbeat | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal
        self._build_executor = build_executor
        self._owner = owner
        self._heartbeat = heartbeat
        self._lease = timedelta(seconds=lease_seconds)

    async def claim(self, run_id: str | None = None) -> Run | None:
        """Take the oldest queued run, or the one that is named; None if there is none to take."""
        now = self._clock.now()
        async with self._units() as unit:
            run = await unit.runs.claim(self._owner, now, now + self._lease, run_id)
            if run is not None:
                payload: JsonObject = {
                    "lease_epoch": run.lease_epoch,
                    "attempt_number": run.attempts,
                }
                await self._journal.record(unit, run, EventType.RUN_CLAIMED, payload)
        return run

    async def execute(self, run: Run) -> Executed:
        """Execute a run that was claimed here until it ends, waits, or is lost to another holder.

        Raises `StorageUnavailable` if the store fails: the run goes on when its lease is over. If
        the runtime itself breaks, the run has ended as `internal_error` and the error is raised.
        """
        lease = _lease_of(run)
        token = CancellationToken()
        token.observe(run)
        executor = self._build_executor(FencedUnits(self._units, run.id, lease, token), token)
        beating = self._heartbeat(run.id, lease, token) if self._heartbeat else nullcontext()
        try:
            async with beating:
                return await executor.execute(run)
        except Fenced:
            return Executed(await self._fenced(run, lease), OutcomeKind.FENCED)

    async def release(self, run: Run) -> None:
        """Give a run back that was claimed here and has not ended, as if it had not been taken.
        Does nothing where it is not held any more."""
        now = self._clock.now()
        try:
            async with self._units() as unit:
                held = await unit.runs.renew(run.id, _lease_of(run), now)
                queued = await unit.runs.requeue(held, now, held.attempts - 1)
                payload: JsonObject = {"reason": RELEASED, "lease_epoch": queued.lease_epoch}
                await self._journal.record(unit, queued, EventType.RUN_REQUEUED, payload)
        except Fenced:
            return

    async def _fenced(self, run: Run, lease: Lease) -> Run:
        """The one thing that is written by a worker which lost its run."""
        async with self._units() as unit:
            stored = await unit.runs.get(run.id)
            await self._journal.record(
                unit, stored, EventType.RUN_FENCED, {"lease_epoch": lease.epoch}
            )
        return stored


def _lease_of(run: Run) -> Lease:
    """Raises `ValueError` for a run that nobody holds."""
    if run.lease is None:
        raise ValueError(f"run {run.id} was not claimed")
    return run.lease
