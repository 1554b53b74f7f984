"""Claims at the same time: each queued run goes to one of those who claim."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from hypothesis import strategies as st

from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.application.cancellation import CancellationToken
from agent_core.application.dispatcher import RunDispatcher
from agent_core.application.executor import RunExecutor
from agent_core.application.inline import run_inline
from agent_core.application.journal import Journal
from agent_core.domain.events import EventType
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.runs import Run
from agent_core.ports.persistence import UnitOfWorkFactory
from gates.checks.durable import Scene, places, scene, script
from gates.checks.interleaving import Ended, interleaved
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_JOIN_SECONDS = 60.0
_ROUNDS = 2

Claim = Callable[[], Coroutine[Any, Any, "Run | None"]]


def check(context: PropertyContext) -> None:
    """In memory in generated orders, in SQLite from threads that start together."""
    with places() as place:

        def one_gets_it(
            kind: str, runs: int, claimers: int, named: bool, schedule: list[int]
        ) -> None:
            with scene(place(kind), script([])) as one:
                ids = [one.run_id, *(_submitted(one) for _ in range(runs - 1))]
                at_once = _in_threads if kind == "sqlite" else _interleaved(schedule)
                for number in range(1, _ROUNDS + 1):
                    _claim_all(one, ids, number, claimers, named, at_once)

        context.for_all(
            one_gets_it,
            kind=st.sampled_from(["memory", "sqlite"]),
            runs=st.integers(1, 3),
            claimers=st.integers(2, 4),
            named=st.booleans(),
            schedule=st.lists(st.integers(0, 11), max_size=12),
        )


def _claim_all(
    one: Scene,
    ids: Sequence[str],
    number: int,
    claimers: int,
    named: bool,
    at_once: Callable[[Sequence[Claim]], list[Ended]],
) -> None:
    """Everybody claims at once, then all leases run out, and the runs are queued again."""
    wanted = ids[0] if named else None
    owners = [f"claimer {number}.{claimer}" for claimer in range(claimers)]
    ended = at_once([_claim(one, owner, wanted) for owner in owners])
    broken = next((end.error for end in ended if end.error is not None), None)
    require(broken is None, "claim_broken", repr(broken))
    got = {owner: end.result for owner, end in zip(owners, ended, strict=True) if end.result}
    claimed = [run.id for run in got.values()]
    what = f"{len(ids)} runs, {claimers} claims: {claimed}"
    require(len(set(claimed)) == len(claimed), "claimed_twice", what)
    if wanted is not None:
        require(claimed == [wanted], "other_run_claimed", what)
    require(len(claimed) == (1 if named else min(len(ids), claimers)), "claim_missed", what)
    for owner, run in got.items():
        _require_held(one, owner, run)
    one.clock.advance(LEASE_SECONDS + 1)
    run_inline(one.worker().sweep())


def _require_held(one: Scene, owner: str, told: Run) -> None:
    """What the claimer was told is what is stored and in the log, under an epoch of its own."""
    stored, events = run_inline(_stored(one, told))
    require(
        stored.lease is not None and stored.lease.owner == owner,
        "held_by_another",
        f"{owner} was told that it holds {told.id}, and the lease is {stored.lease}",
    )
    epochs = [
        event.payload["lease_epoch"]
        for event in events
        if event.event_type is EventType.RUN_CLAIMED
    ]
    require(
        epochs == list(range(1, len(epochs) + 1)) and epochs[-1:] == [stored.lease_epoch],
        "epoch_repeated",
        f"{told.id} was claimed under the epochs {epochs}, and is held under {stored.lease_epoch}",
    )


async def _stored(one: Scene, run: Run) -> tuple[Run, Sequence[Any]]:
    async with one.place.units(None)() as unit:
        return await unit.runs.get(run.id), await unit.events.list_for_session(run.session_id)


def _submitted(one: Scene) -> str:
    """One more run, in a session of its own."""
    runtime = one.process()
    session = run_inline(runtime.open_session(one.session.principal))
    return run_inline(runtime.submit(session.id, "Do it as well."))


def _claim(one: Scene, owner: str, run_id: str | None) -> Claim:
    ids = PinnedIdFactory(owner, 1_000_000)

    def build(units: UnitOfWorkFactory, token: CancellationToken) -> RunExecutor:
        raise AssertionError("nothing is executed here")

    dispatcher = RunDispatcher(
        units=one.place.units(None),
        clock=one.clock,
        journal=Journal(one.clock, ids),
        build_executor=build,
        owner=owner,
    )
    return lambda: dispatcher.claim(run_id)


def _interleaved(schedule: Sequence[int]) -> Callable[[Sequence[Claim]], list[Ended]]:
    return lambda claims: interleaved([claim() for claim in claims], schedule)


def _in_threads(claims: Sequence[Claim]) -> list[Ended]:
    ended = [Ended() for _ in claims]
    start = threading.Barrier(len(claims))

    def work(number: int) -> None:
        try:
            start.wait(_JOIN_SECONDS)
            ended[number] = Ended(run_inline(claims[number]()))
        except Exception as error:  # the caller judges it
            ended[number] = Ended(error=error)

    threads = [
        threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(claims))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_JOIN_SECONDS)
    return ended
