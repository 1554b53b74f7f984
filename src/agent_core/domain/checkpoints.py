"""Checkpoints: everything that the run loop needs to go on from a point of a run.

A transcript only grows, so most checkpoints are kept as what they add to the one before. Every
eighth is kept whole: no more than eight records are ever read to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.context import Transcript
from agent_core.domain.errors import BrokenCheckpoints
from agent_core.domain.runs import RunUsage

FULL_EVERY = 8


class CheckpointTrigger(StrEnum):
    MODEL_RESPONSE = "model_response"
    TOOL_OUTCOME = "tool_outcome"


class Checkpoint(NamedTuple):
    """The state of a run. `version` counts from 1 within the run."""

    run_id: str
    version: int
    trigger: CheckpointTrigger
    step_count: int
    usage: RunUsage
    transcript: Transcript
    created_at: datetime


class StoredCheckpoint(NamedTuple):
    """A checkpoint as it is kept.

    `kept_items` is how many items of the version before come first, None in a full one;
    `checkpoint.transcript` holds only the items that follow these.
    """

    checkpoint: Checkpoint
    kept_items: int | None

    @property
    def is_full(self) -> bool:
        return self.kept_items is None


def stored(checkpoint: Checkpoint, previous: Checkpoint | None) -> StoredCheckpoint:
    """How to keep `checkpoint`, given the one before it.

    Full at version 1, at every eighth version, where versions are missing in between, and where
    the transcript is not a continuation of the one before.
    """
    if (
        previous is None
        or checkpoint.version % FULL_EVERY == 0
        or checkpoint.version != previous.version + 1
        or checkpoint.transcript[: len(previous.transcript)] != previous.transcript
    ):
        return StoredCheckpoint(checkpoint, None)
    kept = len(previous.transcript)
    return StoredCheckpoint(checkpoint._replace(transcript=checkpoint.transcript[kept:]), kept)


def restored(chain: Sequence[StoredCheckpoint]) -> Checkpoint:
    """The last checkpoint of `chain`: a full one and everything added to it, by version.

    Raises `BrokenCheckpoints` for a chain that does not start full, or has a gap or a contradiction
    in it: then the run is rebuilt from its log.
    """
    if not chain or not chain[0].is_full:
        raise BrokenCheckpoints("no full checkpoint to start from")
    current = chain[0].checkpoint
    for following in chain[1:]:
        checkpoint, kept = following
        if checkpoint.version != current.version + 1:
            raise BrokenCheckpoints(f"version {current.version + 1} is missing")
        if kept is not None:
            if kept != len(current.transcript):
                raise BrokenCheckpoints(f"version {checkpoint.version} continues something else")
            items = (*current.transcript, *checkpoint.transcript)
            checkpoint = checkpoint._replace(transcript=items)
        current = checkpoint
    return current
