"""Renewing the lease of a run while it is executed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from agent_core.application.cancellation import CancellationToken
from agent_core.domain.errors import Fenced, StorageUnavailable
from agent_core.domain.leases import LEASE_SECONDS, Lease
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

HEARTBEATS_A_LEASE = 3


class HeartbeatThread:
    """Renews from a thread with an event loop of its own, so that neither a tool that computes nor
    a database driver that blocks can keep the lease from being renewed.

    `units` have to work on whichever loop they are used. A renewal that fails is tried again with
    the next beat: the lease has room for two that do.
    """

    def __init__(
        self, *, units: UnitOfWorkFactory, clock: Clock, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self._units = units
        self._clock = clock
        self._lease_seconds = lease_seconds

    @asynccontextmanager
    async def __call__(
        self, run_id: str, lease: Lease, token: CancellationToken
    ) -> AsyncIterator[None]:
        loop = asyncio.new_event_loop()
        beating = loop.create_task(self._beat(run_id, lease, token))
        thread = threading.Thread(target=_until_done, args=(loop, beating), daemon=True)
        thread.start()
        try:
            yield
        finally:
            _end(loop, beating)
            # A renewal that is under way is finished: its connection belongs to the thread.
            await asyncio.to_thread(thread.join)

    async def _beat(self, run_id: str, lease: Lease, token: CancellationToken) -> None:
        while True:
            await self._clock.sleep(self._lease_seconds / HEARTBEATS_A_LEASE)
            until = self._clock.now() + timedelta(seconds=self._lease_seconds)
            try:
                async with self._units() as unit:
                    token.observe(await unit.runs.renew(run_id, lease, until))
            except Fenced:
                token.lose()
                return
            except StorageUnavailable:
                continue


def _until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        pass
    finally:
        loop.close()


def _end(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    try:
        loop.call_soon_threadsafe(task.cancel)
    except RuntimeError:  # the loop is closed: the lease was lost before
        pass
