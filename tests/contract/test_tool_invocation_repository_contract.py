"""What every repository of tool invocations promises."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryToolInvocationRepository
from agent_core.adapters.sql.invocations import SqlToolInvocationRepository
from agent_core.domain.errors import AlreadyExists, NotFound, StaleState
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.outcomes import make_outcome
from agent_core.domain.runs import SuspensionKind
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolFailureKind,
    ToolResult,
    ToolSource,
)
from agent_core.domain.trust import Labels, TrustLevel
from tests.contract.stores import over

IMPLEMENTATIONS = [InMemoryToolInvocationRepository, SqlToolInvocationRepository]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROW = ToolInvocation(
    id="invocation",
    run_id="run",
    step_number=1,
    call_id="call",
    tool_name="demo.tool",
    arguments={"list": [1]},
    origin=Labels(TrustLevel.USER),
    status=InvocationStatus.AUTHORIZED,
    created_at=NOW,
    idempotency_key="key",
)
FULL = ROW._replace(
    status=InvocationStatus.SUCCEEDED,
    tool_version="1",
    tool_source=ToolSource.BUILTIN,
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    normalized_arguments_hash="ab",
    policy_version="policy@1",
    outcome=make_outcome("demo.tool", "tool.succeeded"),
    failure_kind=ToolFailureKind.TIMEOUT,
    result=ToolResult({"list": [1]}, "content"),
    result_labels=Labels(TrustLevel.INTERNAL_TOOL, is_private=True),
    output_bytes=7,
    truncated=True,
    parallel_group="group",
    started_at=NOW,
    completed_at=NOW,
    lease_epoch=2,
    attempt_number=3,
    suspended_kind=SuspensionKind.USER_INPUT,
    nonce="nonce",
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def repository(request, databases):
    with databases.opened(request.param) as store:
        yield store.repository("invocations")


def add(repository, *rows):
    for row in rows:
        asyncio.run(repository.add(row))


def find(repository, key="key"):
    return asyncio.run(repository.find_by_key(key))


def update(repository, row, expected):
    return asyncio.run(repository.update(row, expected=InvocationStatus(expected)))


def mark(repository, at=NOW, row_id="invocation"):
    return asyncio.run(repository.mark_effect_sent(row_id, at))


@pytest.mark.parametrize("row", [ROW, FULL])
def test_an_invocation_is_read_as_it_was_stored(repository, row):
    add(repository, row)
    assert find(repository) == row
    assert asyncio.run(repository.get("invocation")) == row
    assert find(repository, "other") is None


@pytest.mark.parametrize("change", [{"idempotency_key": "other"}, {"id": "other"}])
def test_an_id_and_a_key_are_used_once(repository, change):
    add(repository, ROW)
    with pytest.raises(AlreadyExists):
        add(repository, ROW._replace(**change, step_number=9))
    assert asyncio.run(repository.list_for_run("run")) == (ROW,)


def test_the_invocations_of_a_run_come_by_id(repository):
    for row_id, run_id in [("c", "one"), ("a", "one"), ("d", "two"), ("b", "one")]:
        add(repository, ROW._replace(id=row_id, run_id=run_id, idempotency_key=row_id))
    rows = asyncio.run(repository.list_for_run("one"))
    assert [row.id for row in rows] == ["a", "b", "c"]
    assert asyncio.run(repository.list_for_run("three")) == ()


def test_an_update_replaces_an_invocation_in_the_expected_status(repository):
    add(repository, ROW)
    running = ROW._replace(status=InvocationStatus.RUNNING, started_at=NOW)
    assert update(repository, running, "AUTHORIZED") == running
    assert update(repository, FULL, "RUNNING") == FULL
    assert find(repository) == FULL


@pytest.mark.parametrize(
    ("stored", "expected", "written"),
    [
        ("RUNNING", "AUTHORIZED", "RUNNING"),
        ("AUTHORIZED", "RUNNING", "SUCCEEDED"),
        ("SUCCEEDED", "RUNNING", "FAILED"),
        ("AUTHORIZED", "AUTHORIZED", "SUCCEEDED"),
        ("AUTHORIZED", "AUTHORIZED", "AUTHORIZED"),
        ("DENIED", "DENIED", "AUTHORIZED"),
    ],
)
def test_an_update_that_came_too_late_or_breaks_the_rules_writes_nothing(
    repository, stored, expected, written
):
    row = ROW._replace(status=InvocationStatus(stored))
    add(repository, row)
    with pytest.raises(StaleState):
        update(
            repository,
            row._replace(status=InvocationStatus(written), step_number=9),
            expected,
        )
    assert find(repository) == row


def test_an_unknown_invocation_is_not_found(repository):
    with pytest.raises(NotFound):
        update(repository, ROW._replace(status=InvocationStatus.RUNNING), "AUTHORIZED")
    with pytest.raises(NotFound):
        asyncio.run(repository.get("invocation"))
    with pytest.raises(NotFound):
        mark(repository)


def test_the_first_watermark_stays(repository):
    running = ROW._replace(status=InvocationStatus.RUNNING)
    add(repository, running)
    later = NOW + timedelta(seconds=1)
    assert mark(repository, NOW) == NOW
    assert find(repository) == running._replace(effect_sent_at=NOW)
    assert mark(repository, later) == NOW
    assert find(repository).effect_sent_at == NOW


@pytest.mark.parametrize("written", [None, NOW + timedelta(seconds=1)])
def test_an_update_does_not_touch_the_watermark(repository, written):
    add(repository, ROW._replace(status=InvocationStatus.RUNNING))
    mark(repository)
    stored = update(repository, FULL._replace(effect_sent_at=written), "RUNNING")
    assert stored == find(repository) == FULL._replace(effect_sent_at=NOW)


def test_an_update_sets_no_watermark(repository):
    add(repository, ROW._replace(status=InvocationStatus.RUNNING))
    assert update(repository, FULL._replace(effect_sent_at=NOW), "RUNNING").effect_sent_at is None
    assert find(repository).effect_sent_at is None


@pytest.mark.parametrize("status", [one for one in InvocationStatus if one != "RUNNING"])
def test_only_a_call_that_is_running_has_effects(repository, status):
    add(repository, ROW._replace(status=status))
    with pytest.raises(StaleState):
        mark(repository)
    assert find(repository).effect_sent_at is None


def test_nobody_can_change_what_was_stored(repository):
    row = FULL._replace(arguments={"list": [1]}, result=ToolResult({"list": [1]}, "content"))
    running = row._replace(status=InvocationStatus.RUNNING)
    add(repository, running)
    update(repository, row, "RUNNING")
    (listed,) = asyncio.run(repository.list_for_run("run"))
    for seen in (running, row, find(repository), listed):
        seen.arguments["list"].append(2)
        seen.result.output["list"].append(2)
    assert find(repository) == FULL


def take_over(repository, from_epoch, to_epoch, row_id="invocation"):
    return asyncio.run(repository.take_over(row_id, from_epoch, to_epoch))


@pytest.mark.parametrize(("status", "attempts"), [("AUTHORIZED", 1), ("RUNNING", 2)])
def test_a_call_is_handed_on_to_another_hold(repository, status, attempts):
    row = ROW._replace(status=InvocationStatus(status), lease_epoch=1)
    add(repository, row)
    taken = row._replace(lease_epoch=3, attempt_number=attempts)
    assert take_over(repository, 1, 3) == taken
    assert find(repository) == taken


def test_a_call_keeps_its_watermark_when_it_is_handed_on(repository):
    add(repository, ROW._replace(status=InvocationStatus.RUNNING, lease_epoch=1))
    mark(repository)
    assert take_over(repository, 1, 2).effect_sent_at == NOW


@pytest.mark.parametrize(
    "change", [{"lease_epoch": 2}, {"status": "FAILED"}, {"status": "UNCERTAIN"}]
)
def test_a_call_that_ended_or_is_in_another_hold_is_not_handed_on(repository, change):
    row = ROW._replace(lease_epoch=1)._replace(**change)
    row = row._replace(status=InvocationStatus(row.status))
    add(repository, row)
    with pytest.raises(StaleState):
        take_over(repository, 1, 3)
    assert find(repository) == row


def test_an_unknown_call_is_not_handed_on(repository):
    with pytest.raises(NotFound):
        take_over(repository, 1, 2)
