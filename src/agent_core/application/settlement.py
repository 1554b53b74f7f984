"""Ending the calls that a run leaves behind when it ends early."""

from __future__ import annotations

from agent_core.application import invocation_rows as rows
from agent_core.application.call_journal import CallJournal
from agent_core.domain.runs import Run
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWork


class Settlement:
    """A run that fails or is cancelled may have calls that a lost worker had begun, or that wait
    for somebody. None of them goes on, and each gets the outcome that can be vouched for."""

    def __init__(self, clock: Clock, ids: IdFactory, calls: CallJournal) -> None:
        self._clock = clock
        self._ids = ids
        self._calls = calls

    async def settle(self, unit: UnitOfWork, run: Run) -> None:
        """End every call of `run` that has not: UNCERTAIN after its watermark, FAILED before."""
        for row in await unit.invocations.list_for_run(run.id):
            if row.status.is_terminal:
                continue
            sent = row.effect_sent_at is not None
            code = "tool.outcome_unknown" if sent else "tool.abandoned"
            ending = rows.ended(row, code, self._clock.now())._replace(
                nonce=self._ids.new_id(), suspended_kind=None
            )
            stored = await unit.invocations.update(ending, expected=row.status)
            await self._calls.write(unit, run, stored)
