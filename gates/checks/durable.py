"""Runs over a store that outlives who executes them: workers that are killed, and their successors.

A death names the place where a worker ends: a point of the tool pipeline, a point within a tool, or
the type of an event that was just committed, and for the how-manieth time. A worker dies either by
SIGKILL, in a process of its own, or, where its store is in memory, by an exception that nothing
catches.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.sql.migrate import upgrade
from agent_core.adapters.sql.store import SqlStore
from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.application.worker import Worker
from agent_core.bootstrap import PINNED_START, build_runtime, build_worker
from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ContextItem
from agent_core.domain.events import Event
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ScriptedTurn, ToolCallsTurn
from agent_core.domain.reviews import EffectReview
from agent_core.domain.runs import Run
from agent_core.domain.tools import IdempotencyClass, SideEffectClass, ToolResult
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory
from agent_core.ports.tools import Tool, ToolContext
from gates.checks.driving import ANYTHING, EVERYBODY, Probe, call_of, probe_spec
from hardgate.kinds.checking import Violation

TOOL_BEFORE, TOOL_AFTER = "tool.before_effect", "tool.after_effect"
"""The points within a tool: its watermark is set where it needs one; its effect has happened."""

ANY_EVENT = "event"
"""The place behind the commit of an event, of whatever type."""

_MEMORY = "/dev/shm"
_MOST_JOBS = 50
_IDS_OF_A_PROCESS = 10_000
_CHILD_BROKE = 70


OpenUnits: TypeAlias = Callable[[EventListener | None], UnitOfWorkFactory]


class Killed(BaseException):
    """A worker ends here: nothing may catch this."""


class Death(NamedTuple):
    """Where a worker is killed: when it has come to `place` for the `occurrence`-th time.

    `call_id`: of the places of a call, only this one's count.
    """

    place: str
    occurrence: int = 1
    call_id: str | None = None


class Place(NamedTuple):
    """A store with a tenant of its own.

    `units` opens it, for a worker that hears of what it commits, and `units_of_child` does so in a
    process that was forked off; None in memory.
    """

    tenant_id: str
    units: OpenUnits
    units_of_child: OpenUnits | None = None


def in_memory() -> Place:
    heard: list[EventListener | None] = [None]

    def tell(event: Event) -> None:
        if heard[0] is not None:
            heard[0](event)

    store = InMemoryUnitOfWork(tell)

    def units(listener: EventListener | None) -> UnitOfWorkFactory:
        heard[0] = listener  # the one that works now; whoever worked before is dead
        return lambda: store

    return Place(EVERYBODY.tenant_id, units)


@contextmanager
def places(forks: bool = False) -> Iterator[Callable[[str], Place]]:
    """Gives new places, `memory` or `sqlite`; these are tenants of one database. `forks`: children
    are going to use them."""
    numbers = count()
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        url = f"sqlite:///{folder}/runs.db"
        upgrade(url)
        store, spare = SqlStore(url), SqlStore(url)

        def place(kind: str, used: SqlStore = store) -> Place:
            if kind == "memory":
                return in_memory()
            tenant_id = f"tenant_{next(numbers)}"
            used.register_tenant(tenant_id)
            return Place(tenant_id, partial(used.units, tenant_id), partial(spare.units, tenant_id))

        # The statements that children need are compiled once, and no connection is left to share.
        if forks:
            with scene(place("sqlite", spare), script([list(IdempotencyClass)])) as one:
                one.worked()
            spare.close()
        yield place
        store.close()


def _memory() -> str | None:
    """Where files are that need not outlive the machine, and so wait for no disk."""
    return _MEMORY if os.path.isdir(_MEMORY) else None


class World:
    """What has happened outside, in a file that every process of a run has open.

    `watch` is told of each point within a tool.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(dir=_memory())
        self.watch: Callable[[str, str], None] = lambda point, call: None

    def happen(self, what: str, key: str) -> None:
        os.write(self._file.fileno(), f"{what} {key}\n".encode())

    @property
    def effects(self) -> list[tuple[str, str]]:
        """What happened, and the key it was asked for under, in order."""
        size = os.fstat(self._file.fileno()).st_size
        lines = os.pread(self._file.fileno(), size, 0).decode().splitlines()
        return [(what, key) for what, _, key in (line.partition(" ") for line in lines)]

    def close(self) -> None:
        self._file.close()

    def tool(self, idempotency: IdempotencyClass) -> Tool:
        """`demo.<class>`: lets happen the text that it is given."""

        async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
            text = str(arguments["text"])
            if idempotency.needs_watermark:
                await context.mark_effect_sent()
            self.watch(TOOL_BEFORE, text)
            self.happen(text, context.idempotency_key)
            self.watch(TOOL_AFTER, text)
            return ToolResult({"text": text}, f"done {text}")

        only_reads = idempotency is IdempotencyClass.READ_ONLY
        effect = SideEffectClass.NONE if only_reads else SideEffectClass.EXTERNAL_WRITE
        spec = probe_spec(name=tool_name(idempotency), idempotency=idempotency, side_effect=effect)
        return Probe(spec, work)


def tool_name(idempotency: IdempotencyClass) -> str:
    return f"demo.{idempotency.value.lower()}"


def script(batches: Sequence[Sequence[IdempotencyClass]]) -> list[ScriptedTurn]:
    """A turn of calls for each batch, and then the answer. No two calls are alike."""
    turns: list[ScriptedTurn] = []
    for step, batch in enumerate(batches, 1):
        calls = (
            call_of(tool_name(one), f"{step}.{number}", f"call_{step}_{number}")
            for number, one in enumerate(batch, 1)
        )
        turns.append(ToolCallsTurn(tuple[ScriptedToolCall, ...](calls)))
    return [*turns, FinalTurn("Done.")]


class End(NamedTuple):
    """What can be compared of two runs of one script, however often each was interrupted."""

    status: str
    failure: str | None
    steps: int
    tool_calls: int
    answer: str | None
    transcript: tuple[tuple[Any, ...], ...]
    calls: tuple[tuple[str, str, str], ...]
    effects: tuple[str, ...]


class Scene:
    """One run of one script in a place, with everything that is asked about it.

    `world` is closed by whoever made the scene, for the files of many trials are many.
    """

    def __init__(self, place: Place, turns: Sequence[ScriptedTurn]) -> None:
        self.place = place
        self.turns = turns
        self.world = World()
        self.tools = [self.world.tool(one) for one in IdempotencyClass]
        self.clock = PinnedClock(PINNED_START)
        self.processes = 0
        self.run_id = ""
        principal = EVERYBODY._replace(tenant_id=place.tenant_id)
        self._services = self.process()
        self.session = run_inline(self._services.open_session(principal))
        self.run_id = run_inline(self._services.submit(self.session.id, "Do it."))

    def process(self, **parts: Any) -> Runtime:
        """The services over the place, as a process has them that has just started."""
        return build_runtime(**self._parts(**parts))

    def worker(self, **parts: Any) -> Worker:
        return build_worker(**self._parts(**parts))

    def _parts(self, *, units: UnitOfWorkFactory | None = None, **parts: Any) -> dict[str, Any]:
        self.processes += 1
        units = units or self.place.units(None)
        name = f"process {self.processes}"
        return {
            "units": units,
            "model": ScriptedModelProvider(self.turns, self.clock, self._played(units)),
            "clock": self.clock,
            "ids": PinnedIdFactory(name, self.processes * _IDS_OF_A_PROCESS),
            "tools": self.tools,
            "policy": ANYTHING,
            "scheduler": DeterministicScheduler(),
            "owner": name,
            **parts,
        }

    def _played(self, units: UnitOfWorkFactory) -> int:
        """How many turns of the model are on record: a new process's goes on with the next."""

        async def recorded() -> int:
            async with units() as unit:
                return len(await unit.turns.list_for_run(self.run_id))

        return run_inline(recorded()) if self.run_id else 0

    def killed(self, death: Death, by_signal: bool = False) -> bool:
        """Whether a worker that takes the run dies as it should, and does not come to an end."""
        if by_signal:
            return self._killed_by_signal(death)

        def die() -> None:
            raise Killed

        try:
            run_inline(self._mortal(self.place.units, death, die).work_once())
        except Killed:
            return True
        except Exception as error:  # whatever broke: the worker did not do its work
            raise Violation("worker_broken", repr(error)) from error
        finally:
            self.world.watch = lambda point, call: None
        return False

    def _killed_by_signal(self, death: Death) -> bool:
        assert self.place.units_of_child is not None
        pid = os.fork()
        if pid == 0:
            try:
                run_inline(self._mortal(self.place.units_of_child, death, _kill).work_once())
                os._exit(0)
            finally:
                os._exit(_CHILD_BROKE)
        self.processes += 1
        _, status = os.waitpid(pid, 0)
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def _mortal(
        self,
        units: OpenUnits,
        death: Death,
        die: Callable[[], None],
    ) -> Worker:
        left = [death.occurrence]

        def come_to(place: str) -> None:
            if place == death.place:
                left[0] -= 1
                if left[0] == 0:
                    die()

        def within(point: str, text: str) -> None:
            if death.call_id in (None, f"call_{text.replace('.', '_')}"):
                come_to(point)

        async def observe(point: str, run: Run, row: ToolInvocation) -> None:
            if death.call_id in (None, row.call_id):
                come_to(point)

        self.world.watch = within

        def committed(event: Event) -> None:
            come_to(ANY_EVENT if death.place == ANY_EVENT else event.event_type.value)

        return self.worker(units=units(committed), observer=observe)

    def recovered(self) -> Run:
        """The run after its lease is over and another worker has done all there is to do."""
        self.clock.advance(LEASE_SECONDS + 1)
        return self.worked()

    def worked(self) -> Run:
        """The run after another worker has done all there is to do."""
        try:
            run_inline(_until_idle(self.worker()))
        except Violation:
            raise
        except Exception as error:  # whatever broke: the worker did not do its work
            raise Violation("worker_broken", repr(error)) from error
        return self.run

    def give_back(self) -> None:
        """Queue a run whose worker is gone as if it had never been taken: no attempt counts."""

        async def requeue() -> None:
            async with self.place.units(None)() as unit:
                run = await unit.runs.get(self.run_id)
                await unit.runs.requeue(run, self.clock.now(), 0)

        self.clock.advance(LEASE_SECONDS + 1)
        run_inline(requeue())

    def forget_checkpoints(self) -> int:
        """Delete every checkpoint of the run; how many there were."""

        async def delete() -> int:
            async with self.place.units(None)() as unit:
                return await unit.checkpoints.delete_for_run(self.run_id)

        return run_inline(delete())

    @property
    def run(self) -> Run:
        return run_inline(self._services.run(self.run_id))

    @property
    def events(self) -> tuple[Event, ...]:
        return run_inline(self._services.events(self.session.id))

    @property
    def rows(self) -> tuple[ToolInvocation, ...]:
        return run_inline(self._services.invocations(self.run_id))

    @property
    def reviews(self) -> tuple[EffectReview, ...]:
        return run_inline(self._services.effect_reviews(self.run_id))

    @property
    def end(self) -> End:
        run = self.run
        transcript = run_inline(self._services.transcript(self.run_id))
        return End(
            run.status,
            None if run.failure is None else run.failure.reason,
            run.step_count,
            run.usage.tool_calls,
            run_inline(self._services.final_text(self.run_id)),
            tuple(_content(item) for item in transcript),
            tuple((row.call_id, row.status.value, _code(row)) for row in self.rows),
            tuple(what for what, _ in self.world.effects),
        )

    def times(self, event_type: str) -> int:
        return sum(event.event_type == event_type for event in self.events)


@contextmanager
def scene(place: Place, turns: Sequence[ScriptedTurn]) -> Iterator[Scene]:
    made = Scene(place, turns)
    try:
        yield made
    finally:
        made.world.close()


def undisturbed(turns: Sequence[ScriptedTurn]) -> tuple[End, tuple[Event, ...]]:
    """How a run of the script ends that nothing interrupts, and its log."""
    with scene(in_memory(), turns) as one:
        one.worked()
        return one.end, one.events


async def _until_idle(worker: Worker) -> None:
    """All that there is to do; for one run and its hooks that is not much."""
    for _ in range(_MOST_JOBS):
        if not (await worker.sweep() or await worker.work_once()):
            return
    raise Violation("worker_broken", f"the worker found something to do {_MOST_JOBS} times")


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _content(item: ContextItem) -> tuple[Any, ...]:
    """What the model is shown of it, without the ids and nonces, which each process makes."""
    return item.kind, item.labels, item.text, item.tool_calls, item.call_id, item.outcome


def _code(row: ToolInvocation) -> str:
    return "" if row.outcome is None else row.outcome.reason_code
