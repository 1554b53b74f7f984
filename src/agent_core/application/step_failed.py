"""How a phase of the loop says that the run cannot go on."""

from __future__ import annotations

from agent_core.domain.runs import FailureReason


class StepFailed(Exception):
    """Ends the run as failed. `error_class` names the kind of the cause, if there is one."""

    def __init__(
        self, reason: FailureReason, step_number: int, error_class: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.step_number = step_number
        self.error_class = error_class
