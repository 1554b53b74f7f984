"""The loop of a run: model, tools, model, … until there is an answer.

A step has eleven phases. Those that have a subject yet: 1 cancellation and the budgets, 5 building
the request, 6 the attempts at a turn, 7 their usage, 8 a checkpoint, 9 the calls of the turn, 11 a
checkpoint. Still without one: 2 recall, 3 pressure and 4 compaction of the context, and 10 the
working state.

The state of the loop is the run's counters and the transcript, and every checkpoint holds both, so
the loop goes on from any checkpoint as it does from the start. What an earlier execution did beyond
that, and must not be done twice, is the `Progress`.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_core.application.cancellation import CancellationToken, Cancelled
from agent_core.application.checkpointing import CheckpointWriter
from agent_core.application.context_builder import build_request
from agent_core.application.journal import Journal
from agent_core.application.model_step import ModelStep
from agent_core.application.rebuild import NO_PROGRESS, Progress
from agent_core.application.step_failed import StepFailed, raise_if_passed
from agent_core.application.tool_batch import ToolBatch
from agent_core.application.tool_pipeline import RunSuspended
from agent_core.domain import budgets
from agent_core.domain.breaker import Breaker
from agent_core.domain.checkpoints import CheckpointTrigger
from agent_core.domain.context import (
    ContextItem,
    ItemKind,
    ToolCall,
    Transcript,
    pending_calls,
)
from agent_core.domain.events import EventType
from agent_core.domain.runs import OutcomeKind, Run, RunOutcome
from agent_core.domain.sessions import Session
from agent_core.domain.tools import ToolSpec
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory
from agent_core.ports.tools import ToolRegistry


class RunLoop:
    """Computes the outcome of a run and ends nothing: that is the finalizer's."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        journal: Journal,
        registry: ToolRegistry,
        model_step: ModelStep,
        batch: ToolBatch,
        token: CancellationToken,
    ) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal
        self._registry = registry
        self._model_step = model_step
        self._batch = batch
        self._token = token
        self._checkpoints = CheckpointWriter(clock, journal)

    async def run(
        self,
        run: Run,
        session: Session,
        transcript: Transcript,
        progress: Progress = NO_PROGRESS,
    ) -> RunOutcome:
        """Go on from `transcript` until the model has answered or the run cannot go on.

        Raises `Fenced` where the run is not held any more.
        """
        try:
            raise_if_passed(budgets.recorded(run), run.step_count)
            breaker = await self._breaker(run, transcript)
            _raise_if_tripped(breaker, run)
            while (answer := _answer(transcript)) is None:
                self._token.check()
                pending = pending_calls(transcript)
                if pending:
                    run, transcript = await self._tools(
                        run, session, transcript, pending, breaker, progress.proposed
                    )
                else:
                    run, transcript = await self._turn(run, session, transcript, progress.attempts)
                    progress = NO_PROGRESS
        except StepFailed as failed:
            return RunOutcome(OutcomeKind.FAILED, failed.failure(self._clock.now()))
        except Cancelled:
            return RunOutcome(OutcomeKind.CANCELLED)
        except RunSuspended as suspended:
            return RunOutcome(OutcomeKind.SUSPENDED, suspension=suspended.suspension)
        if not progress.is_published:
            await self._publish(run, answer)
        return RunOutcome(OutcomeKind.COMPLETED)

    async def _turn(
        self, run: Run, session: Session, transcript: Transcript, attempts: int
    ) -> tuple[Run, Transcript]:
        """Phases 1 to 8 of a new step: budgets, request, the model's turn, a checkpoint."""
        raise_if_passed(budgets.step(run, self._clock.now()), run.step_count)
        run = run._replace(step_count=run.step_count + 1)
        request = build_request(run, self._offered(session), transcript)
        run, turn = await self._model_step.take(run, request, attempts)
        return await self._checkpoint(run, (*transcript, turn), CheckpointTrigger.MODEL_RESPONSE)

    async def _tools(
        self,
        run: Run,
        session: Session,
        transcript: Transcript,
        pending: tuple[ToolCall, ...],
        breaker: Breaker,
        logged: Mapping[str, str],
    ) -> tuple[Run, Transcript]:
        """Phases 9 to 11: as many of the calls as go at once, and a checkpoint."""
        raise_if_passed(budgets.batch(run, len(pending), self._clock.now()), run.step_count)
        handled = await self._batch.handle_next(run, session, transcript, pending, breaker, logged)
        for one in handled:
            breaker.record(one.row)
        usage = run.usage._replace(tool_calls=run.usage.tool_calls + len(handled))
        run, transcript = await self._checkpoint(
            run._replace(usage=usage),
            (*transcript, *(one.item for one in handled)),
            CheckpointTrigger.TOOL_OUTCOME,
        )
        _raise_if_tripped(breaker, run)
        return run, transcript

    async def _breaker(self, run: Run, transcript: Transcript) -> Breaker:
        """Counts what the transcript has the results of, and not what was recorded after it."""
        answered = [item.id for item in transcript if item.kind is ItemKind.TOOL_RESULT]
        if not answered:
            return Breaker()
        async with self._units() as unit:
            recorded = {row.id: row for row in await unit.invocations.list_for_run(run.id)}
        return Breaker(recorded[row_id] for row_id in answered)

    async def _checkpoint(
        self, run: Run, transcript: Transcript, trigger: CheckpointTrigger
    ) -> tuple[Run, Transcript]:
        async with self._units() as unit:
            await self._checkpoints.write(unit, run, transcript, trigger)
        return run, transcript

    async def _publish(self, run: Run, answer: ContextItem) -> None:
        async with self._units() as unit:
            await self._journal.record(
                unit,
                run,
                EventType.ASSISTANT_MESSAGE_COMPLETED,
                {
                    "text": answer.text,
                    "trust": answer.labels.trust,
                    "private": answer.labels.is_private,
                    "step_number": run.step_count,
                },
            )

    def _offered(self, session: Session) -> tuple[ToolSpec, ...]:
        found = (self._registry.find(name) for name in session.tool_names)
        return tuple(one.spec for one in found if one is not None)


def _raise_if_tripped(breaker: Breaker, run: Run) -> None:
    if breaker.tripped is not None:
        raise StepFailed(breaker.tripped, run.step_count)


def _answer(transcript: Transcript) -> ContextItem | None:
    """The last item, if it is a turn of the model that proposes nothing."""
    last = transcript[-1]
    return last if last.kind is ItemKind.ASSISTANT_TURN and not last.tool_calls else None
