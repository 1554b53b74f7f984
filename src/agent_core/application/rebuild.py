"""From the records of a run back to the state in which its loop goes on.

A checkpoint saves the work and holds no truth: without one the same state comes from the session's
log, the turns of the model and the records of its calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from agent_core.application import invocation_rows as rows
from agent_core.application.context_builder import seed_transcript
from agent_core.domain.checkpoints import Checkpoint
from agent_core.domain.context import ItemKind, Transcript, pending_calls
from agent_core.domain.errors import BrokenCheckpoints
from agent_core.domain.events import Event, EventType
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run
from agent_core.ports.persistence import UnitOfWork


class Progress(NamedTuple):
    """How far an earlier execution got beyond what the transcript shows.

    `proposed`: the calls of the last turn that are in the log, the id of the invocation by the id
    of the call. `attempts`: how often the model was asked for the turn that comes next.
    `is_published`: the answer is in the log.
    """

    proposed: Mapping[str, str] = MappingProxyType({})
    attempts: int = 0
    is_published: bool = False


NO_PROGRESS = Progress()


class Restored(NamedTuple):
    """`run` with the counters that go with `transcript`. `version` is that of the checkpoint from
    which it was made, None for one made without; `is_ahead`: the model had answered since."""

    run: Run
    transcript: Transcript
    progress: Progress
    version: int | None
    is_ahead: bool


async def restored(unit: UnitOfWork, run: Run) -> Restored:
    """The state in which an execution of `run` goes on.

    The results of the last turn's calls are taken from a checkpoint only; without, these calls
    are handled again, each to the outcome that is on record.
    """
    log = await unit.events.list_for_session(run.session_id)
    checkpoint = await _latest(unit, run)
    if checkpoint is None:
        step = 0
        transcript = seed_transcript(
            event for event in log if event.sequence <= run.seed_event_sequence
        )
    else:
        step, transcript = checkpoint.step_count, checkpoint.transcript
    turns = await unit.turns.list_for_run(run.id, after_step=step)
    recorded = await unit.invocations.list_for_run(run.id) if turns else ()
    for turn in turns:
        transcript = (*_answered(transcript, recorded, step), turn.item)
        step = turn.step_number
    handled = sum(item.kind is ItemKind.TOOL_RESULT for item in transcript)
    return Restored(
        run._replace(step_count=step, usage=run.usage._replace(tool_calls=handled)),
        transcript,
        _progress([event for event in log if event.run_id == run.id], step),
        None if checkpoint is None else checkpoint.version,
        bool(turns),
    )


async def _latest(unit: UnitOfWork, run: Run) -> Checkpoint | None:
    """The last checkpoint; those that do not belong together are dropped."""
    try:
        return await unit.checkpoints.latest(run.id)
    except BrokenCheckpoints:
        await unit.checkpoints.delete_for_run(run.id)
        return None


def _answered(transcript: Transcript, recorded: Sequence[ToolInvocation], step: int) -> Transcript:
    """The transcript with the result of every call of its last turn, which was taken at `step`."""
    by_call = {row.call_id: row for row in recorded if row.step_number == step}
    results = (by_call[call.call_id] for call in pending_calls(transcript))
    return (*transcript, *map(rows.rendered, results))


def _progress(log: Sequence[Event], step: int) -> Progress:
    asked = [
        event.payload["attempt_number"]
        for event in log
        if event.event_type is EventType.MODEL_REQUEST_STARTED
        and event.payload["step_number"] == step + 1
    ]
    return Progress(
        {
            str(event.payload["call_id"]): str(event.payload["invocation_id"])
            for event in log
            if event.event_type is EventType.TOOL_CALL_PROPOSED
            and event.payload["step_number"] == step
        },
        len(asked),
        any(event.event_type is EventType.ASSISTANT_MESSAGE_COMPLETED for event in log),
    )
