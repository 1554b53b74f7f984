"""Running a coroutine without an event loop."""

import pytest

from agent_core.application.inline import run_inline
from agent_core.domain.turns import give_way


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


def test_where_it_gives_way_it_goes_on_because_there_are_no_others():
    done = []

    async def polite():
        for number in range(3):
            await give_way()
            done.append(number)
        return "done"

    assert run_inline(polite()) == "done"
    assert done == [0, 1, 2]


class Answer:
    """Something from outside that is not there yet."""

    def __await__(self):
        yield self


def test_a_coroutine_that_waits_is_closed_and_refused():
    ended = []

    async def waits():
        try:
            await give_way()
            await Answer()
        finally:
            ended.append(True)

    with pytest.raises(RuntimeError, match=r"run it under asyncio\.run"):
        run_inline(waits())
    assert ended == [True]
