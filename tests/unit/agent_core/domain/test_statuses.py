"""Statuses of runs and invocations, trust, and the identity of a call."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.invocations import InvocationStatus, ToolInvocation, idempotency_key
from agent_core.domain.runs import RunStatus
from agent_core.domain.trust import Labels, TrustLevel, least_trusted

RUN_TRANSITIONS = {
    "QUEUED": "RUNNING CANCELLED",
    "RUNNING": "WAITING_FOR_APPROVAL WAITING_FOR_USER COMPLETED FAILED CANCELLED",
    "WAITING_FOR_APPROVAL": "RUNNING CANCELLED FAILED",
    "WAITING_FOR_USER": "RUNNING CANCELLED FAILED",
    "COMPLETED": "",
    "FAILED": "",
    "CANCELLED": "",
}
INVOCATION_TRANSITIONS = {
    "PROPOSED": "AUTHORIZED WAITING_FOR_APPROVAL FAILED DENIED",
    "AUTHORIZED": "RUNNING FAILED DENIED",
    "WAITING_FOR_APPROVAL": "AUTHORIZED DENIED",
    "RUNNING": "SUCCEEDED FAILED UNCERTAIN",
    "SUCCEEDED": "",
    "FAILED": "",
    "DENIED": "",
    "UNCERTAIN": "",
}


@pytest.mark.parametrize(
    ("statuses", "table"),
    [(RunStatus, RUN_TRANSITIONS), (InvocationStatus, INVOCATION_TRANSITIONS)],
)
def test_transitions(statuses, table):
    found = {
        status.value: " ".join(other.value for other in statuses if status.can_become(other))
        for status in statuses
    }
    assert {key: sorted(value.split()) for key, value in found.items()} == {
        key: sorted(value.split()) for key, value in table.items()
    }
    assert [s.value for s in statuses if s.is_terminal] == [k for k, v in table.items() if not v]


def test_the_order_of_trust():
    order = list(TrustLevel)
    assert [str(level) for level in order] == [
        "platform",
        "trusted_configuration",
        "user",
        "internal_tool",
        "memory",
        "knowledge",
        "external_untrusted",
    ]
    for i, higher in enumerate(order):
        for lower in order[i:]:
            assert least_trusted([higher, lower]) is lower
            assert least_trusted([lower, higher, higher]) is lower


def test_content_without_an_origin_has_no_label():
    with pytest.raises(ValueError, match="empty"):
        least_trusted([])


ROW = ToolInvocation(
    id="invocation",
    run_id="run",
    step_number=1,
    call_id="call",
    tool_name="demo.tool",
    arguments={},
    origin=Labels(TrustLevel.USER),
    status=InvocationStatus.PROPOSED,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    tool_version="1",
    normalized_arguments_hash="ab",
)


@pytest.mark.parametrize(
    "change",
    [
        {"run_id": "run2"},
        {"step_number": 2},
        {"call_id": "call2"},
        {"tool_name": "demo.other"},
        {"tool_version": "2"},
        {"normalized_arguments_hash": "cd"},
        {"normalized_arguments_hash": None},
    ],
)
def test_each_part_of_a_calls_identity_counts(change):
    assert idempotency_key(ROW._replace(**change)) != idempotency_key(ROW)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"status": InvocationStatus.RUNNING},
        {"created_at": datetime(2027, 1, 1, tzinfo=UTC)},
        {"origin": Labels(TrustLevel.EXTERNAL_UNTRUSTED)},
        {"parallel_group": "group"},
        {"effect_sent_at": datetime(2027, 1, 1, tzinfo=UTC)},
    ],
)
def test_nothing_else_does(change):
    assert idempotency_key(ROW._replace(**change)) == idempotency_key(ROW)


def test_parts_do_not_run_into_each_other():
    one = ROW._replace(call_id="call1", tool_name="0.tool")
    other = ROW._replace(call_id="call", tool_name="10.tool")
    assert idempotency_key(one) != idempotency_key(other)
