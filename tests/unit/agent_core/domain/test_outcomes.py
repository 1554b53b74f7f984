"""The outcome object and its message table."""

import pytest

from agent_core.domain.outcomes import REASONS, OutcomeStatus, Remediation, make_outcome
from agent_core.domain.tools import SideEffectClass

FIELDS = ("status", "action", "reason_code", "message", "retryable", "remediation")


@pytest.mark.parametrize("status", OutcomeStatus)
@pytest.mark.parametrize("code", REASONS)
def test_six_fields_and_the_message_of_the_table(status, code):
    outcome = make_outcome(status, "demo.tool", code)
    assert outcome._fields == FIELDS
    assert outcome.message == REASONS[code].message
    assert outcome == (status, "demo.tool", code, *REASONS[code])


@pytest.mark.parametrize("code", REASONS)
def test_messages_are_sentences_without_a_place_for_anything(code):
    message = REASONS[code].message
    assert message.endswith(".")
    assert message.isascii()
    assert not set("{}%$<>\n") & set(message)


@pytest.mark.parametrize(
    ("code", "retryable", "remediation"),
    [
        ("tool.succeeded", False, Remediation.NONE),
        ("tool.timeout", True, Remediation.NONE),
        ("tool.internal_error", False, Remediation.NONE),
        ("tool.arguments_invalid", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.arguments_malformed", False, Remediation.MODIFY_ARGUMENTS),
        ("tool.invalid_arguments.division_by_zero", False, Remediation.MODIFY_ARGUMENTS),
        ("policy.matrix.unknown_tool", False, Remediation.NONE),
        ("policy.matrix.external_write", False, Remediation.NONE),
    ],
)
def test_what_can_be_done(code, retryable, remediation):
    assert (REASONS[code].retryable, REASONS[code].remediation) == (retryable, remediation)


def test_every_class_has_a_code():
    classes = {code.removeprefix("policy.matrix.") for code in REASONS if "matrix" in code}
    assert classes == {str(c) for c in SideEffectClass} | {"unknown_tool"}


def test_an_unknown_code_is_an_error():
    with pytest.raises(KeyError):
        make_outcome(OutcomeStatus.FAILED, "demo.tool", "tool.invented")
