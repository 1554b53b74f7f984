"""What the in-memory unit of work promises beyond its port."""

import asyncio

import pytest

from agent_core.adapters.in_memory.undo import UndoLog
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork


def test_a_second_unit_of_work_is_refused_while_one_is_open():
    store = InMemoryUnitOfWork()

    async def nested():
        async with store, store:
            pass

    with pytest.raises(RuntimeError, match="open already"):
        asyncio.run(nested())


@pytest.mark.parametrize("error", [None, KeyError])
def test_it_may_be_entered_again_after_it_was_left(error):
    store = InMemoryUnitOfWork()

    async def twice():
        try:
            async with store:
                if error:
                    raise error
        except KeyError:
            pass
        async with store as unit:
            return unit

    assert asyncio.run(twice()) is store


def test_undo_goes_backwards_and_once():
    done = []
    log = UndoLog()
    log.record(lambda: done.append(1))
    log.record(lambda: done.append(2))
    log.roll_back()
    log.roll_back()
    assert done == [2, 1]


def test_what_was_forgotten_is_not_undone():
    done = []
    log = UndoLog()
    log.record(lambda: done.append(1))
    log.forget()
    log.roll_back()
    assert done == []
