"""Executing a run: start it, let the loop compute an outcome, end it."""

from __future__ import annotations

from agent_core.application.context_builder import seed_transcript
from agent_core.application.finalize import Finalizer
from agent_core.application.journal import Journal
from agent_core.application.run_loop import RunLoop
from agent_core.domain import budgets
from agent_core.domain.context import Transcript
from agent_core.domain.events import EventType
from agent_core.domain.runs import (
    FailureReason,
    OutcomeKind,
    Run,
    RunFailure,
    RunOutcome,
    RunStatus,
)
from agent_core.domain.sessions import Session
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory


class RunExecutor:
    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        journal: Journal,
        loop: RunLoop,
        finalizer: Finalizer,
    ) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal
        self._loop = loop
        self._finalizer = finalizer

    async def execute(self, run_id: str) -> Run:
        """Execute a queued run to its end and return it.

        Raises `NotFound`, and `StaleState` for a run that is not queued. An error that nothing
        in the loop expects ends the run as `internal_error` and is raised again: it is a defect
        of the runtime, which neither the log nor the caller may miss.
        """
        run, session, transcript = await self._start(run_id)
        try:
            outcome = self._refused(run) or await self._loop.run(run, session, transcript)
        except Exception as error:
            await self._finalizer.finalize(run_id, await self._broken(run_id, error))
            raise
        return await self._finalizer.finalize(run_id, outcome)

    async def _start(self, run_id: str) -> tuple[Run, Session, Transcript]:
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
            run = run._replace(status=RunStatus.RUNNING, started_at=self._clock.now())
            await unit.runs.update(run, expected=RunStatus.QUEUED)
            await self._journal.record(unit, run, EventType.RUN_STARTED, {})
            session = await unit.sessions.get(run.session_id)
            events = await unit.events.list_for_session(run.session_id)
        return run, session, seed_transcript(events)

    def _refused(self, run: Run) -> RunOutcome | None:
        """The outcome of a run whose limits admit nothing at all."""
        now = self._clock.now()
        passed = budgets.admission(run, now)
        if passed is None:
            return None
        failure = RunFailure(passed.reason, None, run.step_count, now, limit=passed)
        return RunOutcome(OutcomeKind.FAILED, failure)

    async def _broken(self, run_id: str, error: Exception) -> RunOutcome:
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
        failure = RunFailure(
            FailureReason.INTERNAL_ERROR, type(error).__name__, run.step_count, self._clock.now()
        )
        return RunOutcome(OutcomeKind.FAILED, failure)
