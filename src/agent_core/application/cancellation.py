"""How an execution learns that it should stop."""

from __future__ import annotations

from agent_core.domain.errors import Fenced
from agent_core.domain.runs import Run


class Cancelled(Exception):
    """The run was asked to end, and does so at a point where it can."""


class CancellationToken:
    """One for each execution of a run. Whoever reads the run's record shows it to the token, and
    the execution asks it wherever it can stop."""

    def __init__(self) -> None:
        self._is_requested = False
        self._is_lost = False

    def observe(self, run: Run) -> None:
        """Look at the run as it is stored now."""
        if run.cancel_requested_at is not None:
            self._is_requested = True

    def lose(self) -> None:
        """The hold on the run is lost."""
        self._is_lost = True

    def check(self) -> None:
        """Raises `Fenced` if the hold on the run is lost, and `Cancelled` if it is to end."""
        if self._is_lost:
            raise Fenced("the lease was not renewed")
        if self._is_requested:
            raise Cancelled
