"""Writing checkpoints."""

from __future__ import annotations

from agent_core.application.journal import Journal
from agent_core.domain.checkpoints import Checkpoint, CheckpointTrigger, stored
from agent_core.domain.context import Transcript
from agent_core.domain.events import EventType
from agent_core.domain.runs import Run, RunStatus
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWork


class CheckpointWriter:
    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._clock = clock
        self._journal = journal

    async def write(
        self, unit: UnitOfWork, run: Run, transcript: Transcript, trigger: CheckpointTrigger
    ) -> None:
        """Store the state of a run, its counters included, as the next version."""
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
                "full": stored(checkpoint, latest).is_full,
            },
        )
