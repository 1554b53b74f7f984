"""Turns of the model as they are on record, so that a run can be rebuilt without a checkpoint."""

from __future__ import annotations

from typing import NamedTuple

from agent_core.domain.context import ContextItem


class RecordedTurn(NamedTuple):
    """What the model answered at a step: an item of the kind `assistant_turn`, whole.

    The log has its text and which tools it calls, but no arguments; these are here.
    """

    run_id: str
    step_number: int
    item: ContextItem
