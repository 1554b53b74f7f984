"""The counterexamples about claims, fences and runs that are taken up again."""

from __future__ import annotations

from agent_core.adapters.in_memory.repositories import InMemoryRunRepository
from agent_core.adapters.sql.runs import SqlRunRepository
from agent_core.application import executor, rebuild
from agent_core.application.dispatcher import RunDispatcher
from agent_core.application.executor import RunExecutor
from agent_core.application.fencing import _FencedUnit
from agent_core.application.run_loop import RunLoop
from agent_core.application.tool_pipeline import ToolPipeline
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

# lease_once


def claim_ignores_status(bench: Bench) -> None:
    """Any run that has not ended can be claimed, held or not."""
    old = "run.status is RunStatus.QUEUED and run_id in (None, run.id)"
    new = "not run.status.is_terminal and run_id in (None, run.id)"
    bench.replace(InMemoryRunRepository, "claim", edited(old, new))


def status_not_set_by_claim(bench: Bench) -> None:
    """A claim in the database leaves the run in the queue."""
    bench.replace(SqlRunRepository, "claim", edited('"status": RunStatus.RUNNING,', ""))


def named_run_ignored(bench: Bench) -> None:
    """Whoever claims a certain run is given the oldest one."""
    old = "queued = queued.where(RUNS.c.id == run_id)"
    bench.replace(SqlRunRepository, "claim", edited(old, "pass"))


def epoch_not_raised(bench: Bench) -> None:
    """A run that is claimed again has the epoch that it had before."""
    bench.replace(SqlRunRepository, "claim", edited("RUNS.c.lease_epoch + 1", "1"))


def claim_not_recorded(bench: Bench) -> None:
    """Claims after the first leave nothing in the log."""
    bench.replace(
        RunDispatcher, "claim", edited("if run is not None:", "if run and run.attempts == 1:")
    )


def owner_not_stored(bench: Bench) -> None:
    """A claim of a run that somebody held before leaves that owner's name."""
    old = '"lease_owner": owner,'
    new = '"lease_owner": func.coalesce(RUNS.c.lease_owner, str(RUNS.c.id)),'
    bench.replace(SqlRunRepository, "claim", edited(old, new))


def only_first_attempts_claimed(bench: Bench) -> None:
    """A run that was claimed before is passed over."""
    old = "run.status is RunStatus.QUEUED and run_id in (None, run.id)"
    bench.replace(InMemoryRunRepository, "claim", edited(old, f"{old} and not run.attempts"))


# fenced_no_write


def hold_not_asked(bench: Bench) -> None:
    """A worker's units of work no longer ask whether it holds the run."""
    bench.replace(_FencedUnit, "__aenter__", edited("await self._hold(unit)", "pass"))


def hold_without_lease(bench: Bench) -> None:
    """Under an epoch that is over a worker may write, if nobody holds the run now."""
    old = "if run is None or run.lease is None or run.status is not RunStatus.RUNNING:"
    new = "if run and not run.lease:\n        return run\n    if run is None or run.lease is None:"
    bench.replace(InMemoryRunRepository, "hold", edited(old, new))


def hold_in_database_not_compared(bench: Bench) -> None:
    """In a database a run is held by whoever knows its id."""
    lease = "lease_owner=lease.owner,\n        lease_epoch=lease.epoch,"
    old = f"status=RunStatus.RUNNING,\n        {lease}"
    bench.replace(SqlRunRepository, "_held", edited(old, ""))


def answer_past_the_fence(bench: Bench) -> None:
    """The answer is published by whoever has it, without asking for the run."""
    old, new = "async with self._units() as unit:", "async with self._units._units() as unit:"
    bench.replace(RunLoop, "_publish", edited(old, new))


def loss_cleaned_up(bench: Bench) -> None:
    """A worker that lost its run deletes the checkpoints, which it takes to be its own."""
    old = "stored = await unit.runs.get(run.id)"
    new = f"await unit.checkpoints.delete_for_run(run.id)\n        {old}"
    bench.replace(RunDispatcher, "_fenced", edited(old, new))


def loss_not_recorded(bench: Bench) -> None:
    """A worker that lost its run says nothing of it."""
    bench.replace(RunDispatcher, "execute", edited("await self._fenced(run, lease)", "run"))


# resume_idempotent


def proposals_forgotten(bench: Bench) -> None:
    """The calls of the last turn are proposed again, each under an id of its own."""
    old = "if event.event_type is EventType.TOOL_CALL_PROPOSED"
    bench.replace(rebuild, "_progress", edited(old, "if False"))


def answer_not_remembered(bench: Bench) -> None:
    """Whoever goes on with a run publishes the answer that is in the log."""
    bench.replace(RunLoop, "run", edited("if not progress.is_published:", "if True:"))


def attempts_forgotten(bench: Bench) -> None:
    """The attempts of a step are counted from 1 by every worker."""
    bench.replace(rebuild, "_progress", edited("len(asked),", "0,"))


def checkpoint_without_counters(bench: Bench) -> None:
    """A run that goes on from a checkpoint begins to count its calls anew."""
    old = "sum(item.kind is ItemKind.TOOL_RESULT for item in transcript)"
    bench.replace(executor, "restored", edited(old, "len(turns)"))


def run_started_again(bench: Bench) -> None:
    """Every execution of a run starts it."""
    bench.replace(RunExecutor, "_start", edited("if run.started_at is not None:", "if False:"))


def started_call_skipped(bench: Bench) -> None:
    """A call that had been started when its worker died is taken to have succeeded."""
    old = "registered = self._registry.find(row.tool_name)"
    ended = "rows.ended(row, 'tool.succeeded', row.created_at)"
    new = f"if row.attempt_number > 1:\n        return {ended}\n    {old}"
    bench.replace(ToolPipeline, "_carried_out", edited(old, new))


def turn_on_record_left_out(bench: Bench) -> None:
    """A turn of the model behind the last checkpoint is not looked for, and asked for again."""
    old = "await unit.turns.list_for_run(run.id, after_step=step)"
    bench.replace(executor, "restored", edited(old, "()"))
