"""Defects of the runtime, each in one function, and the rule that each has to break.

They show that the checker can say no: a rule that no defect here breaks would be a rule that may as
well not be there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from unittest import mock

from agent_core.adapters.in_memory import repositories, undo
from agent_core.application import (
    call_journal,
    cancellation,
    effect_watermark,
    executor,
    fencing,
    invocation_rows,
    journal,
    rebuild,
    settlement,
    sweeps,
    tool_pipeline,
)
from agent_core.domain.events import EventType
from agent_core.domain.recovery import Recovery, recovery
from agent_core.domain.tools import ToolResult
from agent_core.ports.tools import ToolContext


class Defect(NamedTuple):
    """`patch` gives a context in which the defect is there; `rule` is what the checker says."""

    rule: str
    patch: Callable[[], AbstractContextManager[Any]]


def _with(owner: Any, name: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """A patch of one function by what `make` makes of it."""
    return lambda: mock.patch.object(owner, name, make(getattr(owner, name)))


def _nothing(result: Any = None) -> Callable[[Any], Any]:
    async def nothing(*arguments: Any, **more: Any) -> Any:
        return result

    return lambda function: nothing


def _hold_of_nobody(function: Any) -> Any:
    async def hold(self: Any, unit: Any) -> None:
        self._token.observe(await unit.runs.get(self._run_id))

    return hold


def _always_again(function: Any) -> Any:
    def again(row: Any, epoch: int) -> Recovery:
        what = recovery(row, epoch)
        return Recovery.EXECUTE if what is Recovery.UNKNOWN else what

    return again


def _unrecorded_mark(function: Any) -> Any:
    async def mark(self: Any) -> None:
        self.is_marked = True

    return mark


def _no_review(function: Any) -> Any:
    async def write(self: Any, unit: Any, run: Any, row: Any) -> None:
        event_type = call_journal.CALL_EVENTS[row.status]
        await self._journal.record(unit, run, event_type, invocation_rows.payload(row))

    return write


def _new_keys(function: Any) -> Any:
    numbers = itertools.count()

    def context(invocation_id: str, key: str, *rest: Any) -> ToolContext:
        return ToolContext(invocation_id, f"{key} {next(numbers)}", *rest)

    return context


def _skipped_sequence(function: Any) -> Any:
    async def append(self: Any, event: Any) -> Any:
        if event.event_type is EventType.RUN_STARTED:
            self._next_sequence[event.session_id] += 1
        return await function(self, event)

    return append


def _late_reader(function: Any) -> Any:
    async def list_for_session(self: Any, session_id: str, after: int = 0) -> Any:
        return await function(self, session_id, after + 1 if after else 0)

    return list_for_session


def _twice(event_type: EventType) -> Callable[[Any], Any]:
    def make(function: Any) -> Any:
        async def record(self: Any, unit: Any, run: Any, kind: Any, payload: Any) -> None:
            for _ in range(2 if kind is event_type else 1):
                await function(self, unit, run, kind, payload)

        return record

    return make


def _after_the_end(function: Any) -> Any:
    async def record(self: Any, unit: Any, run: Any, kind: Any, payload: Any) -> None:
        await function(self, unit, run, kind, payload)
        if kind is EventType.RUN_COMPLETED:
            await function(self, unit, run, EventType.RUN_STARTED, {})

    return record


def _all_abandoned(function: Any) -> Any:
    def ended(row: Any, code: str, *rest: Any) -> Any:
        return function(row, "tool.abandoned" if code == "tool.outcome_unknown" else code, *rest)

    return ended


def _empty_state(function: Any) -> Any:
    async def save(self: Any, state: Any, expected_position: int | None) -> None:
        await function(self, state._replace(state={}), expected_position)

    return save


def _once_only(function: Any) -> Any:
    async def execute(self: Any, run: Any, row: Any, registered: Any) -> Any:
        if row.attempt_number == 1:
            return await function(self, run, row, registered)
        token = {"token": row.arguments["token"]}
        result = ToolResult(token, "done")
        return await self._accepted(run, row, result, registered.spec)

    return execute


def _other_arguments(function: Any) -> Any:
    return lambda text: {**function(text), "token": "another"}


def _same_epoch(function: Any) -> Any:
    async def claim(self: Any, *arguments: Any) -> Any:
        run = await function(self, *arguments)
        if run is None or run.lease_epoch == 1:
            return run
        return self._put(run, run._replace(lease_epoch=1, lease=run.lease._replace(epoch=1)))

    return claim


def _lease_left(function: Any) -> Any:
    async def update(self: Any, run: Any, expected: Any) -> Any:
        lease = self._runs[run.id].lease
        stored = await function(self, run, expected)
        return self._put(stored, stored._replace(lease=lease))

    return update


def _forgets_the_answer(function: Any) -> Any:
    return lambda log, step: function(log, step)._replace(is_published=False)


def _without_calls(function: Any) -> Any:
    async def add(self: Any, turn: Any) -> None:
        await function(self, turn._replace(item=turn.item._replace(tool_calls=())))

    return add


def _of_another_call(function: Any) -> Any:
    return lambda invocation_id, *rest: ToolContext(f"not {invocation_id}", *rest)


def _breaks_on_running(function: Any) -> Any:
    def breaks(row: Any, epoch: int) -> Recovery:
        return {"AUTHORIZED": recovery(row, epoch), "SUCCEEDED": Recovery.RETURN}[row.status]

    return breaks


def _never_asks_first(function: Any) -> Any:
    def check(self: Any) -> None:
        if self._is_requested or self._is_lost:
            function(self)
        raise cancellation.Cancelled

    return check


DEFECTS: Mapping[str, Defect] = {
    "a worker writes without its hold": Defect(
        "fence", _with(fencing._FencedUnit, "_hold", _hold_of_nobody)
    ),
    "a call with an unknown effect is executed again": Defect(
        "duplicated", _with(tool_pipeline, "recovery", _always_again)
    ),
    "the watermark is not recorded": Defect(
        "duplicated", _with(effect_watermark.EffectWatermark, "mark", _unrecorded_mark)
    ),
    "each execution has a key of its own": Defect(
        "duplicated", _with(tool_pipeline, "ToolContext", _new_keys)
    ),
    "no review is opened": Defect("review", _with(call_journal.CallJournal, "write", _no_review)),
    "a sequence is left out": Defect(
        "sequence", _with(repositories.InMemoryEventRepository, "append", _skipped_sequence)
    ),
    "a reader misses the next event": Defect(
        "reader",
        _with(repositories.InMemoryEventRepository, "list_for_session", _late_reader),
    ),
    "a run ends twice": Defect(
        "terminal_events", _with(journal.Journal, "record", _twice(EventType.RUN_COMPLETED))
    ),
    "something follows the end": Defect(
        "after_the_end", _with(journal.Journal, "record", _after_the_end)
    ),
    "the answer is published twice": Defect(
        "answer", _with(rebuild, "_progress", _forgets_the_answer)
    ),
    "lost runs are left alone": Defect(
        "run_not_ended", _with(sweeps.Sweeps, "reclaim", _nothing(0))
    ),
    "missing hooks are left alone": Defect(
        "hook", _with(sweeps.Sweeps, "enqueue_hooks", _nothing(0))
    ),
    "a run leaves its calls open": Defect(
        "call_not_ended", _with(settlement.Settlement, "settle", _nothing())
    ),
    "a run says of a sent call that it did not happen": Defect(
        "effect_lost", _with(invocation_rows, "ended", _all_abandoned)
    ),
    "a call is not executed again and said to have succeeded": Defect(
        "effect_lost", _with(tool_pipeline.ToolPipeline, "_execute", _once_only)
    ),
    "a tool is given other arguments": Defect(
        "other_effect", _with(tool_pipeline, "parse_json_object", _other_arguments)
    ),
    "a projection loses its state": Defect(
        "projection", _with(repositories.InMemoryProjectionRepository, "save", _empty_state)
    ),
    "what failed is not rolled back": Defect(
        "sequence", _with(undo.UndoLog, "roll_back", lambda function: lambda self: None)
    ),
    "a claim starts no epoch": Defect(
        "epoch", _with(repositories.InMemoryRunRepository, "claim", _same_epoch)
    ),
    "a lease outlives its run": Defect(
        "lease_left", _with(repositories.InMemoryRunRepository, "update", _lease_left)
    ),
    "turns are recorded without their calls": Defect(
        "calls", _with(repositories.InMemoryModelTurnRepository, "add", _without_calls)
    ),
    "turns are not recorded": Defect(
        "turns", _with(repositories.InMemoryModelTurnRepository, "add", _nothing())
    ),
    "a run is rebuilt without what it began with": Defect(
        "rebuild", _with(rebuild, "seed_transcript", lambda function: lambda events: ())
    ),
    "a tool is told of another call": Defect(
        "effect_without_record", _with(tool_pipeline, "ToolContext", _of_another_call)
    ),
    "recovery breaks": Defect(
        "process_broken", _with(tool_pipeline, "recovery", _breaks_on_running)
    ),
    "a run is given up after one loss": Defect(
        "wrong_end", _with(executor, "MAXIMUM_ATTEMPTS", lambda number: 1)
    ),
    "a run is cancelled and nobody asked": Defect(
        "wrong_end", _with(cancellation.CancellationToken, "check", _never_asks_first)
    ),
}
