"""Workers in processes of their own over one database, and a user who gives them work."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agent_core.adapters.determinism.clocks import SystemClock
from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.bootstrap import build_runtime, open_storage
from agent_core.domain.errors import SessionBusy, StaleState, StorageUnavailable
from agent_core.domain.hooks import HookKind
from agent_core.domain.runs import Run
from agent_core.domain.sessions import DEFAULT_TENANT
from agent_core.ports.persistence import UnitOfWork
from tests.resilience import checker, plan, world
from tests.resilience.postgres.worker_process import Files, Kill, start

WORKERS = 2
MESSAGES = 3
_POLL_SECONDS = 0.03
_PATIENCE_SECONDS = 120.0
"""So long nothing may come of all the work, or the test ends."""
_CANCEL = 0.002
_READ_AT_ONCE = 4
"""How many sessions the reader looks at each time."""


async def _nowhere(point: str) -> None:
    """The user's own process is not interrupted."""


class Fleet:
    """`kill_for` says, by a worker's number, how it dies; None lets it work."""

    def __init__(
        self,
        url: str,
        seed: str,
        folder: Path,
        *,
        sessions: int,
        kill_for: Callable[[int], Kill | None],
    ) -> None:
        self._url = url
        self._seed = seed
        self._chosen = random.Random(seed)
        self._kill_for = kill_for
        self._storage = open_storage(url)
        self._runtime = self._user()
        self._running: dict[int, Kill | None] = {}
        self._started = 0
        self.files = Files.below(folder)
        self.kills: Counter[str] = Counter()
        self._said: dict[str, int] = {}
        self._seen: dict[str, list[int]] = {}
        for _ in range(sessions):
            self.open_session()

    def open_session(self) -> None:
        session = run_inline(self._runtime.open_session(world.SOMEBODY))
        self._said[session.id] = 0
        self._seen[session.id] = []

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(self._said)

    def is_short_of_work(self) -> bool:
        """Whether there are no more runs than workers."""
        return len(self._unfinished()) <= WORKERS

    def work(self, interrupt: Callable[[], None] = lambda: None) -> None:
        """Until every message is answered; `interrupt` is called all the while."""
        latest, since = self._progress(), time.monotonic()
        try:
            while not self._is_over():
                if self._progress() != latest:
                    latest, since = self._progress(), time.monotonic()
                if time.monotonic() > since + _PATIENCE_SECONDS:
                    raise TimeoutError(f"the runs of seed {self._seed} do not get on")
                while len(self._running) < WORKERS:
                    self._start()
                self._say_something()
                self._read(self._chosen.sample(self.sessions, _READ_AT_ONCE))
                interrupt()
                time.sleep(_POLL_SECONDS)
                self._bury(os.WNOHANG)
        finally:
            self._stop()

    def is_executing(self) -> bool:
        """Whether a worker holds a run."""
        return any(run.lease is not None for run in self._unfinished().values())

    def figures(self) -> dict[str, object]:
        """What was done, for the record."""
        return {
            "kills": sum(self.kills.values()),
            "runs": sum(self._said.values()),
            "effects": len(self.files.read_effects()),
            "processes": self._started,
            "points": dict(sorted(self.kills.items())),
        }

    def violations(self) -> list[checker.Violation]:
        """What does not hold in the tables, now that everything has ended."""
        self._read(self.sessions)
        records = run_inline(checker.collect(self._storage.units, self.sessions))
        self._storage.close()
        observed = checker.Observed(
            self.files.read_effects(),
            self.files.read_writers(),
            self._seen,
            {},
            self.files.read_errors(),
        )
        return checker.violations(records, observed)

    def _user(self) -> Runtime:
        clock = SystemClock()
        return build_runtime(
            model=plan.PlannedModel(self._seed, clock, _nowhere),
            units=self._storage.units,
            owner="user",
            clock=clock,
            tools=world.world_tools(lambda effect: None, _nowhere),
            policy=world.ANYTHING,
        )

    def _progress(self) -> tuple[int, int, int]:
        """Is another one whenever something has come of the work."""
        writers = self.files.writers
        written = writers.stat().st_size if writers.exists() else 0
        return self._started, sum(self._said.values()), written

    def _start(self) -> None:
        kill = self._kill_for(self._started)
        name = f"worker {self._started}"
        self._started += 1
        pid = start(name, self._url, self._seed, self.files, kill)
        self._running[pid] = kill

    def _bury(self, options: int) -> None:
        for pid in list(self._running):
            ended, status = os.waitpid(pid, options)
            if not ended:
                continue
            kill = self._running.pop(pid)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL and kill:
                self.kills[kill.point] += 1

    def _stop(self) -> None:
        """SIGTERM for everyone: by now nothing is under way."""
        for pid in self._running:
            os.kill(pid, signal.SIGTERM)
        self._bury(0)

    def _say_something(self) -> None:
        """Submit what comes next, answer questions, and change one's mind about some runs."""
        try:
            unfinished = self._unfinished()
            for session_id in self.sessions:
                run = unfinished.get(session_id)
                if run is None:
                    self._submit(session_id)
                elif run.status.is_waiting:
                    run_inline(self._runtime.answer(run.id, "this one"))
                elif self._chosen.random() < _CANCEL:
                    run_inline(self._runtime.cancel(run.id))
        except (StorageUnavailable, SessionBusy, StaleState):
            return  # what came of it is seen the next time

    def _submit(self, session_id: str) -> None:
        if self._said[session_id] == MESSAGES:
            return
        runs = self._looked(partial(_runs_of, session_id))
        self._said[session_id] = len(runs)
        if len(runs) < MESSAGES:
            run_inline(self._runtime.submit(session_id, f"message {len(runs)}"))

    def _read(self, session_ids: Sequence[str]) -> None:
        """A reader, who remembers its position, takes what was appended meanwhile."""

        async def read(unit: UnitOfWork) -> None:
            for session_id in session_ids:
                seen = self._seen[session_id]
                events = await unit.events.list_for_session(session_id, seen[-1] if seen else 0)
                seen += [event.sequence for event in events]

        try:
            self._looked(read)
        except StorageUnavailable:
            return

    def _unfinished(self) -> dict[str, Run]:
        async def looked(unit: UnitOfWork) -> dict[str, Run]:
            runs = await unit.runs.list_unfinished(DEFAULT_TENANT)
            return {run.session_id: run for run in runs}

        found: dict[str, Run] = self._looked(looked)
        return found

    def _is_over(self) -> bool:
        if any(said < MESSAGES for said in self._said.values()):
            return False

        async def looked(unit: UnitOfWork) -> bool:
            missing = [await unit.hooks.list_missing(kind, 1) for kind in HookKind]
            return not (
                any(missing)
                or await unit.runs.list_unfinished(DEFAULT_TENANT)
                or await unit.hooks.list_unfinished(DEFAULT_TENANT)
            )

        try:
            return bool(self._looked(looked))
        except StorageUnavailable:
            return False

    def _looked(self, look: Callable[[UnitOfWork], Any]) -> Any:
        async def opened() -> Any:
            async with self._storage.units() as unit:
                return await look(unit)

        return run_inline(opened())


async def _runs_of(session_id: str, unit: UnitOfWork) -> tuple[Run, ...]:
    return await unit.runs.list_for_session(session_id)
