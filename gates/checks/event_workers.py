"""Workers that race for a run, that are killed, and that find no checkpoint: how the run ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.domain.events import Event, EventType
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.tools import IdempotencyClass
from gates.checks.durable import (
    ANY_EVENT,
    Death,
    End,
    Place,
    Scene,
    places,
    scene,
    script,
    undisturbed,
)
from gates.checks.interleaving import interleaved
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

CHECKPOINTED = EventType.RUN_CHECKPOINTED.value
KINDS = ("memory", "sqlite")
_WORKERS = 2
_MOST_TURNS = 3_000
_ENDS = (EventType.RUN_COMPLETED, EventType.RUN_FAILED, EventType.RUN_CANCELLED)

_LOST_AT_EACH_TURN = [
    {
        "kind": "memory",
        "batches": [[IdempotencyClass.NON_IDEMPOTENT]],
        "bursts": [(0, turn), (1, 10), (0, 5)],
        "expiries": [turn],
    }
    for turn in range(4, 30)
]
"""The first worker gets on alone, for so many turns, and then the second one has its chance."""

Batches = list[list[IdempotencyClass]]


def batches(most: int, calls: int = 2) -> st.SearchStrategy[Batches]:
    """Turns of calls, of every idempotency class."""
    batch = st.lists(st.sampled_from(IdempotencyClass), min_size=1, max_size=calls)
    return st.lists(batch, min_size=1, max_size=most)


def check_exactly_once(context: PropertyContext) -> None:
    """Raises `Violation` as well if hardly any race was one in which the run changed hands."""
    losses: list[int] = []
    with places() as place:

        def one_executes(
            kind: str, batches: Batches, bursts: list[tuple[int, int]], expiries: list[int]
        ) -> None:
            schedule = [worker for worker, turns in bursts for _ in range(turns)]
            with scene(place(kind), script(batches)) as one:
                ids, broken = _race(one, schedule, frozenset(expiries))
                losses.append(_require_one_executed(one, ids))
                require(broken is None, "worker_broken", repr(broken))
                _require_effects_once(one)

        context.for_all(
            one_executes,
            examples=_LOST_AT_EACH_TURN,
            kind=st.sampled_from(KINDS),
            batches=batches(2),
            # Bursts, because a run changes hands only while its holder does not get on.
            bursts=st.lists(
                st.tuples(st.integers(0, _WORKERS - 1), st.integers(1, 10)), min_size=3, max_size=16
            ),
            # Two at most: a run is not claimed more than three times.
            expiries=st.lists(st.integers(4, 50), min_size=1, max_size=2),
        )
    if all(result.outcome == "pass" for result in context.results):
        lost = sum(count > 0 for count in losses)
        require(lost * 4 >= context.trials, "hardly_raced", f"{lost} of {context.trials} races")


class _Known(PinnedIdFactory):
    """The ids of one worker; `made` holds them, so that its events are known by theirs."""

    def __init__(self, number: int) -> None:
        super().__init__(f"racing {number}", (number + 50) * 10_000)
        self.made: set[str] = set()

    def new_id(self) -> str:
        made = super().new_id()
        self.made.add(made)
        return made


_Raced = tuple[list[_Known], Exception | None]


def _race(one: Scene, schedule: Sequence[int], expiries: frozenset[int]) -> _Raced:
    """Two workers, each of which reclaims before it claims, every time. At the turns in `expiries`
    every lease that there is runs out."""
    ids = [_Known(number) for number in range(_WORKERS)]

    def between(turn: int) -> None:
        require(turn < _MOST_TURNS, "not_ended_once", f"no end after {turn} turns")
        if turn in expiries:
            one.clock.advance(LEASE_SECONDS + 1)

    async def work(known: _Known) -> None:
        worker = one.worker(ids=known)
        while not one.run.status.is_terminal:
            await worker.sweep()
            await worker.work_once()

    ended = interleaved([work(known) for known in ids], schedule, between)
    return ids, next((end.error for end in ended if end.error is not None), None)


def _require_one_executed(one: Scene, ids: Sequence[_Known]) -> int:
    """Only the last holder ends the run. Whoever lost it before has written `run.fenced`, once, and
    nothing else before that. Returns how often it was lost."""
    events = one.events
    told = [event.event_type.value for event in events]
    writers = [next((n for n, known in enumerate(ids) if e.id in known.made), None) for e in events]
    holders = {
        int(str(event.payload["lease_epoch"])): writer
        for event, writer in zip(events, writers, strict=True)
        if event.event_type is EventType.RUN_CLAIMED
    }
    for epoch, number in _losses(events).items():
        require(
            events[number].event_type is EventType.RUN_REQUEUED,
            "claimed_while_held",
            f"epoch {epoch} was lost without the end of its lease in {told}",
        )
        later = [
            events[place]
            for place in range(number + 1, len(events))
            if writers[place] == holders[epoch]
        ]
        first = later[0].event_type.value if later else "nothing"
        require(
            first == EventType.RUN_FENCED and later[0].payload == {"lease_epoch": epoch},
            "written_after_loss",
            f"whoever lost epoch {epoch} wrote {first} in {told}",
        )
    ends = [number for number, event in enumerate(events) if event.event_type in _ENDS]
    require(len(ends) == 1, "not_ended_once", f"{len(ends)} ends in {told}")
    require(writers[ends[0]] == holders[max(holders)], "ended_by_another", f"{writers}, {told}")
    require(told.count("run.started") == 1, "started_twice", f"{told}")
    return len(_losses(events))


def _losses(events: Sequence[Event]) -> dict[int, int]:
    """Where in the log each hold on the run was lost, by its epoch: at the end of its lease, or
    when somebody else was given the run without that."""
    losses: dict[int, int] = {}
    for number, event in enumerate(events):
        if event.event_type in (EventType.RUN_REQUEUED, EventType.RUN_CLAIMED):
            epoch = int(str(event.payload["lease_epoch"]))
            before = epoch - (event.event_type is EventType.RUN_CLAIMED)
            if before:
                losses.setdefault(before, number)
    return losses


def _require_effects_once(one: Scene) -> None:
    risky = {
        row.idempotency_key
        for row in one.rows
        if row.idempotency is IdempotencyClass.NON_IDEMPOTENT
    }
    keys = [key for _, key in one.world.effects if key in risky]
    require(len(keys) == len(set(keys)), "effect_twice", f"{one.world.effects}")


def check_crash_recovery(context: PropertyContext) -> None:
    deltas = [
        {"batches": [[IdempotencyClass.NON_IDEMPOTENT]] * 4, "version": version, "by_signal": True}
        for version in range(1, 10)
    ]
    with places(forks=True) as place:

        def taken_to_its_end(batches: Batches, version: int, by_signal: bool) -> None:
            _require_taken_up(place, batches, version, by_signal)

        context.for_all(
            taken_to_its_end,
            examples=deltas,
            batches=batches(5),
            version=st.integers(1, 12),
            by_signal=st.booleans(),
        )


def _require_taken_up(
    place: Callable[[str], Place], batches: Batches, version: int, by_signal: bool
) -> None:
    """Kills a worker behind a checkpoint of this version, or the last one that there is."""
    turns = script(batches)
    expected, log = undisturbed(turns)
    written = sum(event.event_type is EventType.RUN_CHECKPOINTED for event in log)
    version = min(version, written)
    with scene(place("sqlite" if by_signal else "memory"), turns) as one:
        killed = one.killed(Death(CHECKPOINTED, version), by_signal)
        require(killed, "worker_not_killed", f"no worker died behind version {version}")
        one.recovered()
        require_end(one, expected)
        _require_through_delta(one, version)


def require_end(one: Scene, expected: End) -> None:
    """The end is that of the undisturbed run, and what happened outside happened once."""
    end = one.end
    for name in ("effects", *End._fields):
        rule = "effects_differ" if name == "effects" else "end_differs"
        found, wanted = getattr(end, name), getattr(expected, name)
        require(found == wanted, rule, f"{name}: {found}, and undisturbed {wanted}")


def require_said_once(one: Scene) -> None:
    """Nothing that was recorded is recorded again by whoever goes on."""
    answers = one.times(EventType.ASSISTANT_MESSAGE_COMPLETED)
    require(answers <= 1, "answer_twice", f"{answers} answers in the log")
    proposed = Counter(
        (event.payload["step_number"], event.payload["call_id"])
        for event in one.events
        if event.event_type is EventType.TOOL_CALL_PROPOSED
    )
    repeated = sorted(call for call, times in proposed.items() if times > 1)
    require(not repeated, "proposed_twice", f"{repeated}")


def _require_through_delta(one: Scene, version: int) -> None:
    """The second worker went on from the checkpoint behind which the first one died, and between
    it and the end there was one that only holds what it adds to another."""
    resumed = [event for event in one.events if event.event_type is EventType.RUN_RESUMED]
    require(
        [event.payload.get("version") for event in resumed] == [version],
        "checkpoint_not_used",
        f"went on from {[event.payload for event in resumed]}, not from version {version}",
    )
    used = [
        event.payload
        for event in one.events
        if event.event_type is EventType.RUN_CHECKPOINTED
        and int(str(event.payload["version"])) >= version
    ]
    partial = any(not payload["full"] for payload in used)
    require(partial or version % 8 in (0, 1), "no_delta", f"{used}")


def check_dispensable(context: PropertyContext) -> None:
    with places() as place:

        def log_is_enough(kind: str, batches: Batches, deaths: list[int]) -> None:
            _require_rebuilt(place(kind), batches, deaths)

        context.for_all(
            log_is_enough,
            kind=st.sampled_from(KINDS),
            batches=batches(3),
            deaths=st.lists(st.integers(1, 40), min_size=1, max_size=2),
        )


def _require_rebuilt(place: Place, batches: Batches, deaths: Sequence[int]) -> None:
    """Kills workers behind the events of these numbers, and deletes all checkpoints each time."""
    turns = script(batches)
    expected, _ = undisturbed(turns)
    with scene(place, turns) as one:
        for number in deaths:
            one.killed(Death(ANY_EVENT, number))
            if one.run.status.is_terminal:
                break
            one.forget_checkpoints()
            one.give_back()
        resumed = one.times(EventType.RUN_RESUMED)
        one.worked()
        require_end(one, expected)
        require_said_once(one)
        later = [e.payload for e in one.events if e.event_type is EventType.RUN_RESUMED][resumed:]
        require(
            all("version" not in payload for payload in later),
            "checkpoint_used",
            f"went on from {later}",
        )
