"""A worker: claims runs and executes them, does hooks, keeps projections up with the log, and sweeps
up after workers that are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from agent_core.application.dispatcher import RunDispatcher
from agent_core.application.executor import Executed
from agent_core.application.hooks import HookQueue, HookRunner
from agent_core.application.projector import Projector
from agent_core.application.sweeps import Sweeps
from agent_core.domain.errors import StorageUnavailable
from agent_core.domain.runs import Run
from agent_core.ports.determinism import Clock


class WorkerSettings(NamedTuple):
    """Times in seconds; zero is allowed everywhere.

    `poll_seconds`: the pause when there was nothing to do. `reclaim_seconds`, `hooks_seconds` and
    `projections_seconds`: between two sweeps. `grace_seconds`: how long a run may go on once the worker was told to stop;
    after that it is interrupted and given back. `retry_seconds`: the pause after the store failed.
    """

    concurrency: int = 1
    poll_seconds: float = 0.5
    reclaim_seconds: float = 5.0
    hooks_seconds: float = 5.0
    projections_seconds: float = 1.0
    grace_seconds: float = 20.0
    retry_seconds: float = 1.0


class Worker:
    """Made by `agent_core.bootstrap`. `on_error` is told of what no run may end a worker with."""

    def __init__(
        self,
        *,
        clock: Clock,
        dispatcher: RunDispatcher,
        sweeps: Sweeps,
        hook_queue: HookQueue,
        hook_runner: HookRunner,
        projector: Projector,
        settings: WorkerSettings | None = None,
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        self._clock = clock
        self._dispatcher = dispatcher
        self._sweeps = sweeps
        self._hook_queue = hook_queue
        self._hook_runner = hook_runner
        self._projector = projector
        self._settings = settings or WorkerSettings()
        self._on_error = on_error or (lambda error: None)
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Take nothing new. To be called from the worker's event loop, a signal handler included;
        as often as one likes."""
        self._stopping.set()

    async def run(self) -> None:
        """Work until `stop` was called and what was under way has ended or been given back."""
        settings = self._settings
        working = [
            asyncio.create_task(self._repeat(self.work_once, 0.0, settings.poll_seconds))
            for _ in range(settings.concurrency)
        ]
        sweeping = [
            asyncio.create_task(self._repeat(self._reclaimed, settings.reclaim_seconds, 0.0)),
            asyncio.create_task(self._repeat(self._swept_hooks, settings.hooks_seconds, 0.0)),
            asyncio.create_task(self._repeat(self._projected, settings.projections_seconds, 0.0)),
        ]
        grace = asyncio.create_task(self._grace())
        try:
            while not grace.done() and not all(task.done() for task in working):
                await asyncio.wait({*working, grace}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*working, *sweeping, grace):
                task.cancel()
            await asyncio.gather(*working, *sweeping, grace, return_exceptions=True)

    async def work_once(self) -> bool:
        """Execute one run, or else do one hook; False if there was nothing to do.

        Raises `StorageUnavailable`, and what broke the runtime while it executed a run, which has
        ended then.
        """
        run = await self._dispatcher.claim()
        if run is None:
            return await self._hook_runner.run_one()
        await self._execute(run)
        return True

    async def sweep(self) -> int:
        """Reclaim lost runs and enqueue missing hooks; returns how many there were."""
        return await self._sweeps.reclaim() + await self._sweeps.enqueue_hooks()

    async def run_until_idle(self) -> None:
        """Sweep and work until there is nothing to do, and no projection is behind."""
        while await self.sweep() or await self.work_once() or await self._projected():
            pass

    async def _execute(self, run: Run) -> Executed:
        try:
            executed = await self._dispatcher.execute(run)
        except asyncio.CancelledError:
            await asyncio.shield(self._dispatcher.release(run))
            raise
        if executed.run.status.is_terminal:
            try:
                await self._hook_queue.enqueue(executed.run)
            except StorageUnavailable as error:  # the run has ended; a sweep makes up for it
                self._on_error(error)
        return executed

    async def _reclaimed(self) -> bool:
        return await self._sweeps.reclaim() > 0

    async def _swept_hooks(self) -> bool:
        return await self._sweeps.enqueue_hooks() > 0

    async def _projected(self) -> bool:
        return await self._projector.catch_up_all() > 0

    async def _repeat(
        self, work: Callable[[], Awaitable[bool]], pause_seconds: float, idle_seconds: float
    ) -> None:
        """`work` again and again: after `pause_seconds`, and `idle_seconds` more if there was
        nothing to do."""
        while not self._stopping.is_set():
            try:
                wait_seconds = pause_seconds + (0.0 if await work() else idle_seconds)
            except Exception as error:  # one run, or one moment without a store, ends no worker
                self._on_error(error)
                wait_seconds = max(pause_seconds, self._settings.retry_seconds)
            await self._pause(wait_seconds)

    async def _grace(self) -> None:
        await self._stopping.wait()
        await self._clock.sleep(self._settings.grace_seconds)

    async def _pause(self, seconds: float) -> None:
        """Until the time is over, or the worker is to stop."""
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({sleeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            stopping.cancel()
