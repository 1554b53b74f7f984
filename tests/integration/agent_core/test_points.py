"""What an observer sees of a call on its way, and in which order."""

import pytest

from agent_core.application.inline import run_inline
from tests.integration.agent_core.scripted_runs import (
    ANYTHING,
    DONE,
    Durable,
    Probe,
    World,
    kills_at,
    proposes,
)

STEPS = [f"pipeline.{step}.{side}" for step in range(1, 15) for side in ("before", "after")]
CALL = ("demo.work", '{"n": 1}')


def between(first, last):
    return STEPS[STEPS.index(first) : STEPS.index(last) + 1]


class Seen:
    """An observer that keeps what it saw, and looks at the store at each point."""

    def __init__(self):
        self.points = []
        self.rows = []

    async def __call__(self, point, run, row):
        async with self.durable.store as unit:  # refused while another unit of work is open
            assert (await unit.runs.get(run.id)).id == run.id
        self.points.append(point)
        self.rows.append(row)

    def watching(self, durable):
        self.durable = durable
        durable.executed(observer=self)
        return self.points


def seen(world, call=CALL, **composition):
    durable = Durable([proposes(call), DONE], [world.tool], policy=ANYTHING, **composition)
    return Seen().watching(durable)


def test_a_call_passes_every_step_once_and_in_order():
    expected = [*STEPS]
    place = expected.index("pipeline.10.after")
    expected[place:place] = ["before_effect", "after_effect"]
    assert seen(World()) == expected


@pytest.mark.parametrize("idempotency", ["read_only", "idempotent"])
def test_a_tool_without_a_watermark_has_no_points_of_its_effect(idempotency):
    assert seen(World(idempotency)) == STEPS


@pytest.mark.parametrize(
    ("call", "last"),
    [
        (("demo.other", "{}"), "pipeline.1.before"),
        (("demo.work", "not json"), "pipeline.4.before"),
    ],
)
def test_a_step_that_refuses_a_call_is_not_left(call, last):
    points = seen(World(), call)
    refused = between("pipeline.1.before", last)
    recorded = between("pipeline.8.before", "pipeline.8.after")
    shown = between("pipeline.14.before", "pipeline.14.after")
    assert points == [*refused, *recorded, *shown]


def test_a_tool_that_fails_does_not_leave_its_step():
    def fails(arguments):
        raise ZeroDivisionError

    tool = Probe(fails, name="demo.work")
    world = World()
    world.tool = tool
    points = seen(world)
    ended = between("pipeline.13.before", "pipeline.14.after")
    assert points == [*between("pipeline.1.before", "pipeline.10.before"), *ended]


def test_what_is_on_record_passes_no_step_again():
    world = World()
    durable = Durable([proposes(CALL), DONE], [world.tool], policy=ANYTHING)
    assert durable.killed(observer=kills_at("pipeline.13.after"))
    durable.clock.advance(31)
    run_inline(durable.worker().sweep())
    points = Seen().watching(durable)
    assert points == between("pipeline.14.before", "pipeline.14.after")


def test_the_record_is_the_one_of_the_point():
    durable = Durable([proposes(CALL), DONE], [World().tool], policy=ANYTHING)
    observer = Seen()
    points = observer.watching(durable)
    status = dict(zip(points, [row.status.value for row in observer.rows], strict=True))
    assert status["pipeline.1.before"] == status["pipeline.7.after"] == "PROPOSED"
    assert status["pipeline.8.before"] == status["pipeline.9.before"] == "AUTHORIZED"
    assert status["pipeline.9.after"] == status["before_effect"] == "RUNNING"
    assert status["pipeline.13.before"] == status["pipeline.14.after"] == "SUCCEEDED"
    assert len({row.id for row in observer.rows}) == 1
