"""Checkpoints: everything that the run loop needs to go on from a point of a run."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.context import Transcript
from agent_core.domain.runs import RunUsage


class CheckpointTrigger(StrEnum):
    MODEL_RESPONSE = "model_response"
    TOOL_OUTCOME = "tool_outcome"


class Checkpoint(NamedTuple):
    """`version` counts from 1 within a run. Every checkpoint is full: it needs no earlier one."""

    run_id: str
    version: int
    trigger: CheckpointTrigger
    step_count: int
    usage: RunUsage
    transcript: Transcript
    created_at: datetime
