"""One history: a few sessions, workers, a user and a reader, taking turns as the seed says.

The order of turns, every fault and every turn of the model follow from the seed, so a history can be
repeated exactly.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import RandomizedScheduler
from agent_core.application import hooks
from agent_core.application.inline import run_inline
from agent_core.application.projector import Projector
from agent_core.application.runtime import Runtime
from agent_core.bootstrap import PINNED_START, build_runtime, build_worker, open_storage
from agent_core.domain.errors import SessionBusy, StaleState, StorageUnavailable
from agent_core.domain.events import Event, EventType
from agent_core.domain.hooks import HookKind
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.runs import FailureReason, Run
from agent_core.domain.sessions import DEFAULT_TENANT
from agent_core.domain.turns import give_way
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory
from tests.resilience import checker, plan, world
from tests.resilience.simulator import faults as kinds
from tests.resilience.simulator.faults import Faults
from tests.resilience.simulator.process import Around, Process

SESSIONS = 3
MESSAGES = 2
WORKERS = 2
MAXIMUM_TURNS = 60_000
"""A history takes about 3,000."""

_LOST_SECONDS = LEASE_SECONDS + 1
_CANCEL = 0.0006
_DELETE_CHECKPOINTS = 0.001
_PASS_TIME = 0.01


class Result(NamedTuple):
    """What broke in a history, and how often each fault happened."""

    violations: list[checker.Violation]
    faults: Faults
    turns: int


class History(Around):
    """Made for one seed, played once."""

    def __init__(self, seed: str, folder: Path | None = None) -> None:
        """Records are kept in memory, or in a file of SQLite in `folder`."""
        self.seed = seed
        self._chosen = random.Random(seed)
        self._faults = Faults(random.Random(f"{seed} faults"))
        self._clock = PinnedClock(PINNED_START)
        self._ids = PinnedIdFactory(seed)
        self._is_stored = folder is not None
        url = f"sqlite:///{folder}/records.db" if folder else "memory"
        self._storage = open_storage(url, listener=self._committed)
        self._store: UnitOfWorkFactory = self._storage.units
        self._effects: list[world.Effect] = []
        self._writer = self._running = Process("opening", self._faults, self)
        self._writers: dict[str, str] = {}
        self._seen: dict[str, list[int]] = {}
        self._ended: list[str] = []
        self._withdrawn: dict[str, set[int]] = {}
        self._errors: list[str] = []
        self._processes: list[Process] = []
        self._dead: list[Process] = []
        self._made = 0
        self._roles: dict[str, Callable[[Process], Coroutine[Any, Any, None]]] = {
            **{f"worker {number}": self._worker for number in range(1, WORKERS + 1)},
            "user": self._user,
            "projector": self._projector,
        }

    def play(self) -> Result:
        """To its end, and what holds then."""
        with mock.patch.dict(hooks.HOOK_WORKS, {kind: self._hook for kind in HookKind}):
            sessions = self._open_sessions()
            self._seen = {session_id: [] for session_id in sessions}
            for role in self._roles:
                self._start(role)
            turns = self._take_turns()
        for process in (*self._processes, *self._dead):
            process.bury()
        self._read()
        records = run_inline(checker.collect(self._store, sessions))
        self._storage.close()
        self._look_back(records)
        # Only in memory a sequence that was rolled back is not given again.
        withdrawn = {} if self._is_stored else self._withdrawn
        observed = checker.Observed(
            self._effects, self._writers, self._seen, withdrawn, self._errors
        )
        return Result(checker.violations(records, observed), self._faults, turns)

    def _open_sessions(self) -> list[str]:
        runtime = self._runtime(self._running, self._store)

        async def opened() -> list[str]:
            return [(await runtime.open_session(world.SOMEBODY)).id for _ in range(SESSIONS)]

        return run_inline(opened())

    def _take_turns(self) -> int:
        for number in range(MAXIMUM_TURNS):
            awake = [process for process in self._processes if not process.pauses]
            if all(process.is_idle for process in awake):
                if len(awake) == len(self._processes) and self._looked(self._is_over):
                    return number
                self._nothing_to_do()
            self._step(self._chosen.choice(awake or self._processes))
            self._interfere()
        self._errors.append(f"no end after {MAXIMUM_TURNS} turns")
        return MAXIMUM_TURNS

    def _step(self, process: Process) -> None:
        for other in self._processes:
            other.pauses = max(0, other.pauses - 1)
        self._running = process
        try:
            process.go_on()
        except Exception as error:  # noqa: BLE001 - whatever ends a worker is a finding
            self._errors.append(f"{process.name}: {type(error).__name__}: {error}")
            process.is_alive = False
        if not process.is_alive:
            if self._holds_something(process):
                self._faults.count(kinds.CRASHES)
            self._processes.remove(process)
            self._dead.append(process)
            self._start(process.name.partition("#")[0])

    def _interfere(self) -> None:
        if self._chosen.random() < _PASS_TIME:
            self._clock.advance(self._chosen.choice((0.001, 1, 5)))
            self._read()
        if self._chosen.random() < _DELETE_CHECKPOINTS:
            self._delete_checkpoints()

    def _nothing_to_do(self) -> None:
        """Nobody can go on before a lease is over, or everybody has nothing to do."""
        self._clock.advance(_LOST_SECONDS)
        for process in self._processes:
            process.is_idle = False

    async def _is_over(self, unit: UnitOfWork) -> bool:
        """Whether every message was submitted and everything has been done about it."""
        for session_id in self._seen:
            if len(await unit.runs.list_for_session(session_id)) < MESSAGES:
                return False
        missing = [await unit.hooks.list_missing(kind, 1) for kind in HookKind]
        return not (
            any(missing)
            or await unit.runs.list_unfinished(DEFAULT_TENANT)
            or await unit.hooks.list_unfinished(DEFAULT_TENANT)
        )

    # The processes.

    def _start(self, role: str) -> None:
        self._made += 1
        process = Process(f"{role}#{self._made}", self._faults, self)
        process.start(self._roles[role](process))
        self._processes.append(process)

    async def _worker(self, process: Process) -> None:
        worker = build_worker(**self._parts(process, process.units(self._store)))
        while True:
            try:
                is_busy = await worker.sweep() + await worker.work_once()
            except StorageUnavailable:
                is_busy = True
            process.is_idle = not is_busy
            await give_way()

    async def _user(self, process: Process) -> None:
        """Submits every message, answers questions, and changes his mind about some."""
        runtime = self._runtime(process, process.units(self._store))
        while True:
            try:
                process.is_idle = not await self._said_something(runtime)
            except (StorageUnavailable, SessionBusy, StaleState):
                process.is_idle = False
            await give_way()

    async def _said_something(self, runtime: Runtime) -> bool:
        has_spoken = False
        for session_id in self._seen:
            runs = self._looked(partial(_runs_of, session_id))
            open_runs = [run for run in runs if not run.status.is_terminal]
            if not open_runs and len(runs) < MESSAGES:
                await runtime.submit(session_id, f"message {len(runs)}")
                has_spoken = True
            for run in open_runs:
                if self._chosen.random() < _CANCEL:
                    await runtime.cancel(run.id)
                elif run.status.is_waiting:
                    await runtime.answer(run.id, "this one")
                    self._faults.count(kinds.ANSWERED)
                    has_spoken = True
        return has_spoken

    async def _projector(self, process: Process) -> None:
        projector = Projector(units=process.units(self._store))
        while True:
            try:
                process.is_idle = not await projector.catch_up_all()
            except StorageUnavailable:
                process.is_idle = False
            await give_way()

    def _runtime(self, process: Process, units: UnitOfWorkFactory) -> Runtime:
        return build_runtime(**self._parts(process, units))

    def _parts(self, process: Process, units: UnitOfWorkFactory) -> dict[str, Any]:
        async def observer(point: str, run: Run, row: object) -> None:
            await process.at(point)

        return {
            "model": plan.PlannedModel(self.seed, self._clock, process.at),
            "units": units,
            "owner": process.name,
            "clock": self._clock,
            "ids": self._ids,
            "tools": world.world_tools(self._effects.append, process.at),
            "policy": world.ANYTHING,
            "scheduler": RandomizedScheduler(self._chosen.randrange(2**32)),
            "observer": observer,
        }

    async def _hook(self, units: UnitOfWorkFactory, run: Run) -> None:
        await self._running.at(kinds.HOOK)
        if self._faults.fails_hook():
            raise hooks.HookFailed("simulated")
        await hooks.mark_trajectory(units, run)

    # What happens beside them, in the store itself.

    def committing(self, process: Process) -> None:
        self._writer = process

    def withdrawn(self, events: Sequence[Event]) -> None:
        for event in events:
            self._withdrawn.setdefault(event.session_id, set()).add(event.sequence)

    def _committed(self, event: Event) -> None:
        self._writers[event.id] = self._writer.name
        self._writer.is_idle = False
        if event.event_type is EventType.TOOL_CALL_COMPLETED:
            self._ended.append(str(event.payload["invocation_id"]))

    def lose_lease(self, process: Process) -> None:
        """Let every lease of `process` end, which sleeps meanwhile; the heartbeats of the others
        renew theirs."""

        async def renewed(unit: UnitOfWork) -> bool:
            is_held = False
            until = self._clock.now() + timedelta(seconds=LEASE_SECONDS)
            others = {one.name for one in self._processes} - {process.name}
            for run in await unit.runs.list_unfinished(DEFAULT_TENANT):
                owner = run.lease and run.lease.owner
                is_held = is_held or owner == process.name
                if run.lease is not None and owner in others:
                    await unit.runs.renew(run.id, run.lease, until)
            return is_held

        self._clock.advance(_LOST_SECONDS)
        process.pauses = self._chosen.choice((5, 50, 500))
        if self._looked(renewed):
            self._faults.count(kinds.LEASE_LOST)

    def _holds_something(self, process: Process) -> bool:
        async def looked(unit: UnitOfWork) -> bool:
            runs = await unit.runs.list_unfinished(DEFAULT_TENANT)
            tasks = await unit.hooks.list_unfinished(DEFAULT_TENANT)
            leases = [run.lease for run in runs] + [task.lease for task in tasks]
            return any(lease is not None and lease.owner == process.name for lease in leases)

        return bool(self._looked(looked))

    def _delete_checkpoints(self) -> None:
        async def deleted(unit: UnitOfWork) -> int:
            runs = await unit.runs.list_unfinished(DEFAULT_TENANT)
            if not runs:
                return 0
            return await unit.checkpoints.delete_for_run(self._chosen.choice(runs).id)

        if self._looked(deleted):
            self._faults.count(kinds.CHECKPOINTS_DELETED)

    def _read(self) -> None:
        """The reader takes what was appended since it looked last."""

        async def read(unit: UnitOfWork) -> None:
            for session_id, seen in self._seen.items():
                after = seen[-1] if seen else 0
                new = await unit.events.list_for_session(session_id, after=after)
                seen += [event.sequence for event in new]

        self._looked(read)

    def _looked(self, look: Callable[[UnitOfWork], Coroutine[Any, Any, Any]]) -> Any:
        async def opened() -> Any:
            async with self._store() as unit:
                return await look(unit)

        return run_inline(opened())

    def _look_back(self, records: list[checker.SessionRecord]) -> None:
        """Count what followed from faults, as it is on record."""
        count = self._faults.count
        for session in records:
            for event in session.events:
                if event.event_type in _FOLLOWED:
                    count(_FOLLOWED[event.event_type])
            for record in session.runs:
                failure = record.run.failure
                if failure and failure.reason is FailureReason.MAX_ATTEMPTS_EXCEEDED:
                    count(kinds.GIVEN_UP)
                for call in record.calls:
                    if call.attempt_number > 1:
                        count(kinds.REPEATED)
                self._count_interleaved(record)

    def _count_interleaved(self, record: checker.RunRecord) -> None:
        for group in {call.parallel_group for call in record.calls} - {None}:
            calls = [call for call in record.calls if call.parallel_group == group]
            ended = [self._ended.index(call.id) for call in calls if call.id in self._ended]
            if ended != sorted(ended):
                self._faults.count(kinds.INTERLEAVED)


async def _runs_of(session_id: str, unit: UnitOfWork) -> tuple[Run, ...]:
    return await unit.runs.list_for_session(session_id)


_FOLLOWED = {
    EventType.RUN_FENCED: kinds.FENCED,
    EventType.RUN_CANCELLED: kinds.CANCELLED,
    EventType.RUN_RESUMED: kinds.RESUMED,
    EventType.TOOL_CALL_UNCERTAIN: kinds.UNCERTAIN,
}
