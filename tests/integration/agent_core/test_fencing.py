"""Two workers over one store: one runs the run, and the one that lost it writes nothing more."""

import contextlib
import importlib
from datetime import timedelta

import pytest

from agent_core.application.cancellation import CancellationToken
from agent_core.application.dispatcher import RunDispatcher
from agent_core.application.fencing import FencedUnits
from agent_core.application.inline import run_inline
from agent_core.application.open_units import assert_none_open
from agent_core.domain.errors import Fenced, StaleState, StorageUnavailable
from agent_core.domain.events import EventType
from agent_core.domain.leases import Lease
from agent_core.domain.runs import RunStatus
from agent_core.domain.tools import ToolResult
from agent_core.domain.turns import give_way
from tests.integration.agent_core.scripted_runs import (
    DONE,
    Durable,
    Probe,
    calculate,
    proposes,
)

TURNS = [proposes(("demo.probe", "{}")), DONE]


def state(durable):
    """Everything that a worker could change."""
    store = durable.store
    return (
        durable.run,
        durable.rows,
        durable.events,
        durable.reviews,
        run_inline(store.turns.list_for_run(durable.run_id)),
        run_inline(store.checkpoints.latest(durable.run_id)),
    )


def taken_over(durable, **worker):
    """The run is lost to another worker, which brings it to its end."""
    durable.clock.advance(31)
    run_inline(durable.worker(**worker).run_until_idle())


def lost_at(point, durable):
    """An observer that lets another worker take the run away at a point; what is stored then is
    kept in `seen`."""
    seen = []

    async def observer(here, run, row):
        if here == point and not seen:
            durable.clock.advance(31)
            seen.append(None)
            await durable.worker().run_until_idle()
            seen.append(durable.run)

    return observer, seen


POINTS = [f"pipeline.{step}.{side}" for step in range(1, 15) for side in ("before", "after")]


@pytest.mark.parametrize("point", POINTS)
def test_the_worker_that_lost_its_run_writes_nothing_but_that_it_did(point):
    durable = Durable(TURNS, [Probe()])
    observer, seen = lost_at(point, durable)
    told = durable.executed(observer=observer)
    ended = seen[1]
    assert ended.status is RunStatus.COMPLETED
    assert told == durable.run == ended
    assert durable.types.count("run.completed") == durable.types.count("run.fenced") == 1
    assert durable.types[-1] == "run.fenced"
    assert durable.events[-1].payload == {"lease_epoch": 1}
    assert [row.status for row in durable.rows] == ["SUCCEEDED"]


def test_of_two_that_race_for_a_run_one_gets_it():
    durable = Durable(TURNS, [Probe()])
    first, second = durable.process(), durable.process()
    assert run_inline(first.run_until_terminal(durable.run_id)).status is RunStatus.COMPLETED
    with pytest.raises(StaleState, match="COMPLETED, not QUEUED"):
        run_inline(second.run_until_terminal(durable.run_id))
    assert durable.types.count("run.claimed") == 1


def fenced_units(durable, lease):
    return FencedUnits(lambda: durable.store, durable.run_id, lease, CancellationToken())


def claimed(durable):
    return run_inline(
        durable.store.runs.claim("somebody", durable.clock.now(), durable.clock.now())
    )


@pytest.mark.parametrize("change", [{"owner": "other"}, {"epoch": 2}])
def test_a_unit_of_work_of_somebody_else_does_not_even_begin(change):
    durable = Durable(TURNS, [Probe()])
    lease = claimed(durable).lease._replace(**change)
    before = state(durable)

    async def write():
        async with fenced_units(durable, lease)():
            raise AssertionError("it was entered")

    with pytest.raises(Fenced):
        run_inline(write())
    assert state(durable) == before


def test_an_error_in_a_unit_of_work_that_is_held_undoes_it():
    durable = Durable(TURNS, [Probe()])
    lease = claimed(durable).lease
    before = state(durable)

    async def write(error):
        async with fenced_units(durable, lease)() as unit:
            await unit.runs.request_cancel(durable.run_id, durable.clock.now())
            if error is not None:
                raise error

    with pytest.raises(KeyError):
        run_inline(write(KeyError("mine")))
    assert state(durable) == before
    run_inline(write(None))
    assert durable.run.cancel_requested_at is not None


def test_a_tool_learns_at_its_watermark_that_the_run_is_lost():
    happened = []

    async def work(arguments, context):
        await give_way()
        if not happened:
            durable.clock.advance(31)
            happened.append("lost")
            await durable.worker(tools=[tool]).run_until_idle()
        await context.mark_effect_sent()
        happened.append(context.invocation_id)
        return ToolResult({}, "sent")

    tool = Probe(work, takes_context=True)
    durable = Durable(TURNS, [tool])
    told = durable.executed()
    assert told.status is RunStatus.COMPLETED
    assert happened[0] == "lost"
    assert len(happened) == 2, "the effect of the second worker, and none of the first"
    assert durable.types[-1] == "run.fenced"


def test_whoever_is_late_and_has_not_lost_it_goes_on():
    durable = Durable(TURNS, [Probe(lambda arguments: durable.clock.advance(3600) or result())])

    def result():
        return ToolResult({}, "late")

    ended = durable.executed()
    assert ended.status is RunStatus.COMPLETED
    assert "run.fenced" not in durable.types


def test_a_store_that_fails_leaves_the_run_to_whoever_holds_it_next():
    durable = Durable(TURNS, [Probe()])

    async def observer(point, run, row):
        if point == "pipeline.9.before" and row.lease_epoch == 1:
            raise StorageUnavailable("the database is gone")

    with pytest.raises(StorageUnavailable):
        durable.executed(observer=observer)
    assert durable.run.status is RunStatus.RUNNING
    assert durable.recovered().status is RunStatus.COMPLETED
    assert [row.status for row in durable.rows] == ["SUCCEEDED"]
    assert durable.types.count("run.requeued") == durable.types.count("run.resumed") == 1


def test_a_run_that_is_given_back_has_lost_no_attempt():
    durable = Durable(TURNS, [Probe()])
    runtime = durable.process()
    dispatcher: RunDispatcher = runtime._dispatcher
    for _ in range(5):
        run = run_inline(dispatcher.claim())
        assert run.attempts == 1
        run_inline(dispatcher.release(run))
        assert durable.run.status is RunStatus.QUEUED
        assert durable.run.lease is None
    requeued = [e.payload for e in durable.events if e.event_type is EventType.RUN_REQUEUED]
    assert {one["reason"] for one in requeued} == {"released"}
    assert durable.executed().status is RunStatus.COMPLETED
    before = state(durable)
    run_inline(dispatcher.release(run))
    assert state(durable) == before, "what is not held any more is not given back"


def test_nothing_goes_outside_while_a_unit_of_work_is_open():
    durable = Durable(TURNS, [Probe()])
    lease = claimed(durable).lease
    seen = []

    async def check():
        assert_none_open("that")
        async with fenced_units(durable, lease)():
            with pytest.raises(RuntimeError, match="before that"):
                assert_none_open("that")
            seen.append("open")
        with contextlib.suppress(KeyError):
            async with fenced_units(durable, lease)():
                raise KeyError
        with contextlib.suppress(Fenced):
            async with fenced_units(durable, lease._replace(epoch=9))():
                pass
        assert_none_open("that")

    run_inline(check())
    assert seen == ["open"]


@pytest.mark.parametrize("name", ["model_step", "tool_pipeline"])
def test_the_ways_outside_assert_it(name, monkeypatch):
    asked = []
    module = importlib.import_module(f"agent_core.application.{name}")
    monkeypatch.setattr(module, "assert_none_open", asked.append)
    Durable(TURNS, [Probe()]).executed()
    assert (
        asked
        == {
            "model_step": ["asking a model"] * 2,
            "tool_pipeline": ["executing a tool"],
        }[name]
    )


def test_an_execution_takes_a_claim():
    durable = Durable(TURNS, [Probe()])
    with pytest.raises(ValueError, match="was not claimed"):
        run_inline(durable.process()._dispatcher.execute(durable.run))


def test_a_lease_is_over_at_its_last_instant():
    durable = Durable(TURNS, [Probe()])
    lease = Lease("worker", 1, durable.clock.now())
    assert lease.is_over(durable.clock.now())
    durable.clock.advance(1)
    assert not Lease("worker", 1, durable.clock.now()).is_over(lease.expires_at)


def test_a_renewed_lease_is_not_reclaimed():
    durable = Durable([calculate("1"), DONE], None)
    assert durable.killed(3)
    held = durable.run
    durable.clock.advance(31)
    now = durable.clock.now()
    run_inline(durable.store.runs.renew(held.id, held.lease, now + timedelta(seconds=1)))
    assert run_inline(durable.worker().sweep()) == 0
    durable.clock.advance(1)
    assert run_inline(durable.worker().sweep()) == 1


def test_a_lease_that_is_renewed_while_it_is_reclaimed_is_not_lost():
    durable = Durable([calculate("1"), DONE], None)
    assert durable.killed(3)
    held = durable.run
    durable.clock.advance(31)
    later = durable.clock.now() + timedelta(seconds=30)
    listed = durable.store.runs.list_expired

    async def then_renewed(now):
        found = await listed(now)
        await durable.store.runs.renew(held.id, held.lease, later)
        return found

    durable.store.runs.list_expired = then_renewed
    assert run_inline(durable.worker().sweep()) == 0
    assert durable.run.lease.expires_at == later
    assert "run.requeued" not in durable.types
