"""The only place where a run ends, or stops to wait."""

from __future__ import annotations

from agent_core.application.journal import Journal
from agent_core.application.settlement import Settlement
from agent_core.domain.canonical import JsonObject
from agent_core.domain.events import EventType
from agent_core.domain.runs import OutcomeKind, Run, RunOutcome, RunStatus
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory

_ENDS = {
    OutcomeKind.COMPLETED: (RunStatus.COMPLETED, EventType.RUN_COMPLETED),
    OutcomeKind.FAILED: (RunStatus.FAILED, EventType.RUN_FAILED),
    OutcomeKind.CANCELLED: (RunStatus.CANCELLED, EventType.RUN_CANCELLED),
    OutcomeKind.SUSPENDED: (RunStatus.WAITING_FOR_USER, EventType.RUN_WAITING_FOR_USER),
}
_EARLY = frozenset({OutcomeKind.FAILED, OutcomeKind.CANCELLED})
"""The ends at which calls may be left over."""


class Finalizer:
    """Makes every transition out of RUNNING, releases the lease and writes the event that goes
    with it, in one unit of work."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        journal: Journal,
        settlement: Settlement,
    ) -> None:
        self._units = units
        self._clock = clock
        self._journal = journal
        self._settlement = settlement

    async def finalize(self, run_id: str, outcome: RunOutcome) -> Run:
        """End the run as `outcome` says, or let it wait, and return it.

        Raises `StaleState` for a run that is not running: a run ends once.
        """
        status, event_type = _ENDS[outcome.kind]
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
            if outcome.kind in _EARLY:
                await self._settlement.settle(unit, run)
            run = run._replace(
                status=status,
                failure=outcome.failure,
                suspension=outcome.suspension,
                completed_at=self._clock.now() if status.is_terminal else None,
            )
            run = await unit.runs.update(run, expected=RunStatus.RUNNING)
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
    if run.suspension is not None:
        payload["invocation_id"] = run.suspension.invocation_id
    return payload
