"""What every batch scheduler promises."""

import asyncio
from functools import partial

import pytest

from agent_core.adapters.determinism.schedulers import (
    ConcurrentScheduler,
    DeterministicScheduler,
    RandomizedScheduler,
)
from agent_core.domain.turns import give_way
from agent_core.ports.determinism import MAXIMUM_PARALLEL_JOBS


def randomized():
    return RandomizedScheduler(7)


IMPLEMENTATIONS = [
    pytest.param(DeterministicScheduler, id="DeterministicScheduler"),
    pytest.param(randomized, id="RandomizedScheduler"),
    pytest.param(ConcurrentScheduler, id="ConcurrentScheduler"),
]


@pytest.fixture(params=IMPLEMENTATIONS)
def scheduler(request):
    return request.param()


async def job(number, turns=1, seen=None):
    for turn in range(turns):
        if seen is not None:
            seen.append((number, turn))
        await give_way()
    return number


def run(scheduler, jobs):
    return asyncio.run(scheduler.run(jobs))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
def test_results_come_in_the_order_of_the_jobs(scheduler, count):
    jobs = [partial(job, number, turns=count - number) for number in range(count)]
    assert run(scheduler, jobs) == tuple(range(count))


def test_every_job_is_done_once(scheduler):
    seen = []
    run(scheduler, [partial(job, number, 3, seen) for number in range(5)])
    assert sorted(seen) == [(number, turn) for number in range(5) for turn in range(3)]


def test_jobs_get_on_side_by_side(scheduler):
    seen = []
    run(scheduler, [partial(job, number, 50, seen) for number in range(2)])
    assert seen != sorted(seen)


def test_not_too_many_at_once(scheduler):
    active, most = set(), []

    async def counted(number):
        active.add(number)
        for _ in range(5):
            most.append(len(active))
            await give_way()
        active.remove(number)

    run(scheduler, [partial(counted, number) for number in range(3 * MAXIMUM_PARALLEL_JOBS)])
    assert max(most) == MAXIMUM_PARALLEL_JOBS == 8


def test_a_job_that_fails_ends_no_other(scheduler):
    ended = []

    async def ends(number):
        await give_way()
        if number in (2, 4):
            raise KeyError(number)
        for _ in range(5):
            await give_way()
        ended.append(number)

    with pytest.raises(KeyError) as caught:
        run(scheduler, [partial(ends, number) for number in (0, 1, 4, 2, 3)])
    assert caught.value.args == (4,)
    assert sorted(ended) == [0, 1, 3]


def test_a_batch_can_be_part_of_a_batch(scheduler):
    async def inner(number):
        return await scheduler.run([partial(job, 10 * number + one, 2) for one in range(3)])

    assert run(scheduler, [partial(inner, number) for number in range(2)]) == (
        (0, 1, 2),
        (10, 11, 12),
    )
