"""Cancelling: at once where nobody works on the run, and at the next point where somebody does."""

import pytest

from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.application.inline import run_inline
from agent_core.domain.errors import NotFound
from agent_core.domain.events import EventType
from agent_core.domain.runs import RunLimits, RunStatus
from agent_core.domain.tools import ToolResult
from tests.integration.agent_core.scripted_runs import (
    ANYTHING,
    DONE,
    Durable,
    Listening,
    Probe,
    World,
    error,
    kills_at,
    proposes,
)

WORK = [proposes(("demo.work", '{"n": 1}'), ("demo.work", '{"n": 2}')), DONE]
TURNS = [proposes(("demo.probe", "{}"), ("demo.probe", '{"n": 2}')), DONE]


def durable(world):
    return Durable(WORK, [world.tool], policy=ANYTHING)


def cancelled_at(point, run, occurrence=1):
    seen = []

    async def observer(here, stored, row):
        if here == point:
            seen.append(row)
            if len(seen) == occurrence:
                await run.process().cancel(run.run_id)

    return observer


def test_a_queued_run_is_cancelled_at_once():
    run = Durable(TURNS, [Probe()])
    cancelled = run_inline(run.process().cancel(run.run_id))
    assert cancelled == run.run
    assert cancelled.status is RunStatus.CANCELLED
    assert cancelled.lease is None
    assert cancelled.completed_at == run.clock.now()
    assert run.types[-3:] == ["run.queued", "run.claimed", "run.cancelled"]
    assert run.events[-1].payload == {
        "step_count": 0,
        "model_call_count": 0,
        "tool_call_count": 0,
    }


def test_a_run_that_has_ended_stays_as_it_is():
    run = Durable(TURNS, [Probe()])
    ended = run.executed()
    events = run.events
    assert run_inline(run.process().cancel(run.run_id)) == ended == run.run
    assert run.events == events


def test_an_unknown_run_is_not_found():
    run = Durable(TURNS, [Probe()])
    with pytest.raises(NotFound):
        run_inline(run.process().cancel("unknown"))


def test_a_running_run_is_only_asked_to_end():
    run = Durable(TURNS, [Probe()])
    asked = []

    async def observer(point, stored, row):
        if point == "pipeline.10.before" and not asked:
            asked.append(await run.process().cancel(run.run_id))

    assert run.executed(observer=observer).status is RunStatus.CANCELLED
    assert asked[0].status is RunStatus.RUNNING
    assert asked[0].cancel_requested_at == run.clock.now()


def test_a_call_that_is_under_way_is_not_abandoned():
    run = durable(World())
    ended = run.executed(observer=cancelled_at("after_effect", run))
    assert ended.status is RunStatus.CANCELLED
    assert [row.status for row in run.rows] == ["SUCCEEDED"]
    assert run.types[-2:] == ["run.checkpointed", "run.cancelled"]
    assert ended.usage.tool_calls == 1
    assert run.reviews == ()


@pytest.mark.parametrize(
    ("point", "calls"), [("pipeline.1.before", 1), ("pipeline.14.after", 1), ("before_effect", 1)]
)
def test_no_further_call_is_begun(point, calls):
    world = World()
    run = durable(world)
    assert run.executed(observer=cancelled_at(point, run)).status is RunStatus.CANCELLED
    assert len(run.rows) == len(world.effects) == calls
    assert run.types.count("model.request.started") == 1


def test_a_request_comes_before_a_limit_that_is_reached():
    run = Durable(TURNS, [Probe()], limits=RunLimits(max_steps=1))
    observer = cancelled_at("pipeline.14.after", run, occurrence=2)
    assert run.executed(observer=observer).status is RunStatus.CANCELLED


def test_no_call_of_a_parallel_batch_is_begun_once_it_is_seen():
    async def work(arguments):
        await run.process().cancel(run.run_id)
        return ToolResult({}, "done")

    tool = Probe(work, allow_parallel=True)
    turns = [proposes(*(("demo.probe", f'{{"n": {n}}}') for n in range(12))), DONE]
    run = Durable(turns, [tool], scheduler=DeterministicScheduler())
    assert run.executed().status is RunStatus.CANCELLED
    assert 0 < len(tool.given) < 12
    assert {row.status for row in run.rows} == {"SUCCEEDED"}


class Cancelling(Listening):
    """Asks for the end of the run while it answers."""

    async def stream(self, request):
        await self.run.process().cancel(self.run.run_id)
        async for event in super().stream(request):
            yield event


@pytest.mark.parametrize("turn", [DONE, error("transient"), TURNS[0]])
def test_after_the_stream_nothing_more_is_done(turn):
    run = Durable([turn, DONE], [Probe()])
    model = Cancelling([turn, DONE], run.clock)
    model.run = run
    ended = run.executed(model=model)
    assert ended.status is RunStatus.CANCELLED
    assert len(model.requests) == ended.usage.model_calls == 1
    assert run.clock.sleeps == [], "nor is anything waited for"
    assert run.rows == ()
    assert "assistant.message.completed" not in run.types


def test_an_answer_that_was_published_stays():
    run = Durable([DONE], [Probe()])
    assert run.killed(6)  # the answer is published, and the run has not ended yet
    run_inline(run.process().cancel(run.run_id))
    assert run.recovered().status is RunStatus.CANCELLED
    assert run.types.count("assistant.message.completed") == 1


def test_a_lost_run_that_was_asked_to_end_ends_without_going_on():
    world = World()
    run = durable(world)
    assert run.killed(observer=kills_at("after_effect"))
    asked = run_inline(run.process().cancel(run.run_id))
    assert asked.status is RunStatus.RUNNING
    assert run.recovered().status is RunStatus.CANCELLED
    assert world.effects == [1]
    (row,) = run.rows
    assert (row.status, row.outcome.reason_code) == ("UNCERTAIN", "tool.outcome_unknown")
    assert [review.invocation_id for review in run.reviews] == [row.id]
    assert "run.resumed" not in run.types


@pytest.mark.parametrize("point", ["pipeline.8.after", "pipeline.10.before"])
def test_a_call_without_effect_is_settled_as_abandoned(point):
    run = durable(World())
    assert run.killed(observer=kills_at(point))
    run_inline(run.process().cancel(run.run_id))
    assert run.recovered().status is RunStatus.CANCELLED
    (row,) = run.rows
    assert (row.status, row.outcome.reason_code) == ("FAILED", "tool.abandoned")
    assert run.reviews == ()
    assert run.types[-2:] == ["tool.call.failed", "run.cancelled"]


def test_the_first_request_counts():
    run = Durable(TURNS, [Probe()], policy=ANYTHING)
    assert run.killed(3)
    first = run_inline(run.process().cancel(run.run_id)).cancel_requested_at
    run.clock.advance(1)
    assert run_inline(run.process().cancel(run.run_id)).cancel_requested_at == first
    assert run.types.count(EventType.RUN_CLAIMED) == 1
