"""Workers that have lost their run, at each unit of work, and runs that are taken up many times."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, NamedTuple, cast

from hypothesis import strategies as st

from agent_core.application.inline import run_inline
from agent_core.domain.events import Event, EventType
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.tools import IdempotencyClass
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory
from gates.checks.durable import (
    TOOL_AFTER,
    Death,
    Scene,
    in_memory,
    places,
    scene,
    script,
    undisturbed,
)
from gates.checks.event_workers import KINDS, Batches, batches, require_end, require_said_once
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

WRITES = frozenset(
    {
        "checkpoints.add",
        "events.append",
        "invocations.add",
        "invocations.mark_effect_sent",
        "invocations.take_over",
        "invocations.update",
        "reviews.add",
        "runs.update",
        "turns.add",
    }
)
"""Every kind of write that a worker makes while it holds a run."""

_BEFORE = (None, Death("tool.call.started"), Death(TOOL_AFTER))
"""What happened to the worker before the one that loses the run: nothing, or it died there."""

_CLASSES = [[IdempotencyClass.NON_IDEMPOTENT, IdempotencyClass.READ_ONLY]]


class _Watched(AbstractAsyncContextManager[UnitOfWork]):
    """A unit of work; `seen` is told of each write of it, as `repository.method`."""

    def __init__(
        self,
        unit: AbstractAsyncContextManager[UnitOfWork],
        first: Callable[[], Awaitable[None]],
        seen: Callable[[str], None],
    ) -> None:
        self._unit = unit
        self._first = first
        self._seen = seen

    async def __aenter__(self) -> UnitOfWork:
        await self._first()
        return cast(UnitOfWork, _Repositories(await self._unit.__aenter__(), self._seen))

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._unit.__aexit__(error_type, error, traceback)


class _Repositories:
    def __init__(self, unit: UnitOfWork, seen: Callable[[str], None]) -> None:
        self._unit = unit
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        return _Methods(getattr(self._unit, name), name, self._seen)


class _Methods:
    def __init__(self, repository: Any, name: str, seen: Callable[[str], None]) -> None:
        self._repository = repository
        self._name = name
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        if f"{self._name}.{name}" in WRITES:
            self._seen(f"{self._name}.{name}")
        return getattr(self._repository, name)


_EVENTS = (
    EventType.RUN_CHECKPOINTED.value,
    EventType.RUN_CHECKPOINTED.value,
    EventType.RUN_CLAIMED.value,
    EventType.RUN_STARTED.value,
    EventType.MODEL_REQUEST_STARTED.value,
    EventType.MODEL_RESPONSE_COMPLETED.value,
    EventType.TOOL_CALL_PROPOSED.value,
    EventType.TOOL_CALL_AUTHORIZED.value,
    EventType.TOOL_CALL_STARTED.value,
    EventType.TOOL_CALL_COMPLETED.value,
    EventType.ASSISTANT_MESSAGE_COMPLETED.value,
)
"""The events behind which a run is interrupted; checkpoints come twice as often."""

Units = list[frozenset[str]]


def check_fenced(context: PropertyContext) -> None:
    units = {before: _units_of(before) for before in range(len(_BEFORE))}
    written = frozenset().union(*(kinds for each in units.values() for kinds in each))
    require(written == WRITES, "kind_not_met", f"not met: {sorted(WRITES - written)}")
    every_unit = [
        {"kind": "memory", "batches": _CLASSES, "before": before, "number": number}
        for before, each in units.items()
        for number in range(1, len(each) + 1)
    ]
    with places() as place:

        def nothing_is_written(kind: str, batches: Batches, before: int, number: int) -> None:
            with scene(place(kind), script(batches)) as one:
                _die_first(one, before)
                _require_nothing_written(one, number)

        context.for_all(
            nothing_is_written,
            examples=every_unit,
            kind=st.sampled_from(KINDS),
            batches=batches(2),
            before=st.integers(0, len(_BEFORE) - 1),
            number=st.integers(1, 30),
        )


def _units_of(before: int) -> Units:
    """The writes of each unit of work of the worker that is to lose the run, if it does not."""
    kinds: list[set[str]] = []

    async def first() -> None:
        kinds.append(set())

    with scene(in_memory(), script(_CLASSES)) as one:
        _die_first(one, before)
        units = _watched(one, first, lambda kind: kinds[-1].add(kind))
        run_inline(one.worker(units=units).work_once())
    return [frozenset(each) for each in kinds]


def _die_first(one: Scene, before: int) -> None:
    death = _BEFORE[before]
    if death is not None and one.killed(death):
        one.give_back()


def _require_nothing_written(one: Scene, number: int) -> None:
    """A worker loses the run right before it opens its unit of work of this number, to another
    one that brings the run to its end."""
    opened = [0]
    lost: list[tuple[int, State]] = []

    async def first() -> None:
        opened[0] += 1
        if opened[0] == number:
            held = one.run.lease
            one.clock.advance(LEASE_SECONDS + 1)
            await one.worker().run_until_idle()
            if held is not None:
                lost.append((held.epoch, _state(one)))

    worker = one.worker(units=_watched(one, first, lambda kind: None))
    broken = None
    try:
        run_inline(worker.work_once())
    except Exception as error:  # judged below, after what it has written
        broken = error
    for epoch, before in lost:
        after = _state(one)
        fenced = [
            (event.event_type.value, event.payload) for event in after.events[len(before.events) :]
        ]
        wanted = [(EventType.RUN_FENCED.value, {"lease_epoch": epoch})]
        require(fenced == wanted, "written_after_loss", f"unit {number}: {fenced} in the log")
        for name in State._fields:
            if name != "events":
                now, then = getattr(after, name), getattr(before, name)
                require(now == then, "record_changed", f"unit {number}: {name}, {then} to {now}")
    require(broken is None, "worker_broken", repr(broken))


class State(NamedTuple):
    """Everything that a worker could change of a run."""

    events: tuple[Event, ...]
    run: Any
    rows: Any
    reviews: Any
    turns: Any
    checkpoint: Any
    effects: Any


def _state(one: Scene) -> State:
    async def read() -> tuple[Any, Any]:
        async with one.place.units(None)() as unit:
            turns = await unit.turns.list_for_run(one.run_id)
            return turns, await unit.checkpoints.latest(one.run_id)

    turns, checkpoint = run_inline(read())
    return State(one.events, one.run, one.rows, one.reviews, turns, checkpoint, one.world.effects)


def _watched(
    one: Scene, first: Callable[[], Awaitable[None]], seen: Callable[[str], None]
) -> UnitOfWorkFactory:
    units = one.place.units(None)
    return lambda: _Watched(units(), first, seen)


def check_resumption(context: PropertyContext) -> None:
    deaths = st.builds(Death, st.sampled_from(_EVENTS), st.integers(1, 4), st.none())
    with places() as place:

        def ends_alike(kind: str, batches: Batches, deaths: list[Death]) -> None:
            turns = script(batches)
            expected, _ = undisturbed(turns)
            with scene(place(kind), turns) as one:
                for death in deaths:
                    one.killed(death)
                    if one.run.status.is_terminal:
                        break
                    one.give_back()
                one.worked()
                require_said_once(one)
                _require_asked_in_order(one)
                require_end(one, expected)

        context.for_all(
            ends_alike,
            examples=[
                {"kind": "memory", "batches": _CLASSES, "deaths": [Death(place)] * times}
                for place in dict.fromkeys(_EVENTS)
                for times in (1, 3)
            ],
            kind=st.sampled_from(KINDS),
            batches=batches(3),
            deaths=st.lists(deaths, min_size=1, max_size=5),
        )


def _require_asked_in_order(one: Scene) -> None:
    """No turn that is on record is asked for again, and no attempt has the number of another."""
    asked = [
        (event.payload["step_number"], event.payload["attempt_number"])
        for event in one.events
        if event.event_type is EventType.MODEL_REQUEST_STARTED
    ]
    require(asked == sorted(set(asked)), "attempt_repeated", f"asked as {asked}")
    turns = one.times(EventType.MODEL_RESPONSE_COMPLETED)
    require(turns <= one.run.step_count, "turn_repeated", f"{turns} turns in {asked}")
    for once in (EventType.RUN_STARTED, EventType.RUN_COMPLETED):
        require(one.times(once) <= 1, "recorded_twice", f"{one.times(once)} of {once}")
