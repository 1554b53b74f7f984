"""Runs: one user message and everything done to answer it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.leases import Lease


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

    @property
    def is_waiting(self) -> bool:
        """Whether the run can go on only once somebody has said something."""
        return self in _WAITING

    def can_become(self, following: RunStatus) -> bool:
        return following in _TRANSITIONS[self]


_WAITING = frozenset({RunStatus.WAITING_FOR_APPROVAL, RunStatus.WAITING_FOR_USER})
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
    DEADLINE_EXCEEDED = "deadline_exceeded"
    TOOL_LOOP_DETECTED = "tool_loop_detected"
    REPEATED_DENIAL = "repeated_denial"
    MODEL_PERMANENT_ERROR = "model_permanent_error"
    EMPTY_MODEL_TURN = "empty_model_turn"
    INTERNAL_ERROR = "internal_error"


class Dimension(StrEnum):
    """What a run has a limit of."""

    STEPS = "steps"
    MODEL_CALLS = "model_calls"
    TOOL_CALLS = "tool_calls"
    INPUT_TOKENS = "input_tokens"
    OUTPUT_TOKENS = "output_tokens"
    COST_MICROS = "cost_micros"
    SECONDS = "seconds"


class PassedLimit(NamedTuple):
    """The limit that ended a run. `reached` is what had been used, or would have been."""

    dimension: Dimension
    limit: float
    reached: float

    @property
    def reason(self) -> FailureReason:
        """Why a run fails that passes this limit."""
        return _REASONS.get(self.dimension, FailureReason.BUDGET_EXCEEDED)


_REASONS = {
    Dimension.STEPS: FailureReason.MAX_STEPS_EXCEEDED,
    Dimension.SECONDS: FailureReason.DEADLINE_EXCEEDED,
}


class RunFailure(NamedTuple):
    """`error_class` names the kind of the cause (a model error class, an exception type) and
    never carries its text, which may come from outside. `attempt_number` is set where an attempt
    at a model's turn was the cause, `limit` where a limit was."""

    reason: FailureReason
    error_class: str | None
    step_number: int
    occurred_at: datetime
    attempt_number: int | None = None
    limit: PassedLimit | None = None


class RunLimits(NamedTuple):
    """Upper bounds of one run; reaching a bound is allowed, passing it ends the run.

    `max_cost_micros` is in millionths of the deployment's currency; `deadline_seconds` counts from
    the submission. None is no bound.
    """

    max_steps: int = 25
    max_model_calls: int = 75
    max_tool_calls: int = 100
    max_input_tokens: int = 1_000_000
    max_output_tokens: int = 200_000
    max_cost_micros: int | None = None
    deadline_seconds: float | None = None


class RunUsage(NamedTuple):
    """What a run has used so far; failed model attempts count."""

    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


class SuspensionKind(StrEnum):
    """What a run waits for. A kind is added with the code that waits for it."""

    USER_INPUT = "user_input"


class Suspension(NamedTuple):
    """Why a run waits: the call that cannot go on, and since when."""

    kind: SuspensionKind
    invocation_id: str
    asked_at: datetime


class Run(NamedTuple):
    """A run. `principal_scopes` are stamped at submission; later changes do not reach it.

    `lease` is the hold of the worker that executes it, and None while nobody does. `lease_epoch`
    counts the claims, `attempts` those since the run last got on without losing its worker.
    `seed_event_sequence`: where the session's log was cut at the submission; the conversation up
    to there, with the run's own message, is what it began with. `suspension` is set exactly while
    the run waits for something.
    """

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
    tenant_id: str = "tenant_default"
    lease: Lease | None = None
    lease_epoch: int = 0
    attempts: int = 0
    cancel_requested_at: datetime | None = None
    seed_event_sequence: int = 0
    suspension: Suspension | None = None


class OutcomeKind(StrEnum):
    """How an execution of the run loop ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUSPENDED = "suspended"
    FENCED = "fenced"


class RunOutcome(NamedTuple):
    """What the loop computed; `failure` is set exactly when `kind` is FAILED, and `suspension`
    when it is SUSPENDED."""

    kind: OutcomeKind
    failure: RunFailure | None = None
    suspension: Suspension | None = None
