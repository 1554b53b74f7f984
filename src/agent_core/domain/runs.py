"""Runs: one user message and everything done to answer it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class RunStatus(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    WAITING_FOR_APPROVAL = "WAITING_FOR_APPROVAL"
    WAITING_FOR_USER = "WAITING_FOR_USER"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_terminal(self) -> bool:
        """Whether the run has ended: a terminal status has no way out."""
        return not _TRANSITIONS[self]

    def can_become(self, following: RunStatus) -> bool:
        return following in _TRANSITIONS[self]


_WAITING_EXITS = frozenset({RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.FAILED})
_TRANSITIONS: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.QUEUED: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED}),
    RunStatus.RUNNING: frozenset(RunStatus) - {RunStatus.QUEUED, RunStatus.RUNNING},
    RunStatus.WAITING_FOR_APPROVAL: _WAITING_EXITS,
    RunStatus.WAITING_FOR_USER: _WAITING_EXITS,
    RunStatus.COMPLETED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}


class FailureReason(StrEnum):
    """Why a run failed. A reason is added with the code that gives it."""

    MAX_ATTEMPTS_EXCEEDED = "max_attempts_exceeded"
    MAX_STEPS_EXCEEDED = "max_steps_exceeded"
    BUDGET_EXCEEDED = "budget_exceeded"
    MODEL_PERMANENT_ERROR = "model_permanent_error"
    EMPTY_MODEL_TURN = "empty_model_turn"
    INTERNAL_ERROR = "internal_error"


class RunFailure(NamedTuple):
    """`error_class` names the kind of the cause (a model error class, an exception type) and
    never carries its text, which may come from outside."""

    reason: FailureReason
    error_class: str | None
    step_number: int
    occurred_at: datetime


class RunLimits(NamedTuple):
    """Upper bounds of one run; reaching a bound is allowed, passing it ends the run."""

    max_steps: int = 25
    max_model_calls: int = 75
    max_tool_calls: int = 100
    max_input_tokens: int = 1_000_000
    max_output_tokens: int = 200_000


class RunUsage(NamedTuple):
    """What a run has used so far; failed model attempts count."""

    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def exceeds(self, limits: RunLimits) -> bool:
        """Whether any of the budgets is passed (steps have a limit and a reason of their own)."""
        return (
            self.model_calls > limits.max_model_calls
            or self.tool_calls > limits.max_tool_calls
            or self.input_tokens > limits.max_input_tokens
            or self.output_tokens > limits.max_output_tokens
        )


class Run(NamedTuple):
    """A run. `principal_scopes` are stamped at submission; later changes do not reach it."""

    id: str
    session_id: str
    principal_id: str
    principal_scopes: frozenset[str]
    status: RunStatus
    limits: RunLimits
    created_at: datetime
    step_count: int = 0
    usage: RunUsage = RunUsage()
    failure: RunFailure | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None


class OutcomeKind(StrEnum):
    """How an execution of the run loop ended."""

    COMPLETED = "completed"
    FAILED = "failed"


class RunOutcome(NamedTuple):
    """What the loop computed; `failure` is set exactly when `kind` is FAILED."""

    kind: OutcomeKind
    failure: RunFailure | None = None
