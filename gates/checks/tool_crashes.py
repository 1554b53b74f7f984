"""Workers killed on a call's way through the pipeline, and what their successors make of the call.

What has to become of the call is worked out here from the table of docs/specs/tool_system.md, and
not from the record that the killed worker left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from agent_core.domain.invocations import InvocationStatus
from agent_core.domain.tools import IdempotencyClass
from gates.checks.durable import (
    TOOL_AFTER,
    TOOL_BEFORE,
    Death,
    Place,
    Scene,
    places,
    scene,
    script,
)
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_CALL = "call_1_1"
_TEXT = "1.1"
_MARKING = ("before_effect", "after_effect")
_NONE, _AUTHORIZED, _RUNNING, _ENDED = "none", "authorized", "running", "ended"


def _sides(*steps: int) -> list[str]:
    return [f"pipeline.{step}.{side}" for step in steps for side in ("before", "after")]


PLACES = (
    *_sides(*range(1, 10)),
    "pipeline.10.before",
    "before_effect",
    TOOL_BEFORE,
    TOOL_AFTER,
    "after_effect",
    "pipeline.10.after",
    *_sides(11, 12, 13, 14),
)
"""Every place of a call at which a worker may be killed, in the order in which it comes there."""


def places_of(idempotency: IdempotencyClass) -> tuple[str, ...]:
    """Those that a call of the class comes to: the watermark's are only where there is one."""
    return tuple(one for one in PLACES if idempotency.needs_watermark or one not in _MARKING)


class Fate(NamedTuple):
    """What is to become of a call. `reached`: how many of the deaths found it on its way, before a
    worker brought it to its end."""

    status: InvocationStatus
    attempts: int
    effects: int
    reached: int


class _Call:
    """A call between its workers, as the table has it."""

    def __init__(self, idempotency: IdempotencyClass) -> None:
        self._class = idempotency
        self._stage = _NONE
        self._marked = False
        self.status = InvocationStatus.SUCCEEDED
        self.attempts = 1
        self.effects = 0

    def execute(self, until: str | None) -> bool:
        """One worker takes it up, and dies at a place or never; False if it comes not there."""
        for place in places_of(self._class)[self._entry() :]:
            if place == until:
                return True
            self._pass(place)
        return False

    def _entry(self) -> int:
        """Where the call goes on: the table."""
        on_way = places_of(self._class)
        if self._stage == _NONE:
            return 0
        if self._stage == _AUTHORIZED:
            return on_way.index("pipeline.9.before")
        if self._stage == _RUNNING and not self._is_unknown():
            self.attempts += 1
            return on_way.index("pipeline.10.before")
        if self._stage == _RUNNING:
            self._stage, self.status = _ENDED, InvocationStatus.UNCERTAIN
        return on_way.index("pipeline.14.before")

    def _is_unknown(self) -> bool:
        return self._marked and self._class is IdempotencyClass.NON_IDEMPOTENT

    def _pass(self, place: str) -> None:
        if place == "pipeline.8.before":
            self._stage = _AUTHORIZED
        elif place == "pipeline.9.before":
            self._stage = _RUNNING
        elif place == "before_effect":
            self._marked = True
        elif place == TOOL_BEFORE:
            self.effects += 1
        elif place == "pipeline.13.before":
            self._stage = _ENDED


def fate(idempotency: IdempotencyClass, deaths: Sequence[str]) -> Fate:
    """What the table prescribes for a call whose workers die at these places, one after the other,
    and whose last worker does not."""
    call, reached = _Call(idempotency), 0
    for place in (*deaths, None):
        if not call.execute(place):
            break
        reached += 1
    return Fate(call.status, call.attempts, call.effects, reached)


def check(context: PropertyContext) -> None:
    single = [
        {"idempotency": one, "deaths": (place,), "by_signal": by_signal}
        for by_signal in (False, True)
        for place in PLACES
        for one in IdempotencyClass
        if place in places_of(one)
    ]
    with places(forks=True) as place:

        def table_is_kept(
            idempotency: IdempotencyClass, deaths: tuple[str, ...], by_signal: bool
        ) -> None:
            _require_fate(place, idempotency, deaths, by_signal)

        context.for_all(
            table_is_kept,
            examples=single,
            idempotency=st.sampled_from(IdempotencyClass),
            deaths=st.lists(st.sampled_from(PLACES), min_size=1, max_size=2).map(tuple),
            by_signal=st.just(False),
        )


def _require_fate(
    place: Callable[[str], Place],
    idempotency: IdempotencyClass,
    deaths: Sequence[str],
    by_signal: bool,
) -> None:
    """Lets the workers of a call die in turn, and compares what is there then with the table."""
    what = f"{idempotency} after {', '.join(deaths)}"
    expected = fate(idempotency, deaths)
    with scene(place("sqlite" if by_signal else "memory"), script([[idempotency]])) as one:
        reached = 0
        for where in deaths:
            if not one.killed(Death(where, call_id=_CALL), by_signal):
                break
            reached += 1
            one.give_back()
        require(
            reached == expected.reached,
            "worker_not_killed",
            f"{what}: {reached} were killed, and {expected.reached} should have been",
        )
        one.worked()
        _require_call(one, expected, what)


def _require_call(one: Scene, expected: Fate, what: str) -> None:
    run = one.run
    require(run.status == "COMPLETED", "run_not_completed", f"{what}: {run.status}")
    row = next((row for row in one.rows if row.call_id == _CALL), None)
    require(row is not None, "call_lost", f"{what}: no record")
    assert row is not None
    effects = [key for text, key in one.world.effects if text == _TEXT]
    require(
        row.status is expected.status,
        "status_differs",
        f"{what}: {row.status}, and the table says {expected.status}",
    )
    require(
        len(effects) == expected.effects,
        "executions_differ",
        f"{what}: {len(effects)} effects, and the table says {expected.effects}",
    )
    require(
        row.attempt_number == expected.attempts,
        "attempts_differ",
        f"{what}: attempt {row.attempt_number}, and the table says {expected.attempts}",
    )
    require(set(effects) <= {row.idempotency_key}, "key_changed", f"{what}: {sorted(set(effects))}")
    unknown = [row.id] if expected.status is InvocationStatus.UNCERTAIN else []
    opened = [review.invocation_id for review in one.reviews]
    require(opened == unknown, "review_differs", f"{what}: {opened} are with a person")
