"""How a phase of the loop says that the run cannot go on."""

from __future__ import annotations

from datetime import datetime

from agent_core.domain.runs import FailureReason, PassedLimit, RunFailure


class StepFailed(Exception):
    """Ends the run as failed; the arguments are those of `RunFailure`."""

    def __init__(
        self,
        reason: FailureReason,
        step_number: int,
        error_class: str | None = None,
        attempt_number: int | None = None,
        limit: PassedLimit | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self._step_number = step_number
        self._error_class = error_class
        self._attempt_number = attempt_number
        self._limit = limit

    def failure(self, now: datetime) -> RunFailure:
        return RunFailure(
            reason=self.reason,
            error_class=self._error_class,
            step_number=self._step_number,
            occurred_at=now,
            attempt_number=self._attempt_number,
            limit=self._limit,
        )


def raise_if_passed(
    limit: PassedLimit | None,
    step_number: int,
    attempt_number: int | None = None,
    error_class: str | None = None,
) -> None:
    """Raises `StepFailed` for a limit that is passed."""
    if limit is not None:
        raise StepFailed(limit.reason, step_number, error_class, attempt_number, limit)
