"""The loop of a run: model, tools, model, … until there is an answer.

Its state is the run's counters and the transcript, and every checkpoint holds both, so the loop
goes on from any checkpoint as it does from the start.
"""

from __future__ import annotations

from agent_core.application.context_builder import build_request, origin_trust
from agent_core.application.journal import Journal
from agent_core.application.model_step import ModelStep
from agent_core.application.step_failed import StepFailed
from agent_core.application.tool_pipeline import ToolPipeline
from agent_core.domain.checkpoints import Checkpoint, CheckpointTrigger
from agent_core.domain.context import (
    ContextItem,
    ItemKind,
    ToolCall,
    Transcript,
    pending_calls,
)
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
from agent_core.domain.tools import ToolSpec
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWorkFactory
from agent_core.ports.tools import ToolRegistry


class RunLoop:
    """Computes the outcome of a run and ends nothing: that is the finalizer's."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        ids: IdFactory,
        journal: Journal,
        registry: ToolRegistry,
        model_step: ModelStep,
        pipeline: ToolPipeline,
    ) -> None:
        self._units = units
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._registry = registry
        self._model_step = model_step
        self._pipeline = pipeline

    async def run(self, run: Run, session: Session, transcript: Transcript) -> RunOutcome:
        """Go on from `transcript` until the model has answered or the run cannot go on."""
        try:
            while (answer := _answer(transcript)) is None:
                pending = pending_calls(transcript)
                if pending:
                    run, transcript = await self._tool_phase(run, session, transcript, pending)
                else:
                    run, transcript = await self._model_phase(run, session, transcript)
        except StepFailed as failed:
            return RunOutcome(
                OutcomeKind.FAILED,
                RunFailure(
                    failed.reason, failed.error_class, failed.step_number, self._clock.now()
                ),
            )
        await self._publish(run, answer)
        return RunOutcome(OutcomeKind.COMPLETED)

    async def _model_phase(
        self, run: Run, session: Session, transcript: Transcript
    ) -> tuple[Run, Transcript]:
        """A new step: its budget, its request, the model's turn, a checkpoint."""
        if run.step_count >= run.limits.max_steps:
            raise StepFailed(FailureReason.MAX_STEPS_EXCEEDED, run.step_count)
        run = run._replace(step_count=run.step_count + 1)
        request = build_request(run, self._tools(session), transcript)
        run, turn = await self._model_step.take(run, request)
        item = ContextItem(
            id=self._ids.new_id(),
            kind=ItemKind.ASSISTANT_TURN,
            source="model",
            trust=origin_trust(request),
            text=turn.text,
            tool_calls=turn.tool_calls,
        )
        return await self._checkpoint(run, (*transcript, item), CheckpointTrigger.MODEL_RESPONSE)

    async def _tool_phase(
        self, run: Run, session: Session, transcript: Transcript, pending: tuple[ToolCall, ...]
    ) -> tuple[Run, Transcript]:
        """The first of the calls that wait, and a checkpoint. A batch that does not fit into the
        budget as a whole is not begun."""
        if run.usage.tool_calls + len(pending) > run.limits.max_tool_calls:
            raise StepFailed(FailureReason.BUDGET_EXCEEDED, run.step_count)
        turn = next(item for item in reversed(transcript) if item.kind is ItemKind.ASSISTANT_TURN)
        item = await self._pipeline.handle(run, session, pending[0], turn.trust)
        usage = run.usage._replace(tool_calls=run.usage.tool_calls + 1)
        return await self._checkpoint(
            run._replace(usage=usage), (*transcript, item), CheckpointTrigger.TOOL_OUTCOME
        )

    async def _checkpoint(
        self, run: Run, transcript: Transcript, trigger: CheckpointTrigger
    ) -> tuple[Run, Transcript]:
        async with self._units() as unit:
            latest = await unit.checkpoints.latest(run.id)
            checkpoint = Checkpoint(
                run_id=run.id,
                version=latest.version + 1 if latest else 1,
                trigger=trigger,
                step_count=run.step_count,
                usage=run.usage,
                transcript=transcript,
                created_at=self._clock.now(),
            )
            await unit.checkpoints.add(checkpoint)
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(
                unit,
                run,
                EventType.RUN_CHECKPOINTED,
                {
                    "version": checkpoint.version,
                    "trigger": trigger,
                    "step_number": run.step_count,
                },
            )
        return run, transcript

    async def _publish(self, run: Run, answer: ContextItem) -> None:
        async with self._units() as unit:
            await self._journal.record(
                unit,
                run,
                EventType.ASSISTANT_MESSAGE_COMPLETED,
                {"text": answer.text, "trust": answer.trust, "step_number": run.step_count},
            )

    def _tools(self, session: Session) -> tuple[ToolSpec, ...]:
        found = (self._registry.find(name) for name in session.tool_names)
        return tuple(tool.spec for tool in found if tool is not None)


def _answer(transcript: Transcript) -> ContextItem | None:
    """The last item, if it is a turn of the model that proposes nothing."""
    last = transcript[-1]
    return last if last.kind is ItemKind.ASSISTANT_TURN and not last.tool_calls else None
