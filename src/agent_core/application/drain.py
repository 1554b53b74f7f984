"""Waiting until nothing of a tenant is under way any more."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.domain.errors import TenantBusy
from agent_core.domain.hooks import HookKind
from agent_core.domain.runs import Run
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

POLL_SECONDS = 0.02


class Drain:
    """Looks only: workers do the work."""

    def __init__(self, *, units: UnitOfWorkFactory, clock: Clock) -> None:
        self._units = units
        self._clock = clock

    async def wait(self, tenant_id: str, timeout_seconds: float) -> tuple[Run, ...]:
        """Until every run of the tenant has ended or waits for somebody, and every hook is done;
        returns the runs that wait. Raises `TenantBusy`, which says what is left, if that takes
        longer than `timeout_seconds`."""
        waited = 0.0
        while True:
            waiting, left = await self._look(tenant_id)
            if not left:
                return waiting
            if waited >= timeout_seconds:
                raise TenantBusy(f"{tenant_id}: {', '.join(left)}")
            await self._clock.sleep(POLL_SECONDS)
            waited += POLL_SECONDS

    async def _look(self, tenant_id: str) -> tuple[tuple[Run, ...], Sequence[str]]:
        async with self._units() as unit:
            runs = await unit.runs.list_unfinished(tenant_id)
            hooks = await unit.hooks.list_unfinished(tenant_id)
            missing = {
                run.id
                for kind in HookKind
                for run in await unit.hooks.list_missing(kind, 1_000)
                if run.tenant_id == tenant_id
            }
        left = [f"run {run.id} is {run.status}" for run in runs if not run.status.is_waiting]
        left += [f"hook {hook.kind} of run {hook.run_id} is {hook.status}" for hook in hooks]
        left += [f"run {run_id} has no hooks yet" for run_id in sorted(missing)]
        return tuple(run for run in runs if run.status.is_waiting), left
