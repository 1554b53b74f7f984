"""Running a coroutine without an event loop."""

import asyncio

import pytest

from agent_core.application.inline import run_inline


async def add(a, b):
    return a + b


async def nothing_to_wait_for():
    return [await add(i, 1) for i in range(3)]


def test_the_result_is_returned():
    assert run_inline(nothing_to_wait_for()) == [1, 2, 3]


def test_an_error_is_raised():
    async def fails():
        await add(1, 2)
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        run_inline(fails())


def test_a_coroutine_that_waits_is_closed_and_refused():
    ended = []

    async def waits():
        try:
            await asyncio.sleep(0)
        finally:
            ended.append(True)

    with pytest.raises(RuntimeError, match=r"run it under asyncio\.run"):
        run_inline(waits())
    assert ended == [True]
