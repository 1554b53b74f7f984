"""The counterexamples about calls that are lost, taken up again, and submitted twice."""

from __future__ import annotations

from agent_core.adapters.in_memory.repositories import InMemoryToolInvocationRepository
from agent_core.adapters.sql.invocations import SqlToolInvocationRepository
from agent_core.application import invocation_rows, tool_pipeline
from agent_core.application.call_journal import CallJournal
from agent_core.application.tool_pipeline import ToolPipeline
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

# crash_recovery


def _recovery(bench: Bench, old: str, new: str) -> None:
    bench.replace(tool_pipeline, "recovery", edited(old, new))


def unknown_executed_again(bench: Bench) -> None:
    """Whatever was started is executed again, also after its effect."""
    _recovery(bench, "if may_repeat or row.effect_sent_at is None:", "if True:")


def watermark_not_looked_at(bench: Bench) -> None:
    """A call that was started counts as unknown, whether it has sent anything or not."""
    _recovery(bench, "if may_repeat or row.effect_sent_at is None:", "if may_repeat:")


def conditional_class_not_replayed(bench: Bench) -> None:
    """Calls that could be replayed with their key are treated like those that could not."""
    old = "row.idempotency not in (None, IdempotencyClass.NON_IDEMPOTENT)"
    new = "row.idempotency not in (IdempotencyClass.CONDITIONALLY_IDEMPOTENT, None)"
    _recovery(bench, old, f"{new} and row.idempotency is not IdempotencyClass.NON_IDEMPOTENT")


def started_call_believed(bench: Bench) -> None:
    """A call that had been started when its worker died is taken to have succeeded."""
    old = "registered = self._registry.find(row.tool_name)"
    ended = "rows.ended(row, 'tool.succeeded', row.created_at)"
    new = f"if row.attempt_number > 1:\n        return {ended}\n    {old}"
    bench.replace(ToolPipeline, "_carried_out", edited(old, new))


def authorized_call_waited_for(bench: Bench) -> None:
    """A call that was authorized by a lost worker counts as one that somebody is at."""
    _recovery(bench, "return Recovery.CONTINUE", "return Recovery.CONFLICT")


def authorized_call_counted(bench: Bench) -> None:
    """A call that was only authorized counts as one that was executed before."""
    bench.replace(SqlToolInvocationRepository, "take_over", edited("else_=0", "else_=1"))


def attempt_not_counted(bench: Bench) -> None:
    """An execution that is repeated has the number of the one before."""
    old, new = "columns.attempt_number + again", "columns.attempt_number"
    bench.replace(SqlToolInvocationRepository, "take_over", edited(old, new))


def attempt_not_counted_in_memory(bench: Bench) -> None:
    """The same mistake in the store that only one process has."""
    old, new = "stored.attempt_number + again", "stored.attempt_number"
    bench.replace(InMemoryToolInvocationRepository, "take_over", edited(old, new))


def replayed_under_another_key(bench: Bench) -> None:
    """Whoever replays a call asks for it under a key of the attempt."""
    old = "ToolContext(row.id, row.idempotency_key,"
    new = 'ToolContext(row.id, f"{row.idempotency_key}.{row.attempt_number}",'
    bench.replace(ToolPipeline, "_execute", edited(old, new))


def review_not_opened(bench: Bench) -> None:
    """Nobody is told of a call whose outcome is unknown."""
    old = "row.status is InvocationStatus.UNCERTAIN and row.outcome is not None"
    bench.replace(CallJournal, "write", edited(old, f"{old} and row.started_at is None"))


# dedup_concurrent


def submission_executed_again(bench: Bench) -> None:
    """The second submission finds the record of the first, and executes the call all the same."""
    old = "return await self._waited_for(row)"
    bench.replace(ToolPipeline, "_gone_on", edited(old, "return row"))


def key_of_the_record(bench: Bench) -> None:
    """The key of a call holds the id of its record, which every submission makes anew."""
    old = "idempotency_key=idempotency_key(row)"
    new = "idempotency_key=idempotency_key(row._replace(call_id=row.id))"
    bench.replace(invocation_rows, "keyed", edited(old, new))


def conflict_not_waited_for(bench: Bench) -> None:
    """A submission that comes second is refused."""
    old = "return await self._waited_for(row)"
    bench.replace(ToolPipeline, "_gone_on", edited(old, "raise ConcurrencyConflict(row.id)"))


def wait_given_up_at_once(bench: Bench) -> None:
    """A submission that comes second looks once, and gives up."""
    old = "left_seconds -= POLL_SECONDS"
    bench.replace(ToolPipeline, "_waited_for", edited(old, "left_seconds = 0"))


def found_call_returned_unfinished(bench: Bench) -> None:
    """Whoever waits makes do with the record as it is while the call runs."""
    old = "while not row.status.is_terminal:"
    bench.replace(ToolPipeline, "_waited_for", edited(old, "while row.started_at is None:"))


def result_not_handed_on(bench: Bench) -> None:
    """Whoever waited is told how the call ended, and not what it gave."""
    bench.replace(
        ToolPipeline, "_waited_for", edited("return row", "return row._replace(result=None)")
    )


def submissions_merged(bench: Bench) -> None:
    """Two calls with the same arguments in one step count as one."""
    old = "idempotency_key=idempotency_key(row)"
    new = 'idempotency_key=idempotency_key(row._replace(call_id=""))'
    bench.replace(invocation_rows, "keyed", edited(old, new))
