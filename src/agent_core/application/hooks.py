"""Hooks: enqueued once a run has ended, and done by whichever worker comes to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TypeAlias

from agent_core.domain.errors import AlreadyExists, Fenced, StorageUnavailable
from agent_core.domain.hooks import MAXIMUM_HOOK_ATTEMPTS, HookKind, HookStatus, HookTask
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.runs import Run
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWorkFactory


class HookFailed(Exception):
    """The work of a hook cannot be done."""


HookWork: TypeAlias = Callable[[UnitOfWorkFactory, Run], Awaitable[None]]
"""Does the work of one kind of hook, in units of work of its own. It may be done again, where its
worker was lost before that was on record; any error fails the attempt."""


class HookQueue:
    """Puts the hooks of ended runs into the queue."""

    def __init__(self, *, units: UnitOfWorkFactory, clock: Clock, ids: IdFactory) -> None:
        self._units = units
        self._clock = clock
        self._ids = ids

    async def enqueue(self, run: Run) -> None:
        """Enqueue every hook that the run does not have yet, each in a unit of work of its own."""
        for kind in HookKind:
            task = HookTask(
                id=self._ids.new_id(),
                tenant_id=run.tenant_id,
                run_id=run.id,
                kind=kind,
                status=HookStatus.PENDING,
                created_at=self._clock.now(),
            )
            try:
                async with self._units() as unit:
                    await unit.hooks.add(task)
            except AlreadyExists:
                continue


class HookRunner:
    """Takes hooks from the queue and does them, one at a time."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        owner: str,
        works: Mapping[HookKind, HookWork],
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._units = units
        self._clock = clock
        self._owner = owner
        self._works = works
        self._lease = timedelta(seconds=lease_seconds)

    async def run_one(self) -> bool:
        """Do the oldest hook; False if there is none to do.

        A hook that fails goes back into the queue, up to `MAXIMUM_HOOK_ATTEMPTS` times; nothing
        of it reaches the run. Raises `StorageUnavailable`.
        """
        now = self._clock.now()
        async with self._units() as unit:
            task = await unit.hooks.claim(self._owner, now, now + self._lease)
        if task is None or task.lease is None:
            return False
        try:
            if task.attempts > MAXIMUM_HOOK_ATTEMPTS:
                raise HookFailed("too many attempts")
            async with self._units() as unit:
                run = await unit.runs.get(task.run_id)
            await self._works[task.kind](self._units, run)
            async with self._units() as unit:
                await unit.hooks.finish(task.id, task.lease, HookStatus.DONE, self._clock.now())
        except Fenced:  # it took longer than its lease: somebody else does it
            return True
        except StorageUnavailable:
            raise
        except Exception:  # a defect of a hook ends the hook
            await self._failed(task)
        return True

    async def _failed(self, task: HookTask) -> None:
        is_last = task.attempts >= MAXIMUM_HOOK_ATTEMPTS
        status = HookStatus.FAILED if is_last else HookStatus.PENDING
        try:
            async with self._units() as unit:
                if task.lease is not None:
                    await unit.hooks.finish(task.id, task.lease, status, self._clock.now())
        except Fenced:
            return


async def mark_trajectory(units: UnitOfWorkFactory, run: Run) -> None:
    """The hook of a run whose record is complete is DONE: that is the mark by which an export
    knows that it may read it. Raises `HookFailed` for a record that is not."""
    async with units() as unit:
        calls = await unit.invocations.list_for_run(run.id)
    if not run.status.is_terminal or not all(call.status.is_terminal for call in calls):
        raise HookFailed(f"the record of run {run.id} is not complete")


HOOK_WORKS: Mapping[HookKind, HookWork] = {HookKind.TRAJECTORY_MARKER: mark_trajectory}
