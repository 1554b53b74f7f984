"""What the model is told about a tool call: six fields, and one message per reason code."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.tools import SideEffectClass


class OutcomeStatus(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    UNCERTAIN = "uncertain"


class Remediation(StrEnum):
    """What the model can do about an outcome."""

    NONE = "none"
    REQUEST_APPROVAL = "request_approval"
    MODIFY_ARGUMENTS = "modify_arguments"


class ToolOutcome(NamedTuple):
    """The outcome of one proposed call (see docs/specs/tool_system.md).

    `action` is the name of the proposed tool. `message` is the fixed text of `reason_code`:
    nothing is ever interpolated, so no text from outside can reach it. `retryable`: whether the
    same call may succeed later.
    """

    status: OutcomeStatus
    action: str
    reason_code: str
    message: str
    retryable: bool
    remediation: Remediation


class ReasonEntry(NamedTuple):
    """What a reason code says: the one status it goes with, and its fixed text."""

    status: OutcomeStatus
    message: str
    retryable: bool = False
    remediation: Remediation = Remediation.NONE


def _failed(message: str, *, retryable: bool = False) -> ReasonEntry:
    return ReasonEntry(OutcomeStatus.FAILED, message, retryable)


def _modify(message: str) -> ReasonEntry:
    return ReasonEntry(OutcomeStatus.FAILED, message, remediation=Remediation.MODIFY_ARGUMENTS)


def _denied(message: str) -> ReasonEntry:
    return ReasonEntry(OutcomeStatus.DENIED, message)


_ARGUMENT_CODES = {
    "syntax": _modify("The expression is not well formed."),
    "unknown_name": _modify("The expression uses a name that is not a function or constant."),
    "arity": _modify("A function has the wrong number of arguments."),
    "domain": _modify("A function or operator is not defined for one of its operands."),
    "division_by_zero": _modify("The expression divides by zero."),
    "result_out_of_range": _modify("A value is too large or too small to be represented."),
    "expression_too_long": _modify("The expression has too many characters or tokens."),
    "expression_too_deep": _modify("The expression is nested too deeply."),
    "unknown_timezone": _modify("No time zone of this name is known."),
}

REASONS: dict[str, ReasonEntry] = {
    "tool.succeeded": ReasonEntry(OutcomeStatus.SUCCEEDED, "The tool completed."),
    "tool.arguments_malformed": _modify("The arguments are not a JSON object."),
    "tool.arguments_invalid": _modify("The arguments do not match the input schema of the tool."),
    **{f"tool.invalid_arguments.{code}": entry for code, entry in _ARGUMENT_CODES.items()},
    "tool.not_found": _modify("What the arguments name does not exist."),
    "tool.permission_denied": _failed("The tool was refused access to what it needed."),
    "tool.timeout": _failed("The tool did not finish in time.", retryable=True),
    "tool.output_too_large": _modify("The tool produced more output than it is allowed to."),
    "tool.output_invalid": _failed("The tool produced output that it did not declare."),
    "tool.upstream_error": _failed("The service behind the tool failed.", retryable=True),
    "tool.internal_error": _failed("The tool failed for a reason of its own."),
    "tool.unreachable": ReasonEntry(
        OutcomeStatus.UNAVAILABLE, "The service behind the tool cannot be reached.", retryable=True
    ),
    "tool.outcome_unknown": ReasonEntry(
        OutcomeStatus.UNCERTAIN,
        "The tool may have had its effect before it stopped. Do not try it again.",
    ),
    "tool.abandoned": _failed("The run ended before the call did."),
    "tool.contract.no_watermark": ReasonEntry(
        OutcomeStatus.UNCERTAIN,
        "The tool did not record whether it had an effect. Do not try it again.",
    ),
    "tool.breaker.repeated_call": _denied(
        "The same call was proposed too often, so it was not executed."
    ),
    "tool.breaker.uncertain_call": _denied(
        "The outcome of the same call is unknown, so it was not executed again."
    ),
    "policy.scope.missing": _denied("A permission that the tool requires is missing."),
    "policy.matrix.unknown_tool": _denied("No tool of this name is available."),
    **{
        f"policy.matrix.{side_effect}": _denied("The policy does not allow this action.")
        for side_effect in SideEffectClass
    },
    "policy.trust.untrusted_origin": _denied(
        "Content from outside led to this action, so it needs an approval."
    ),
    "policy.trust.exfiltration_blocked": _denied(
        "The conversation holds private content and content from outside, so nothing is sent out."
    ),
    "policy.approval.unavailable": _denied(
        "The action needs an approval, and nobody can give one here."
    ),
}
"""Every reason code that an outcome or a decision of a policy can carry, with its message and what
can be done about it."""

FAILURE_STATUSES = frozenset({OutcomeStatus.FAILED, OutcomeStatus.UNAVAILABLE})
"""What the codes that a tool may raise stand for: the other statuses are not a tool's to give."""


def make_outcome(action: str, reason_code: str) -> ToolOutcome:
    """The outcome for `reason_code`, completed from the table. `KeyError` for an unknown code."""
    entry = REASONS[reason_code]
    return ToolOutcome(
        entry.status, action, reason_code, entry.message, entry.retryable, entry.remediation
    )
