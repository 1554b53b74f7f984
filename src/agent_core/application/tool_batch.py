"""The calls of one turn: which of them go next, and whether they go at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from agent_core.application import invocation_rows as rows
from agent_core.application.tool_pipeline import HandledCall, Proposal, ToolPipeline
from agent_core.domain.breaker import Breaker, call_key
from agent_core.domain.context import ContextItem, ItemKind, ToolCall, Transcript
from agent_core.domain.runs import Run
from agent_core.domain.sessions import Session
from agent_core.domain.trust import join
from agent_core.ports.determinism import BatchScheduler, Clock, IdFactory
from agent_core.ports.tools import ToolRegistry


class ToolBatch:
    """Puts the calls of a turn through the pipeline: all at once if every one of them may run in
    parallel, and otherwise one after the other in the order of the turn. There is no mixture."""

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdFactory,
        registry: ToolRegistry,
        pipeline: ToolPipeline,
        scheduler: BatchScheduler,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._registry = registry
        self._pipeline = pipeline
        self._scheduler = scheduler

    async def handle_next(
        self,
        run: Run,
        session: Session,
        transcript: Transcript,
        pending: tuple[ToolCall, ...],
        breaker: Breaker,
        logged: Mapping[str, str],
    ) -> tuple[HandledCall, ...]:
        """Handle the whole batch, or the first of the `pending` calls; the results in their order.

        `logged`: the calls of the turn whose proposal an earlier execution has logged, the id of
        the invocation by the id of the call.
        """
        turn = _last_turn(transcript)
        conversation = join(item.labels for item in transcript)

        def proposal(call: ToolCall) -> Proposal:
            known = logged.get(call.call_id)
            row_id = known or self._ids.new_id()
            row = rows.proposed(row_id, run, call, turn.labels, self._clock.now())
            return Proposal(session, run, call, row, conversation, is_logged=known is not None)

        if len(pending) > 1 and pending == turn.tool_calls and self._all_only_read(pending):
            # The ids are made here, in the order of the turn, whichever call gets on first.
            proposals = [proposal(call) for call in pending]
            if breaker.admits_all(call_key(one.row) for one in proposals):
                return await self._in_parallel(proposals)
        first = proposal(pending[0])
        refusal = breaker.refusal(call_key(first.row))
        if refusal is not None:
            first = first._replace(refusal=refusal.reason_code)
        return (await self._pipeline.handle(first),)

    def _all_only_read(self, calls: Sequence[ToolCall]) -> bool:
        found = [self._registry.find(call.name) for call in calls]
        return all(one is not None and one.spec.runs_in_parallel for one in found)

    async def _in_parallel(self, proposals: Sequence[Proposal]) -> tuple[HandledCall, ...]:
        group = self._ids.new_id()
        return await self._scheduler.run(
            [
                partial(
                    self._pipeline.handle,
                    one._replace(row=one.row._replace(parallel_group=group)),
                )
                for one in proposals
            ]
        )


def _last_turn(transcript: Transcript) -> ContextItem:
    return next(item for item in reversed(transcript) if item.kind is ItemKind.ASSISTANT_TURN)
