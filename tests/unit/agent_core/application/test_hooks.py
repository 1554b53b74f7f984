"""Hooks: done after a run, by whoever comes to them, and without a way to the run."""

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.hooks import (
    HookFailed,
    HookQueue,
    HookRunner,
    mark_trajectory,
)
from agent_core.application.inline import run_inline
from agent_core.bootstrap import PINNED_START
from agent_core.domain.errors import StorageUnavailable
from agent_core.domain.hooks import MAXIMUM_HOOK_ATTEMPTS, HookKind, HookStatus
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.trust import Labels, TrustLevel

KIND = HookKind.TRAJECTORY_MARKER
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.COMPLETED, RunLimits(), PINNED_START)


class Hooks:
    def __init__(self, work=mark_trajectory, run=RUN):
        self.store = InMemoryUnitOfWork()
        self.clock = PinnedClock(PINNED_START)
        parts = {"units": lambda: self.store, "clock": self.clock}
        self.queue = HookQueue(**parts, ids=PinnedIdFactory("hooks"))
        self.runner = HookRunner(**parts, owner="worker", works={KIND: work})
        run_inline(self.store.runs.add(run))
        run_inline(self.queue.enqueue(run))

    def run_one(self):
        return run_inline(self.runner.run_one())

    @property
    def task(self):
        (task,) = run_inline(self.store.hooks.list_for_run("run"))
        return task


def test_the_hook_of_a_complete_record_is_done_once():
    hooks = Hooks()
    assert hooks.task.status is HookStatus.PENDING
    assert hooks.run_one()
    assert (hooks.task.status, hooks.task.attempts) == (HookStatus.DONE, 1)
    assert hooks.task.completed_at == PINNED_START
    assert not hooks.run_one()


def test_enqueuing_again_adds_nothing():
    hooks = Hooks()
    hooks.run_one()
    run_inline(hooks.queue.enqueue(RUN))
    assert hooks.task.status is HookStatus.DONE


ROW = ToolInvocation(
    "row",
    "run",
    1,
    "call",
    "demo.tool",
    {},
    Labels(TrustLevel.USER),
    InvocationStatus.RUNNING,
    PINNED_START,
)


@pytest.mark.parametrize(
    ("run", "row"),
    [
        (RUN._replace(status=RunStatus.RUNNING), ROW._replace(status=InvocationStatus.FAILED)),
        (RUN, ROW),
    ],
)
def test_an_incomplete_record_gets_no_mark(run, row):
    hooks = Hooks(run=run)
    run_inline(hooks.store.invocations.add(row))
    hooks.run_one()
    assert hooks.task.status is HookStatus.PENDING


@pytest.mark.parametrize("error", [HookFailed("no"), ZeroDivisionError("a defect")])
def test_a_hook_that_fails_is_tried_again_and_then_given_up(error):
    async def fails(units, run):
        raise error

    hooks = Hooks(fails)
    for attempt in range(1, MAXIMUM_HOOK_ATTEMPTS + 1):
        assert hooks.run_one()
        assert hooks.task.attempts == attempt
    assert hooks.task.status is HookStatus.FAILED
    assert not hooks.run_one()
    assert run_inline(hooks.store.runs.get("run")) == RUN


def test_a_hook_whose_worker_is_lost_is_done_by_another():
    class Killed(BaseException):
        pass

    done = []

    async def dies_once(units, run):
        done.append(run.id)
        if len(done) == 1:
            raise Killed

    hooks = Hooks(dies_once)
    with pytest.raises(Killed):
        hooks.run_one()
    assert hooks.task.status is HookStatus.RUNNING
    assert not hooks.run_one()
    hooks.clock.advance(31)
    assert hooks.run_one()
    assert (hooks.task.status, hooks.task.attempts) == (HookStatus.DONE, 2)


def test_a_hook_that_loses_its_worker_too_often_is_given_up():
    class Killed(BaseException):
        pass

    async def dies(units, run):
        raise Killed

    hooks = Hooks(dies)
    for _ in range(MAXIMUM_HOOK_ATTEMPTS):
        with pytest.raises(Killed):
            hooks.run_one()
        hooks.clock.advance(31)
    assert hooks.run_one()
    assert hooks.task.status is HookStatus.FAILED


def test_whoever_is_too_late_finishes_nothing():
    async def takes_long(units, run):
        if hooks.task.attempts == 1:
            hooks.clock.advance(31)
            async with units() as unit:
                await unit.hooks.claim("other", hooks.clock.now(), hooks.clock.now())

    hooks = Hooks(takes_long)
    claimed_by_other = hooks.run_one()
    assert claimed_by_other
    assert hooks.task.status is HookStatus.RUNNING
    assert hooks.run_one()
    assert hooks.task.status is HookStatus.DONE


def test_a_store_that_fails_is_not_the_hooks_failure():
    async def unreachable(units, run):
        raise StorageUnavailable("gone")

    hooks = Hooks(unreachable)
    with pytest.raises(StorageUnavailable):
        hooks.run_one()
    assert hooks.task.status is HookStatus.RUNNING
