"""What goes with every change of a call: its event, and a review of what nobody knows."""

from __future__ import annotations

from agent_core.application import invocation_rows as rows
from agent_core.application.journal import Journal
from agent_core.domain.events import EventType
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.registration import safe_tool_name
from agent_core.domain.runs import Run
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWork

CALL_EVENTS = {
    InvocationStatus.PROPOSED: EventType.TOOL_CALL_PROPOSED,
    InvocationStatus.AUTHORIZED: EventType.TOOL_CALL_AUTHORIZED,
    InvocationStatus.RUNNING: EventType.TOOL_CALL_STARTED,
    InvocationStatus.SUCCEEDED: EventType.TOOL_CALL_COMPLETED,
    InvocationStatus.FAILED: EventType.TOOL_CALL_FAILED,
    InvocationStatus.DENIED: EventType.TOOL_CALL_DENIED,
    InvocationStatus.UNCERTAIN: EventType.TOOL_CALL_UNCERTAIN,
}


class CallJournal:
    """Writes what a change of a call's record brings with it, in the same unit of work."""

    def __init__(self, clock: Clock, ids: IdFactory, journal: Journal) -> None:
        self._clock = clock
        self._ids = ids
        self._journal = journal

    async def write(self, unit: UnitOfWork, run: Run, row: ToolInvocation) -> None:
        """The event of the status that `row` has now, and the review of one that is UNCERTAIN."""
        await self._journal.record(unit, run, CALL_EVENTS[row.status], rows.payload(row))
        if row.status is InvocationStatus.UNCERTAIN and row.outcome is not None:
            from agent_core.domain.reviews import EffectReview  # which few runs need

            await unit.reviews.add(
                EffectReview(
                    id=self._ids.new_id(),
                    tenant_id=run.tenant_id,
                    run_id=run.id,
                    invocation_id=row.id,
                    tool_name=safe_tool_name(row.tool_name),
                    reason_code=row.outcome.reason_code,
                    opened_at=self._clock.now(),
                )
            )
