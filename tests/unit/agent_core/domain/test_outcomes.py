"""The outcome object and its message table."""

import pytest

from agent_core.domain.outcomes import (
    FAILURE_STATUSES,
    REASONS,
    OutcomeStatus,
    Remediation,
    make_outcome,
)
from agent_core.domain.tools import SideEffectClass

FIELDS = ("status", "action", "reason_code", "message", "retryable", "remediation")


@pytest.mark.parametrize("code", REASONS)
def test_six_fields_and_the_entry_of_the_table(code):
    outcome = make_outcome("demo.tool", code)
    entry = REASONS[code]
    assert outcome._fields == FIELDS
    assert outcome == (
        entry.status,
        "demo.tool",
        code,
        entry.message,
        entry.retryable,
        entry.remediation,
    )


def test_every_status_has_a_code():
    assert {entry.status for entry in REASONS.values()} == set(OutcomeStatus)


@pytest.mark.parametrize("code", REASONS)
def test_messages_are_sentences_without_a_place_for_anything(code):
    message = REASONS[code].message
    assert message.endswith(".")
    assert message.isascii()
    assert not set("{}%$<>\n") & set(message)


@pytest.mark.parametrize(
    ("code", "status", "retryable", "remediation"),
    [
        ("tool.succeeded", "succeeded", False, Remediation.NONE),
        ("tool.timeout", "failed", True, Remediation.NONE),
        ("tool.upstream_error", "failed", True, Remediation.NONE),
        ("tool.unreachable", "unavailable", True, Remediation.NONE),
        ("tool.internal_error", "failed", False, Remediation.NONE),
        ("tool.permission_denied", "failed", False, Remediation.NONE),
        ("tool.not_found", "failed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.output_too_large", "failed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.arguments_invalid", "failed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.arguments_malformed", "failed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.invalid_arguments.division_by_zero", "failed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.invalid_arguments.unknown_timezone", "failed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.outcome_unknown", "uncertain", False, Remediation.NONE),
        ("tool.contract.no_watermark", "uncertain", False, Remediation.NONE),
        ("tool.breaker.repeated_call", "denied", False, Remediation.NONE),
        ("tool.breaker.uncertain_call", "denied", False, Remediation.NONE),
        ("policy.matrix.unknown_tool", "denied", False, Remediation.NONE),
        ("policy.matrix.external_write", "denied", False, Remediation.NONE),
        ("policy.scope.missing", "denied", False, Remediation.NONE),
        ("policy.approval.unavailable", "denied", False, Remediation.NONE),
        ("policy.trust.exfiltration_blocked", "denied", False, Remediation.NONE),
    ],
)
def test_what_a_code_stands_for(code, status, retryable, remediation):
    entry = REASONS[code]
    assert (entry.status, entry.retryable, entry.remediation) == (status, retryable, remediation)


@pytest.mark.parametrize("code", [code for code in REASONS if code.startswith("policy.")])
def test_a_policy_denies_and_never_asks_to_try_the_same_again(code):
    assert REASONS[code].status is OutcomeStatus.DENIED
    assert not REASONS[code].retryable


def test_what_a_tool_may_raise_is_a_failure():
    assert {"failed", "unavailable"} == FAILURE_STATUSES


def test_every_class_has_a_code():
    classes = {code.removeprefix("policy.matrix.") for code in REASONS if "matrix" in code}
    assert classes == {str(c) for c in SideEffectClass} | {"unknown_tool"}


def test_an_unknown_code_is_an_error():
    with pytest.raises(KeyError):
        make_outcome("demo.tool", "tool.invented")
