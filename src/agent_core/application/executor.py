"""Executing a run that is held: start it or go on with it, compute an outcome, end it."""

from __future__ import annotations

from typing import NamedTuple

from agent_core.application.checkpointing import CheckpointWriter
from agent_core.application.context_builder import seed_transcript
from agent_core.application.finalize import Finalizer
from agent_core.application.journal import Journal
from agent_core.application.rebuild import NO_PROGRESS, Progress, restored
from agent_core.application.run_loop import RunLoop
from agent_core.domain import budgets
from agent_core.domain.canonical import JsonObject
from agent_core.domain.checkpoints import CheckpointTrigger
from agent_core.domain.context import Transcript
from agent_core.domain.errors import Fenced, StorageUnavailable
from agent_core.domain.events import EventType
from agent_core.domain.leases import MAXIMUM_ATTEMPTS
from agent_core.domain.runs import (
    FailureReason,
    OutcomeKind,
    PassedLimit,
    Run,
    RunFailure,
    RunOutcome,
    RunStatus,
)
from agent_core.domain.sessions import Session
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory


class Executed(NamedTuple):
    """The run as it is stored after an execution, and how that ended."""

    run: Run
    kind: OutcomeKind


class _Start(NamedTuple):
    run: Run
    session: Session
    transcript: Transcript
    progress: Progress
    refused: PassedLimit | None


class RunExecutor:
    """Executes one run; `units` are those of the hold on it."""

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
        self._checkpoints = CheckpointWriter(clock, journal)

    async def execute(self, run: Run) -> Executed:
        """Execute a run that was claimed until it ends or waits.

        Raises `Fenced` where it is not held any more, and `StorageUnavailable`: both leave the run
        to whoever holds it next. Any other error that nothing in the loop expects ends the run as
        `internal_error` and is raised again: it is a defect of the runtime, which neither the log
        nor the caller may miss.
        """
        try:
            outcome = await self._outcome(run)
        except (Fenced, StorageUnavailable):
            raise
        except Exception as error:
            await self._finalizer.finalize(run.id, await self._broken(run.id, error))
            raise
        return Executed(await self._finalizer.finalize(run.id, outcome), outcome.kind)

    async def _outcome(self, run: Run) -> RunOutcome:
        if run.cancel_requested_at is not None:
            return RunOutcome(OutcomeKind.CANCELLED)
        if run.attempts > MAXIMUM_ATTEMPTS:
            return self._failed(run, FailureReason.MAX_ATTEMPTS_EXCEEDED)
        start = await self._start(run)
        if start.refused is not None:
            return self._failed(start.run, start.refused.reason, start.refused)
        return await self._loop.run(start.run, start.session, start.transcript, start.progress)

    async def _start(self, run: Run) -> _Start:
        async with self._units() as unit:
            session = await unit.sessions.get(run.session_id)
            if run.started_at is not None:
                return await self._resumed(unit, run, session)
            run = run._replace(started_at=self._clock.now())
            run = await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(unit, run, EventType.RUN_STARTED, {})
            events = await unit.events.list_for_session(run.session_id)
        refused = budgets.admission(run, self._clock.now())
        return _Start(run, session, seed_transcript(events), NO_PROGRESS, refused)

    async def _resumed(self, unit: UnitOfWork, run: Run, session: Session) -> _Start:
        """Whatever the limits still admit: the loop asks them before it spends anything."""
        state = await restored(unit, run)
        run = await unit.runs.update(state.run, expected=RunStatus.RUNNING)
        payload: JsonObject = {"step_number": run.step_count}
        if state.version is not None:
            payload["version"] = state.version
        await self._journal.record(unit, run, EventType.RUN_RESUMED, payload)
        if state.is_ahead:  # the checkpoint that should have followed the turn
            trigger = CheckpointTrigger.MODEL_RESPONSE
            await self._checkpoints.write(unit, run, state.transcript, trigger)
        return _Start(run, session, state.transcript, state.progress, None)

    async def _broken(self, run_id: str, error: Exception) -> RunOutcome:
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
        failure = RunFailure(
            FailureReason.INTERNAL_ERROR, type(error).__name__, run.step_count, self._clock.now()
        )
        return RunOutcome(OutcomeKind.FAILED, failure)

    def _failed(
        self, run: Run, reason: FailureReason, limit: PassedLimit | None = None
    ) -> RunOutcome:
        failure = RunFailure(reason, None, run.step_count, self._clock.now(), limit=limit)
        return RunOutcome(OutcomeKind.FAILED, failure)
