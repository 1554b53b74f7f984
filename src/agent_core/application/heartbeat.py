"""Renewing the leases of runs while they are executed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from agent_core.application.cancellation import CancellationToken
from agent_core.domain.errors import Fenced
from agent_core.domain.leases import LEASE_SECONDS, Lease
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

HEARTBEATS_A_LEASE = 3


class HeartbeatThread:
    """Renews from a thread with an event loop of its own, so that neither a tool that computes nor
    a database driver that blocks can keep a lease from being renewed.

    `units` have to work in whichever thread they are used. One thread renews the leases of all
    runs that are executed; it ends once there are none. A renewal that fails is tried again with
    the next beat: a lease has room for two that do.
    """

    def __init__(
        self, *, units: UnitOfWorkFactory, clock: Clock, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self._units = units
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._lock = threading.Lock()
        self._held: dict[tuple[str, int], tuple[Lease, CancellationToken]] = {}
        self._is_beating = False

    @asynccontextmanager
    async def __call__(
        self, run_id: str, lease: Lease, token: CancellationToken
    ) -> AsyncIterator[None]:
        key = run_id, lease.epoch
        with self._lock:
            self._held[key] = lease, token
            if not self._is_beating:
                self._is_beating = True
                threading.Thread(target=self._beat_on, daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                del self._held[key]

    def _beat_on(self) -> None:
        asyncio.run(self._beats())

    async def _beats(self) -> None:
        while True:
            await self._clock.sleep(self._lease_seconds / HEARTBEATS_A_LEASE)
            with self._lock:
                held = list(self._held.items())
                if not held:
                    self._is_beating = False
                    return
            for (run_id, _), (lease, token) in held:
                await self._renew(run_id, lease, token)

    async def _renew(self, run_id: str, lease: Lease, token: CancellationToken) -> None:
        until = self._clock.now() + timedelta(seconds=self._lease_seconds)
        try:
            async with self._units() as unit:
                token.observe(await unit.runs.renew(run_id, lease, until))
        except Fenced:
            token.lose()
        except (
            Exception
        ):  # whatever it is, the other runs need their renewals, and this one the next
            return
