"""The only place where a run ends."""

from __future__ import annotations

from agent_core.application.journal import Journal
from agent_core.domain.canonical import JsonObject
from agent_core.domain.events import EventType
from agent_core.domain.runs import OutcomeKind, Run, RunOutcome, RunStatus
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

_ENDS = {
    OutcomeKind.COMPLETED: (RunStatus.COMPLETED, EventType.RUN_COMPLETED),
    OutcomeKind.FAILED: (RunStatus.FAILED, EventType.RUN_FAILED),
}


class Finalizer:
    """Makes every terminal transition and writes every terminal event, in one unit of work."""

    def __init__(self, *, units: UnitOfWorkFactory, clock: Clock, journal: Journal) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal

    async def finalize(self, run_id: str, outcome: RunOutcome) -> Run:
        """End the run as `outcome` says and return it.

        Raises `StaleState` for a run that is not running: a run ends once.
        """
        status, event_type = _ENDS[outcome.kind]
        async with self._units() as unit:
            run = (await unit.runs.get(run_id))._replace(
                status=status, failure=outcome.failure, completed_at=self._clock.now()
            )
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(unit, run, event_type, _payload(run))
        return run


def _payload(run: Run) -> JsonObject:
    payload: JsonObject = {
        "step_count": run.step_count,
        "model_call_count": run.usage.model_calls,
        "tool_call_count": run.usage.tool_calls,
    }
    failure = run.failure
    if failure is not None:
        described: JsonObject = {
            "reason": failure.reason,
            "error_class": failure.error_class,
            "step_number": failure.step_number,
            "attempt_number": failure.attempt_number,
            "limit": None if failure.limit is None else dict(failure.limit._asdict()),
        }
        payload |= {name: value for name, value in described.items() if value is not None}
    return payload
