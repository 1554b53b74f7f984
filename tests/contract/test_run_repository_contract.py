"""What every run repository promises."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryRunRepository
from agent_core.domain.errors import AlreadyExists, NotFound, StaleState
from agent_core.domain.runs import (
    FailureReason,
    Run,
    RunFailure,
    RunLimits,
    RunStatus,
    RunUsage,
)

IMPLEMENTATIONS = [InMemoryRunRepository]

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
)


@pytest.fixture(params=IMPLEMENTATIONS)
def repository(request):
    return request.param()


@pytest.mark.parametrize("run", [RUN, FULL])
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
    asyncio.run(repository.update(running, expected=RunStatus.QUEUED))
    counted = running._replace(step_count=1, usage=RunUsage(model_calls=1))
    asyncio.run(repository.update(counted, expected=RunStatus.RUNNING))
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
                run._replace(status=RunStatus(written), step_count=7), expected=RunStatus(expected)
            )
        )
    assert asyncio.run(repository.get("run")) == run
