"""What every clock promises."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock, SystemClock


async def advance(clock, seconds):
    clock.advance(seconds)


async def sleep(clock, seconds):
    await clock.sleep(seconds)


# How to make a clock, and how time passes on it while something works.
IMPLEMENTATIONS = [
    pytest.param(SystemClock, sleep, id="SystemClock"),
    pytest.param(lambda: PinnedClock(datetime(2026, 1, 1, tzinfo=UTC)), advance, id="PinnedClock"),
]

each = pytest.mark.parametrize(("make", "pass_time"), IMPLEMENTATIONS)


@each
def test_now_is_aware_in_utc_and_never_goes_back(make, pass_time):
    async def readings():
        clock = make()
        before = [clock.now() for _ in range(50)]
        await pass_time(clock, 0.001)
        return [*before, clock.now()]

    instants = asyncio.run(readings())
    assert all(instant.utcoffset() == timedelta(0) for instant in instants)
    assert instants == sorted(instants)
    assert instants[-1] > instants[0]


@each
def test_sleep_returns(make, pass_time):
    async def slept():
        clock = make()
        before = clock.now()
        await clock.sleep(0.001)
        return clock.now() - before

    assert asyncio.run(slept()) >= timedelta(0)


@each
@pytest.mark.parametrize("seconds", [-0.001, float("inf"), float("nan")])
def test_a_duration_is_finite_and_not_negative(make, pass_time, seconds):
    async def limited():
        async with make().timeout(seconds):
            pass

    with pytest.raises(ValueError, match="finite and not negative"):
        asyncio.run(make().sleep(seconds))
    with pytest.raises(ValueError, match="finite and not negative"):
        asyncio.run(limited())


@each
def test_a_body_within_its_time_ends_normally(make, pass_time):
    async def limited():
        clock = make()
        async with clock.timeout(60):
            await pass_time(clock, 0.001)
            return "done"

    assert asyncio.run(limited()) == "done"


@each
def test_a_body_beyond_its_time_ends_in_a_timeout(make, pass_time):
    async def limited():
        clock = make()
        async with clock.timeout(0.001):
            await pass_time(clock, 0.5)

    with pytest.raises(TimeoutError):
        asyncio.run(limited())


@each
def test_the_bodys_own_error_comes_through(make, pass_time):
    async def limited():
        async with make().timeout(60):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(limited())
