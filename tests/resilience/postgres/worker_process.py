"""A real worker process: forked, so that it starts at once, and killed by SIGKILL at a point.

It shares nothing with its parent but files: what its tools did to the world, which events it
committed, and what it was refused or broken by. Each line is one write to a file that is opened for appending, so a
process that is killed leaves whole lines.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, NoReturn

from agent_core.adapters.determinism.clocks import SystemClock
from agent_core.application.worker import WorkerSettings
from agent_core.bootstrap import build_worker, open_storage
from agent_core.domain.errors import StorageUnavailable
from agent_core.domain.events import Event
from agent_core.domain.runs import Run
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory
from tests.resilience import plan, world
from tests.resilience.simulator.faults import (
    AFTER_COMMIT,
    BEFORE_COMMIT,
    BEFORE_UNIT,
    HOOK,
    POINTS,
)

LEASE_SECONDS = 1.0
SETTINGS = WorkerSettings(
    poll_seconds=0.02, reclaim_seconds=0.1, hooks_seconds=0.2, grace_seconds=30, retry_seconds=0.05
)
ANY_MOMENT = "any moment"
KILL_POINTS = (*(point for point in POINTS if point != HOOK), ANY_MOMENT)
"""Where a worker is killed: hooks are done between runs, with commits of their own."""

_OFTEN = (BEFORE_UNIT, BEFORE_COMMIT, AFTER_COMMIT)
_MAXIMUM_SECONDS = 0.4


class Kill(NamedTuple):
    """The process ends when it comes to `point` for the `occurrence`-th time. At ANY_MOMENT it ends
    so many thousandths of a second after it has started."""

    point: str
    occurrence: int


def chosen_kill(chosen: random.Random, number: int) -> Kill:
    """The kill with this number of a campaign: every point takes its turn."""
    point = KILL_POINTS[number % len(KILL_POINTS)]
    if point == ANY_MOMENT:
        return Kill(point, chosen.randint(1, int(_MAXIMUM_SECONDS * 1000)))
    return Kill(point, chosen.randint(1, 60 if point in _OFTEN else 2))


class Files(NamedTuple):
    """What processes leave behind for whoever checks."""

    effects: Path
    writers: Path
    errors: Path
    refusals: Path

    @classmethod
    def below(cls, folder: Path) -> Files:
        return cls(*(folder / f"{name}.jsonl" for name in cls._fields))

    def read_effects(self) -> list[world.Effect]:
        return [world.Effect(*line) for line in _lines(self.effects)]

    def read_writers(self) -> Mapping[str, str]:
        return dict(_lines(self.writers))

    def read_errors(self) -> list[str]:
        return [str(line) for line in _lines(self.errors)]

    def read_refusals(self) -> list[str]:
        """What the store said when it was not there, and workers lived on."""
        return [str(line) for line in _lines(self.refusals)]


def _lines(path: Path) -> list[list[str]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, value: object) -> None:
    """One line, in one write."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, json.dumps(value).encode() + b"\n")
    os.close(file)


def start(name: str, url: str, seed: str, files: Files, kill: Kill | None) -> int:
    """Fork a worker; returns its id. Without `kill` it works until SIGTERM. The parent must not use
    the connections of `url` in threads meanwhile."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        asyncio.run(_Worker(name, url, seed, files, kill).work())
        status = 0
    except BaseException:  # noqa: BLE001 - told to the parent, whose stack this is
        append(files.errors, f"{name}: {traceback.format_exc()}")
    finally:
        sys.stdout.flush()
        os._exit(status)


class _Worker:
    def __init__(self, name: str, url: str, seed: str, files: Files, kill: Kill | None) -> None:
        self._name = name
        self._url = url
        self._seed = seed
        self._files = files
        self._kill = kill
        self._left = kill.occurrence if kill else 0

    async def work(self) -> None:
        storage = open_storage(self._url, listener=self._committed)
        beating = open_storage(self._url)
        clock = SystemClock()

        async def observer(point: str, run: Run, row: object) -> None:
            await self.at(point)

        worker = build_worker(
            model=plan.PlannedModel(self._seed, clock, self.at),
            units=self._mortal(storage.units),
            heartbeat_units=beating.units,
            owner=self._name,
            clock=clock,
            tools=world.world_tools(self._happened, self.at),
            policy=world.ANYTHING,
            settings=SETTINGS,
            lease_seconds=LEASE_SECONDS,
            observer=observer,
            on_error=self._survived,
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        if self._kill and self._kill.point == ANY_MOMENT:
            threading.Timer(self._kill.occurrence / 1000, _die).start()
        await worker.run()

    async def at(self, point: str) -> None:
        if self._kill is None or point != self._kill.point:
            return
        self._left -= 1
        if not self._left:
            _die()

    def _mortal(self, units: UnitOfWorkFactory) -> UnitOfWorkFactory:
        return lambda: _MortalUnit(units(), self)

    def _happened(self, effect: world.Effect) -> None:
        append(self._files.effects, list(effect))

    def _committed(self, event: Event) -> None:
        append(self._files.writers, [event.id, self._name])

    def _survived(self, error: Exception) -> None:
        is_expected = isinstance(error, StorageUnavailable)
        file = self._files.refusals if is_expected else self._files.errors
        append(file, f"{self._name}: {type(error).__name__}: {error}")


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


class _MortalUnit(AbstractAsyncContextManager[UnitOfWork]):
    """Points around a unit of work: before it is open, before and after its commit."""

    def __init__(self, unit: AbstractAsyncContextManager[UnitOfWork], worker: _Worker) -> None:
        self._unit = unit
        self._worker = worker

    async def __aenter__(self) -> UnitOfWork:
        await self._worker.at(BEFORE_UNIT)
        return await self._unit.__aenter__()

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        if error_type is None:
            await self._worker.at(BEFORE_COMMIT)
        ended = await self._unit.__aexit__(error_type, error, traceback)
        if error_type is None:
            await self._worker.at(AFTER_COMMIT)
        return ended
