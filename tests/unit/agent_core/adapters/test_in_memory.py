"""What the in-memory unit of work promises beyond its port."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.undo import UndoLog
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.inline import run_inline
from agent_core.domain.events import ActorType, EventType, NewEvent


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


EVENT = NewEvent(
    id="event",
    session_id="session",
    run_id=None,
    event_type=EventType.RUN_QUEUED,
    payload_schema_version=1,
    actor_type=ActorType.RUNTIME,
    actor_id="agent_core",
    payload={},
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


class Listening:
    """A listener that keeps what it was told, and a store that it listens to."""

    def __init__(self):
        self.told = []
        self.store = InMemoryUnitOfWork(self)

    def __call__(self, event):
        self.told.append((event.id, event.sequence))

    async def append(self, *ids, error=None):
        async with self.store as unit:
            for name in ids:
                await unit.events.append(EVENT._replace(id=name))
                assert name not in dict(self.told), "not before it is committed"
            if error is not None:
                raise error


def test_a_listener_is_told_of_each_event_once_it_is_committed():
    listening = Listening()
    asyncio.run(listening.append("a", "b"))
    assert listening.told == [("a", 1), ("b", 2)]
    asyncio.run(listening.append("c"))
    assert listening.told == [("a", 1), ("b", 2), ("c", 3)]


def test_a_listener_is_not_told_of_what_was_undone():
    listening = Listening()
    with pytest.raises(KeyError):
        asyncio.run(listening.append("a", error=KeyError("no")))
    asyncio.run(listening.append("b"))
    assert [name for name, _ in listening.told] == ["b"]


def test_a_listener_may_look_at_the_store():
    seen = []

    class Looking(Listening):
        def __call__(self, event):
            seen.append(run_inline(self._read()))

        async def _read(self):
            async with self.store as unit:
                return [event.id for event in await unit.events.list_for_session("session")]

    asyncio.run(Looking().append("a", "b"))
    assert seen == [["a", "b"], ["a", "b"]]


def test_an_error_of_a_listener_undoes_nothing():
    class Failing(Listening):
        def __call__(self, event):
            raise ZeroDivisionError

    listening = Failing()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(listening.append("a"))
    assert len(asyncio.run(listening.store.events.list_for_session("session"))) == 1


def test_it_gives_way_before_it_opens():
    entered = InMemoryUnitOfWork().__aenter__()
    assert entered.send(None) is None
    with pytest.raises(StopIteration):
        entered.send(None)
