"""What is looked for from time to time, because whoever should have done it may be gone."""

from __future__ import annotations

from agent_core.application.dispatcher import LEASE_EXPIRED
from agent_core.application.hooks import HookQueue
from agent_core.application.journal import Journal
from agent_core.domain.errors import StaleState
from agent_core.domain.events import EventType
from agent_core.domain.hooks import HookKind
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

MAXIMUM_HOOKS_A_SWEEP = 100


class Sweeps:
    """Several workers may sweep at the same time: each finding is dealt with once."""

    def __init__(
        self, *, units: UnitOfWorkFactory, clock: Clock, journal: Journal, hooks: HookQueue
    ) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal
        self._hooks = hooks

    async def reclaim(self) -> int:
        """Put the runs whose lease is over back into the queue; returns how many."""
        async with self._units() as unit:
            expired = await unit.runs.list_expired(self._clock.now())
        count = 0
        for run in expired:
            try:
                async with self._units() as unit:
                    run = await unit.runs.requeue(run, self._clock.now(), run.attempts)
                    await self._journal.record(
                        unit,
                        run,
                        EventType.RUN_REQUEUED,
                        {"reason": LEASE_EXPIRED, "lease_epoch": run.lease_epoch},
                    )
            except StaleState:  # its owner was only slow, or somebody else was faster
                continue
            count += 1
        return count

    async def enqueue_hooks(self) -> int:
        """Enqueue the hooks of ended runs that have none; returns for how many runs."""
        async with self._units() as unit:
            missing = {
                run.id: run
                for kind in HookKind
                for run in await unit.hooks.list_missing(kind, MAXIMUM_HOOKS_A_SWEEP)
            }
        for _, run in sorted(missing.items()):
            await self._hooks.enqueue(run)
        return len(missing)
