"""What is killed does not go on, and what was not committed is not there."""

import random
from collections.abc import Sequence

import pytest

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.inline import run_inline
from agent_core.bootstrap import PINNED_START
from agent_core.domain.errors import NotFound, StorageFull, StorageUnavailable
from agent_core.domain.events import Event
from agent_core.domain.sessions import Session
from tests.resilience.simulator import faults as kinds
from tests.resilience.simulator.faults import Faults
from tests.resilience.simulator.process import Around, Process
from tests.resilience.world import SOMEBODY

SESSION = Session("session", SOMEBODY, (), PINNED_START)


class OneFault(Faults):
    """The fault that a test wants, each time."""

    def __init__(self, kind: str) -> None:
        super().__init__(random.Random(0))
        self._kind = kind

    def _happens(self, kind: str, likely: float) -> bool:
        return kind == self._kind

    def loses_lease(self) -> bool:
        return self._kind == kinds.LEASE_LOST


class Nobody(Around):
    def __init__(self) -> None:
        self.told: list[str] = []

    def lose_lease(self, process: Process) -> None:
        self.told.append("lease")

    def committing(self, process: Process) -> None:
        self.told.append("commit")

    def withdrawn(self, events: Sequence[Event]) -> None:
        self.told.append("withdrawn")


def played(kind: str) -> tuple[list[str], bool, Nobody]:
    """What a process did that stores a session, whether it is there, and what others were told."""
    store = InMemoryUnitOfWork()
    around = Nobody()
    process = Process("one", OneFault(kind), around)
    done: list[str] = []

    async def work() -> None:
        try:
            async with process.units(lambda: store)() as unit:
                await unit.sessions.add(SESSION)
                done.append("added")
        except StorageUnavailable as error:
            done.append(type(error).__name__)
        finally:
            done.append("ended")
        while True:
            await process.at(kinds.HOOK)

    process.start(work())
    for _ in range(6):
        if not process.go_on():
            break
    before = list(done)

    async def is_stored() -> bool:
        async with store as unit:
            try:
                await unit.sessions.get("session")
            except NotFound:
                return False
        return True

    found = run_inline(is_stored())
    process.bury()
    return before, found, around


@pytest.mark.parametrize(
    ("kind", "done", "is_stored"),
    [
        ("", ["added", "ended"], True),
        (kinds.KILLED + kinds.BEFORE_UNIT, [], False),
        (kinds.KILLED + kinds.BEFORE_COMMIT, ["added"], False),
        (kinds.KILLED + kinds.AFTER_COMMIT, ["added"], True),
        (kinds.KILLED + kinds.HOOK, ["added", "ended"], True),
        (kinds.REFUSED, [StorageUnavailable.__name__, "ended"], False),
        (kinds.FULL, [StorageFull.__name__, "ended"], False),
        (kinds.ROLLED_BACK, ["added", StorageUnavailable.__name__, "ended"], False),
        (kinds.ANSWER_LOST, ["added", StorageUnavailable.__name__, "ended"], True),
    ],
)
def test_what_a_fault_leaves(kind: str, done: list[str], is_stored: bool) -> None:
    found = played(kind)
    assert found[:2] == (done, is_stored)
    assert ("commit" in found[2].told) == is_stored


def test_a_lease_is_lost_while_the_process_lives() -> None:
    done, is_stored, around = played(kinds.LEASE_LOST)
    assert done == ["added", "ended"] and is_stored
    assert "lease" in around.told


def test_one_that_has_nothing_to_do_is_left_alone() -> None:
    process = Process("idle", OneFault(kinds.KILLED + kinds.HOOK), Nobody())
    process.is_idle = True

    async def work() -> None:
        while True:
            await process.at(kinds.HOOK)

    process.start(work())
    assert process.go_on() and process.go_on()
    process.is_idle = False
    assert not process.go_on()
