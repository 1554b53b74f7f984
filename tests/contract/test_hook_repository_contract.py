"""What every repository of hook tasks promises."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent_core.adapters.in_memory.hooks import InMemoryHookRepository
from agent_core.adapters.sql.hooks import SqlHookRepository
from agent_core.domain.errors import AlreadyExists, Fenced
from agent_core.domain.hooks import HookKind, HookStatus, HookTask
from agent_core.domain.leases import Lease
from agent_core.domain.runs import Run, RunLimits, RunStatus
from tests.contract.stores import OTHER_TENANT, over

IMPLEMENTATIONS = [InMemoryHookRepository, SqlHookRepository]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
KIND = HookKind.TRAJECTORY_MARKER
TASK = HookTask("task", "tenant_default", "run", KIND, HookStatus.PENDING, NOW)
LEASE = Lease("worker", 1, LATER)
HELD = TASK._replace(status=HookStatus.RUNNING, attempts=1, lease=LEASE)
DONE = TASK._replace(status=HookStatus.DONE, attempts=1, completed_at=NOW)
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.COMPLETED, RunLimits(), NOW)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def store(request, databases):
    with databases.opened(request.param) as store:
        yield store


def hooks(store, method, *arguments, tenant_id="tenant_default"):
    return asyncio.run(getattr(store.repository("hooks", tenant_id), method)(*arguments))


def add(store, *tasks):
    for task in tasks:
        hooks(store, "add", task)


def stored(store, run_id="run"):
    return hooks(store, "list_for_run", run_id)


def claim(store, now=NOW, owner="worker"):
    return hooks(store, "claim", owner, now, LATER)


@pytest.mark.parametrize("task", [TASK, HELD, DONE])
def test_a_task_is_read_as_it_was_stored(store, task):
    add(store, task)
    assert stored(store) == (task,)
    assert stored(store, "unknown") == ()


@pytest.mark.parametrize("change", [{"run_id": "other"}, {"id": "other"}])
def test_a_run_has_one_task_of_a_kind(store, change):
    add(store, TASK)
    with pytest.raises(AlreadyExists):
        add(store, TASK._replace(**change))
    assert stored(store) == (TASK,)
    assert stored(store, "other") == ()


def test_the_unfinished_tasks_of_a_tenant_come_by_id(store):
    for task, task_id in [
        (TASK, "c"),
        (HELD, "a"),
        (DONE, "b"),
        (DONE._replace(status=HookStatus.FAILED), "d"),
    ]:
        add(store, task._replace(id=task_id, run_id=task_id))
    other = TASK._replace(id="e", run_id="e", tenant_id=OTHER_TENANT)
    hooks(store, "add", other, tenant_id=OTHER_TENANT)
    listed = hooks(store, "list_unfinished", "tenant_default")
    assert [task.id for task in listed] == ["a", "c"]
    assert hooks(store, "list_unfinished", OTHER_TENANT, tenant_id=OTHER_TENANT) == (other,)
    assert hooks(store, "list_unfinished", "tenant_without_hooks") == ()


def test_the_ended_runs_without_a_task_come_by_id(store):
    for run_id, status in [
        ("c", "CANCELLED"),
        ("a", "COMPLETED"),
        ("b", "FAILED"),
        ("d", "RUNNING"),
        ("e", "QUEUED"),
        ("f", "COMPLETED"),
    ]:
        run = RUN._replace(id=run_id, status=RunStatus(status))
        asyncio.run(store.repository("runs").add(run))
    add(store, TASK._replace(run_id="f"))
    assert [run.id for run in hooks(store, "list_missing", KIND, 9)] == ["a", "b", "c"]
    assert [run.id for run in hooks(store, "list_missing", KIND, 2)] == ["a", "b"]


def test_the_oldest_task_is_claimed_first(store):
    for task_id, created_at in [("b", NOW), ("a", LATER), ("c", NOW)]:
        add(store, TASK._replace(id=task_id, run_id=task_id, created_at=created_at))
    add(store, DONE)
    assert [claim(store).id for _ in range(3)] == ["b", "c", "a"]
    assert claim(store) is None


def test_a_claimed_task_is_held(store):
    add(store, TASK)
    assert claim(store) == HELD
    assert stored(store) == (HELD,)


def test_a_task_whose_lease_is_over_is_claimed_again(store):
    add(store, HELD)
    assert claim(store, LATER - timedelta(microseconds=1), "other") is None
    again = claim(store, LATER, "other")
    assert again == HELD._replace(attempts=2, lease=Lease("other", 2, LATER))


@pytest.mark.parametrize("status", [HookStatus.DONE, HookStatus.FAILED, HookStatus.PENDING])
def test_an_attempt_ends(store, status):
    add(store, HELD)
    completed_at = LATER if status.is_finished else None
    ended = HELD._replace(status=status, lease=None, completed_at=completed_at)
    assert hooks(store, "finish", "task", LEASE, status, LATER) == ended
    assert stored(store) == (ended,)


@pytest.mark.parametrize(
    ("task", "lease"),
    [
        (HELD, LEASE._replace(owner="other")),
        (HELD, LEASE._replace(epoch=2)),
        (TASK, LEASE),
        (DONE, LEASE),
        (HELD._replace(id="other"), LEASE),
    ],
)
def test_an_attempt_that_is_not_the_present_one_ends_nothing(store, task, lease):
    add(store, task)
    with pytest.raises(Fenced):
        hooks(store, "finish", "task", lease, HookStatus.DONE, LATER)
    assert stored(store) == (task,)
