"""What a worker process of a case is told, and what it tells: JSON, one line each way and more.

A job says how far the case has come, so that nothing but the job and the store is needed to go on:
the model's script is at the turn after the last one whose end is on record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from agent_core.domain.events import Event, EventType
from hardgate.cases.model import Case
from hardgate.cases.record import ObservedIntervention
from hardgate.fixtures.model_script import ModelScript
from hardgate.fixtures.tool_results import ToolResults

_TURN_ENDS = (EventType.MODEL_RESPONSE_COMPLETED, EventType.MODEL_RESPONSE_FAILED)


class Job(NamedTuple):
    """`number` counts the workers of the case from 1. `start` is where the worker's clock stands.
    `turns_played` of the script are on record. `seen` is what became of the interventions so far.
    """

    case: Case
    script: ModelScript
    tool_results: ToolResults | None
    url: str
    tenant_id: str
    number: int
    start: datetime
    turns_played: int
    seen: tuple[ObservedIntervention, ...]

    def to_json(self) -> str:
        results = self.tool_results
        members = {
            **self._asdict(),
            "case": _dumped(self.case.model_copy(update={"expected": None, "arms": None})),
            "script": _dumped(self.script),
            "tool_results": results and _dumped(results),
            "start": self.start.isoformat(),
        }
        return json.dumps(members)

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Raises ValueError for anything that `to_json` does not give."""
        members = json.loads(text)
        results = members["tool_results"]
        return cls(
            **{
                **members,
                "case": Case.model_validate_json(members["case"]),
                "script": ModelScript.model_validate_json(members["script"]),
                "tool_results": results and ToolResults.model_validate_json(results),
                "start": datetime.fromisoformat(members["start"]),
                "seen": tuple(ObservedIntervention(*one) for one in members["seen"]),
            }
        )


class Report(NamedTuple):
    """How far a worker has come: each report replaces the one before.

    `waits_seconds` are the pauses that the runtime asked for, and `missing_results` the ids of the
    invocations without a recorded result, both since the worker began.
    """

    seen: tuple[ObservedIntervention, ...]
    waits_seconds: Sequence[float] = ()
    missing_results: Sequence[str] = ()

    def to_json(self) -> str:
        return json.dumps(self._asdict())

    @classmethod
    def last_of(cls, lines: str) -> Report | None:
        """The report in the last whole line; None where there is none."""
        *whole, _ = lines.split("\n")
        if not whole:
            return None
        members = json.loads(whole[-1])
        return cls(
            tuple(ObservedIntervention(*one) for one in members["seen"]),
            members["waits_seconds"],
            members["missing_results"],
        )


class ScriptPosition(NamedTuple):
    """`exhausted_at_step`: the step that asked for a turn which the script does not have."""

    turns_played: int
    exhausted_at_step: int | None


def script_position(events: Iterable[Event], turns_total: int) -> ScriptPosition:
    """Where a script is, by the log. Each attempt whose end is on record took one turn; an attempt
    that nobody knows the end of took none, so whoever asks again gets the same turn."""
    ends = [event for event in events if event.event_type in _TURN_ENDS]
    beyond = ends[turns_total : turns_total + 1]
    step = int(str(beyond[0].payload["step_number"])) if beyond else None
    return ScriptPosition(min(len(ends), turns_total), step)


def _dumped(model: Case | ModelScript | ToolResults) -> str:
    return model.model_dump_json(exclude_unset=True)
