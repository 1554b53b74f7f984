"""What becomes of a call that is on record: each row of the table."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.recovery import recovery
from agent_core.domain.tools import IdempotencyClass
from agent_core.domain.trust import Labels, TrustLevel

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def row(status, idempotency="non_idempotent", marked=False, epoch=1):
    return ToolInvocation(
        id="row",
        run_id="run",
        step_number=1,
        call_id="call",
        tool_name="demo.tool",
        arguments={},
        origin=Labels(TrustLevel.USER),
        status=InvocationStatus(status),
        created_at=NOW,
        idempotency=idempotency and IdempotencyClass(idempotency),
        effect_sent_at=NOW if marked else None,
        lease_epoch=epoch,
    )


@pytest.mark.parametrize(
    ("idempotency", "marked", "what"),
    [
        ("read_only", False, "execute"),
        ("read_only", True, "execute"),
        ("idempotent", False, "execute"),
        ("idempotent", True, "execute"),
        ("conditionally_idempotent", False, "execute"),
        ("conditionally_idempotent", True, "execute"),
        ("non_idempotent", False, "execute"),
        ("non_idempotent", True, "unknown"),
        (None, False, "execute"),
        (None, True, "unknown"),
    ],
)
def test_a_call_that_an_earlier_worker_started(idempotency, marked, what):
    assert recovery(row("RUNNING", idempotency, marked), 2) == what


@pytest.mark.parametrize("status", [one for one in InvocationStatus if one.is_terminal])
@pytest.mark.parametrize("epoch", [1, 2])
def test_what_has_ended_stands(status, epoch):
    assert recovery(row(status, marked=True), epoch) == "return"


@pytest.mark.parametrize("status", [one for one in InvocationStatus if not one.is_terminal])
@pytest.mark.parametrize("epoch", [0, 1])
def test_under_the_same_hold_somebody_is_at_it(status, epoch):
    assert recovery(row(status), epoch) == "conflict"


def test_what_was_authorized_and_not_started_goes_on():
    assert recovery(row("AUTHORIZED"), 2) == "continue"


@pytest.mark.parametrize("status", ["PROPOSED", "WAITING_FOR_APPROVAL"])
def test_what_was_not_authorized_is_not_executed(status):
    assert recovery(row(status), 2) == "conflict"
