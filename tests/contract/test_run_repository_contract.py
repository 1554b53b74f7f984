"""What every run repository promises."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryRunRepository
from agent_core.adapters.sql.runs import SqlRunRepository
from agent_core.domain.errors import AlreadyExists, Fenced, NotFound, StaleState
from agent_core.domain.leases import Lease
from agent_core.domain.runs import (
    FailureReason,
    Run,
    RunFailure,
    RunLimits,
    RunStatus,
    RunUsage,
    Suspension,
    SuspensionKind,
)
from tests.contract.stores import OTHER_TENANT, over

IMPLEMENTATIONS = [InMemoryRunRepository, SqlRunRepository]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Run(
    id="run",
    session_id="session",
    principal_id="somebody",
    principal_scopes=frozenset({"run.read"}),
    status=RunStatus.QUEUED,
    limits=RunLimits(max_steps=3),
    created_at=NOW,
)
FULL = RUN._replace(
    id="full",
    status=RunStatus.FAILED,
    step_count=2,
    usage=RunUsage(1, 2, 3, 4),
    failure=RunFailure(FailureReason.INTERNAL_ERROR, "KeyError", 2, NOW),
    started_at=NOW,
    completed_at=NOW,
    lease_epoch=3,
    attempts=2,
    cancel_requested_at=NOW,
    seed_event_sequence=7,
)
LATER = NOW + timedelta(seconds=30)
LEASE = Lease("worker", 1, LATER)
HELD = RUN._replace(status=RunStatus.RUNNING, lease=LEASE, lease_epoch=1, attempts=1)
WAITING = RUN._replace(
    id="waiting",
    status=RunStatus.WAITING_FOR_USER,
    lease_epoch=2,
    attempts=2,
    suspension=Suspension(SuspensionKind.USER_INPUT, "invocation", NOW),
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def store(request, databases):
    with databases.opened(request.param) as store:
        yield store


@pytest.fixture
def repository(store):
    return store.repository("runs")


@pytest.mark.parametrize("run", [RUN, FULL, HELD, WAITING])
def test_a_run_is_read_as_it_was_stored(repository, run):
    asyncio.run(repository.add(run))
    assert asyncio.run(repository.get(run.id)) == run


def test_an_id_is_used_once(repository):
    asyncio.run(repository.add(RUN))
    with pytest.raises(AlreadyExists):
        asyncio.run(repository.add(RUN._replace(step_count=5)))
    assert asyncio.run(repository.get("run")) == RUN


def test_an_unknown_run_is_not_found(repository):
    with pytest.raises(NotFound):
        asyncio.run(repository.get("run"))
    with pytest.raises(NotFound):
        asyncio.run(repository.update(RUN, expected=RunStatus.QUEUED))


def test_the_runs_of_a_session_come_by_id(repository):
    for run_id, session_id in [("c", "one"), ("a", "one"), ("d", "two"), ("b", "one")]:
        asyncio.run(repository.add(RUN._replace(id=run_id, session_id=session_id)))
    runs = asyncio.run(repository.list_for_session("one"))
    assert [run.id for run in runs] == ["a", "b", "c"]
    assert asyncio.run(repository.list_for_session("three")) == ()


def test_an_update_replaces_a_run_in_the_expected_status(repository):
    asyncio.run(repository.add(RUN))
    running = RUN._replace(status=RunStatus.RUNNING, started_at=NOW)
    assert asyncio.run(repository.update(running, expected=RunStatus.QUEUED)) == running
    counted = running._replace(step_count=1, usage=RunUsage(model_calls=1))
    assert asyncio.run(repository.update(counted, expected=RunStatus.RUNNING)) == counted
    assert asyncio.run(repository.get("run")) == counted


@pytest.mark.parametrize(
    ("stored", "expected", "written"),
    [
        ("QUEUED", "RUNNING", "COMPLETED"),
        ("RUNNING", "QUEUED", "RUNNING"),
        ("COMPLETED", "RUNNING", "COMPLETED"),
        ("COMPLETED", "RUNNING", "FAILED"),
        ("QUEUED", "QUEUED", "COMPLETED"),
        ("COMPLETED", "COMPLETED", "RUNNING"),
        ("RUNNING", "RUNNING", "QUEUED"),
    ],
)
def test_an_update_that_came_too_late_or_breaks_the_rules_writes_nothing(
    repository, stored, expected, written
):
    run = RUN._replace(status=RunStatus(stored))
    asyncio.run(repository.add(run))
    with pytest.raises(StaleState):
        asyncio.run(
            repository.update(
                run._replace(status=RunStatus(written), step_count=7),
                expected=RunStatus(expected),
            )
        )
    assert asyncio.run(repository.get("run")) == run


def add(repository, *runs):
    for run in runs:
        asyncio.run(repository.add(run))


def get(repository, run_id="run"):
    return asyncio.run(repository.get(run_id))


def claim(repository, owner="worker", now=NOW, until=LATER, run_id=None):
    return asyncio.run(repository.claim(owner, now, until, run_id))


def test_the_unfinished_runs_of_a_tenant_come_by_id(store, repository):
    others = store.repository("runs", OTHER_TENANT)
    add(repository, WAITING, RUN, FULL, HELD._replace(id="held"))
    add(others, RUN._replace(id="other", session_id="others", tenant_id=OTHER_TENANT))
    listed = asyncio.run(repository.list_unfinished("tenant_default"))
    assert [run.id for run in listed] == ["held", "run", "waiting"]
    assert [run.id for run in asyncio.run(others.list_unfinished(OTHER_TENANT))] == ["other"]
    assert asyncio.run(repository.list_unfinished("tenant_without_runs")) == ()


def test_an_update_leaves_the_lease_the_attempts_and_a_cancellation_alone(repository):
    stored = HELD._replace(cancel_requested_at=NOW)
    add(repository, stored)
    changed = HELD._replace(lease=None, attempts=7, step_count=4)
    assert asyncio.run(repository.update(changed, expected=RunStatus.RUNNING)) == stored._replace(
        step_count=4
    )
    assert get(repository) == stored._replace(step_count=4)


@pytest.mark.parametrize("status", ["COMPLETED", "WAITING_FOR_USER"])
def test_a_run_that_is_not_running_any_more_has_no_lease(repository, status):
    add(repository, HELD)
    changed = HELD._replace(status=RunStatus(status))
    asyncio.run(repository.update(changed, expected=RunStatus.RUNNING))
    assert get(repository) == changed._replace(lease=None)


@pytest.mark.parametrize("epoch", [0, 2])
def test_an_update_under_another_epoch_writes_nothing(repository, epoch):
    add(repository, HELD)
    with pytest.raises(StaleState):
        changed = HELD._replace(lease_epoch=epoch, step_count=7)
        asyncio.run(repository.update(changed, expected=RunStatus.RUNNING))
    assert get(repository) == HELD


def test_the_oldest_queued_run_is_claimed_first(repository):
    add(
        repository,
        RUN._replace(id="b"),
        RUN._replace(id="a", created_at=LATER),
        RUN._replace(id="c"),
        HELD._replace(created_at=NOW - timedelta(days=1)),
        WAITING,
        FULL,
    )
    assert [claim(repository).id for _ in range(3)] == ["b", "c", "a"]
    assert claim(repository) is None


def test_a_claimed_run_is_held_under_the_next_epoch(repository):
    add(repository, RUN._replace(lease_epoch=4, attempts=1))
    held = RUN._replace(
        status=RunStatus.RUNNING,
        lease=Lease("worker", 5, LATER),
        lease_epoch=5,
        attempts=2,
    )
    assert claim(repository) == held
    assert get(repository) == held


def test_a_run_can_be_claimed_by_name(repository):
    add(repository, RUN, RUN._replace(id="second"), FULL)
    assert claim(repository, run_id="second").id == "second"
    for run_id in ("second", "full", "unknown"):
        assert claim(repository, run_id=run_id) is None
    assert get(repository) == RUN


def hold(repository, lease=LEASE, run_id="run"):
    return asyncio.run(repository.hold(run_id, lease))


def test_the_owner_holds_its_run_however_late_it_is(repository):
    add(repository, HELD)
    assert hold(repository) == HELD
    assert hold(repository, LEASE._replace(expires_at=NOW)) == HELD


def renew(repository, lease=LEASE, until=LATER):
    return asyncio.run(repository.renew("run", lease, until))


@pytest.mark.parametrize("call", [hold, renew])
@pytest.mark.parametrize(
    ("stored", "lease"),
    [
        (HELD, LEASE._replace(owner="other")),
        (HELD, LEASE._replace(epoch=2)),
        (HELD._replace(lease=LEASE._replace(epoch=2), lease_epoch=2), LEASE),
        (RUN._replace(lease_epoch=1), LEASE),
        (HELD._replace(status=RunStatus.COMPLETED, lease=None), LEASE),
        (HELD._replace(id="another"), LEASE),
    ],
)
def test_nobody_else_holds_a_run(repository, call, stored, lease):
    add(repository, stored)
    with pytest.raises(Fenced):
        call(repository, lease)
    assert get(repository, stored.id) == stored


def test_a_lease_is_renewed(repository):
    add(repository, HELD._replace(cancel_requested_at=NOW))
    until = LATER + timedelta(seconds=1)
    renewed = HELD._replace(cancel_requested_at=NOW, lease=LEASE._replace(expires_at=until))
    assert renew(repository, until=until) == renewed
    assert get(repository) == renewed


def expired(repository, now=LATER):
    return [run.id for run in asyncio.run(repository.list_expired(now))]


def test_expired_runs_come_by_the_end_of_their_lease(repository):
    second = timedelta(seconds=1)
    for run_id, until in [
        ("c", LATER),
        ("a", LATER),
        ("b", LATER - second),
        ("d", LATER + second),
    ]:
        add(repository, HELD._replace(id=run_id, lease=LEASE._replace(expires_at=until)))
    add(repository, RUN, WAITING, FULL)
    assert expired(repository) == ["b", "a", "c"]
    assert expired(repository, LATER - second) == ["b"]
    assert expired(repository, NOW) == []


def requeue(repository, run, now=LATER, attempts=0):
    return asyncio.run(repository.requeue(run, now, attempts))


@pytest.mark.parametrize("run", [HELD, WAITING, HELD._replace(lease=None)])
def test_a_run_goes_back_into_the_queue(repository, run):
    add(repository, run)
    queued = run._replace(status=RunStatus.QUEUED, lease=None, suspension=None, attempts=1)
    assert requeue(repository, run, attempts=1) == queued
    assert get(repository, run.id) == queued
    assert claim(repository).lease_epoch == run.lease_epoch + 1


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (
            HELD._replace(lease=LEASE._replace(expires_at=LATER + timedelta(seconds=1))),
            HELD,
        ),
        (HELD._replace(lease=LEASE._replace(epoch=2), lease_epoch=2), HELD),
        (HELD._replace(status=RunStatus.COMPLETED, lease=None), HELD),
        (RUN, RUN),
        (FULL, FULL),
        (WAITING, WAITING._replace(status=RunStatus.RUNNING)),
    ],
)
def test_a_run_that_somebody_else_has_moved_stays_where_it_is(repository, stored, read):
    add(repository, stored)
    with pytest.raises(StaleState):
        requeue(repository, read)
    assert get(repository, stored.id) == stored


def cancel(repository, run_id="run", at=NOW):
    return asyncio.run(repository.request_cancel(run_id, at))


@pytest.mark.parametrize("run", [RUN, HELD, WAITING])
def test_the_first_request_to_cancel_is_kept(repository, run):
    add(repository, run)
    assert cancel(repository, run.id) == run._replace(cancel_requested_at=NOW)
    assert cancel(repository, run.id, LATER) == run._replace(cancel_requested_at=NOW)
    assert get(repository, run.id) == run._replace(cancel_requested_at=NOW)


def test_a_run_that_has_ended_is_not_cancelled(repository):
    ended = FULL._replace(cancel_requested_at=None)
    add(repository, ended)
    assert cancel(repository, "full") == ended
    assert get(repository, "full") == ended


def test_an_unknown_run_cannot_be_cancelled_or_queued(repository):
    with pytest.raises(NotFound):
        cancel(repository)
    with pytest.raises(NotFound):
        requeue(repository, HELD)
