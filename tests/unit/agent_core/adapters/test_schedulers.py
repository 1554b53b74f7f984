"""Who goes on when: the schedulers that decide it themselves."""

import asyncio
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.adapters.determinism.schedulers import DeterministicScheduler, RandomizedScheduler
from agent_core.application.inline import run_inline
from agent_core.domain.turns import give_way

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


async def job(number, turns, seen):
    for turn in range(turns):
        seen.append((number, turn))
        await give_way()
    seen.append((number, "end"))


def order(scheduler, *turns):
    seen = []
    run_inline(scheduler.run([partial(job, n, count, seen) for n, count in enumerate(turns)]))
    return seen


def test_turns_go_round():
    assert order(DeterministicScheduler(), 2, 1, 2) == [
        (0, 0), (1, 0), (2, 0),
        (0, 1), (1, "end"), (2, 1),
        (0, "end"), (2, "end"),
    ]  # fmt: skip


@given(st.integers(1, 20), st.integers(0, 6))
def test_jobs_alike_end_in_their_order(count, turns):
    ends = [n for n, what in order(DeterministicScheduler(), *[turns] * count) if what == "end"]
    assert ends == list(range(count))


@given(st.lists(st.integers(0, 6), max_size=12), st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_turns(turns, seed):
    first, again = RandomizedScheduler(seed), RandomizedScheduler(seed)
    assert first.seed == seed
    for _ in range(2):  # also for a second batch
        assert order(first, *turns) == order(again, *turns)


def test_seeds_reach_different_orders():
    ends = {
        tuple(n for n, what in order(RandomizedScheduler(seed), 1, 1, 1) if what == "end")
        for seed in range(60)
    }
    assert len(ends) == 6, "every order in which three jobs can end"


@pytest.mark.parametrize("make", [DeterministicScheduler, partial(RandomizedScheduler, 1)])
def test_a_job_that_waits_for_the_outside_is_refused_and_all_are_closed(make):
    started, closed = [], []

    async def waits(number):
        started.append(number)
        try:
            await give_way()
            await asyncio.sleep(0.001)
        finally:
            closed.append(number)

    async def batch():
        with pytest.raises(RuntimeError, match="a job waits for an event loop"):
            await make().run([partial(waits, number) for number in range(3)])
        return sorted(closed)  # before the event loop ends, which closes what is left

    assert asyncio.run(batch()) == sorted(started)
    assert started


def test_what_ends_the_process_ends_the_batch_at_once():
    class Killed(BaseException):
        pass

    ended = []

    async def killed(number):
        await give_way()
        if number == 1:
            raise Killed
        ended.append(number)

    with pytest.raises(Killed):
        run_inline(DeterministicScheduler().run([partial(killed, n) for n in range(3)]))
    assert ended == [0]
