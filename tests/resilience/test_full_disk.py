"""A file of SQLite that has no room left, again and again, while runs are executed: the worker is told
so, nothing is half written, and once there is room the runs come to their end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.application.inline import run_inline
from agent_core.bootstrap import PINNED_START, build_runtime, build_worker, open_storage
from agent_core.domain.errors import StorageFull
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.runs import RunStatus
from agent_core.domain.sessions import DEFAULT_TENANT
from tests.resilience import checker, plan, world

STEP_PAGES = 3
"""How much room there is again each time."""
SESSIONS = 4


class Disk:
    """How many pages the file may have: every connection that is used next is held to that."""

    def __init__(self) -> None:
        self.pages = 1_000_000
        self.page_count = 0

    def held(self, connection: Any, record: object, proxy: object) -> None:
        connection.execute(f"PRAGMA max_page_count={self.pages}")
        (self.page_count,) = connection.execute("PRAGMA page_count").fetchone()


@pytest.fixture
def disk() -> Iterator[Disk]:
    found = Disk()
    event.listen(Pool, "checkout", found.held)
    yield found
    event.remove(Pool, "checkout", found.held)


async def nowhere(point: str) -> None:
    """Nothing else interrupts here."""


class Deployment:
    """A user and a worker over one file, which remember what the world has seen."""

    def __init__(self, folder: Path) -> None:
        self.storage = open_storage(f"sqlite:///{folder}/records.db")
        self.clock = PinnedClock(PINNED_START)
        self.effects: list[world.Effect] = []
        parts: dict[str, Any] = {
            "model": plan.PlannedModel("full disk", self.clock, nowhere),
            "units": self.storage.units,
            "clock": self.clock,
            "ids": PinnedIdFactory("full disk"),
            "tools": tuple(world.world_tools(self.effects.append, nowhere)),
            "policy": world.ANYTHING,
            "scheduler": DeterministicScheduler(),
            "owner": "worker",
        }
        self.runtime = build_runtime(**parts)
        self.worker = build_worker(**parts)
        self.sessions: list[str] = []

    async def submit(self) -> None:
        for _ in range(SESSIONS):
            session = await self.runtime.open_session(world.SOMEBODY)
            self.sessions.append(session.id)
            await self.runtime.submit(session.id, "Please.")

    async def work_once(self) -> bool:
        """Whether there was anything to do, an answer of the user included."""
        is_busy = await self.worker.sweep() > 0 or await self.worker.work_once()
        async with self.storage.units() as unit:
            runs = await unit.runs.list_unfinished(DEFAULT_TENANT)
        for run in runs:
            if run.status.is_waiting:
                await self.runtime.answer(run.id, "this one")
                is_busy = True
        return is_busy


def test_a_full_disk_stops_runs_and_loses_nothing(tmp_path: Path, disk: Disk) -> None:
    deployment = Deployment(tmp_path)
    run_inline(deployment.submit())
    disk.pages = disk.page_count + STEP_PAGES
    refusals: list[StorageFull] = []
    is_busy = True
    while is_busy:
        try:
            is_busy = run_inline(deployment.work_once())
        except StorageFull as error:
            refusals.append(error)
            disk.pages += STEP_PAGES
            deployment.clock.advance(LEASE_SECONDS + 1)
    disk.pages += 100 * STEP_PAGES
    records = run_inline(checker.collect(deployment.storage.units, deployment.sessions))
    deployment.storage.close()
    observed = checker.Observed(deployment.effects, {}, {}, {}, ())
    assert checker.violations(records, observed) == []
    assert len(refusals) > SESSIONS
    assert all(str(error).endswith(": SQLITE_FULL") for error in refusals)
    ends = {run.run.status for session in records for run in session.runs}
    assert RunStatus.COMPLETED in ends
