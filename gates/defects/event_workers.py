"""The counterexamples about workers: those that race for a run, and those that take one up."""

from __future__ import annotations

from agent_core.adapters.in_memory import repositories as in_memory
from agent_core.adapters.in_memory.repositories import InMemoryRunRepository
from agent_core.adapters.sql import checkpoints as sql
from agent_core.application import checkpointing, executor, rebuild, tool_pipeline
from agent_core.application.dispatcher import RunDispatcher
from agent_core.application.executor import RunExecutor
from agent_core.application.fencing import _FencedUnit
from agent_core.application.run_loop import RunLoop
from agent_core.application.sweeps import Sweeps
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

# exactly_once


def fence_left_out(bench: Bench) -> None:
    """A worker's units of work no longer ask whether it holds the run."""
    bench.replace(_FencedUnit, "__aenter__", edited("await self._hold(unit)", "pass"))


def epoch_not_compared(bench: Bench) -> None:
    """Whoever was told that a run is its own may write, whoever holds it now."""
    old = "if (run.lease.owner, run.lease.epoch) != (lease.owner, lease.epoch):"
    bench.replace(InMemoryRunRepository, "hold", edited(old, "if run.lease.epoch < lease.epoch:"))


def fencing_not_told(bench: Bench) -> None:
    """A worker that lost its run says nothing of it."""
    old = "await self._fenced(run, lease)"
    bench.replace(RunDispatcher, "execute", edited(old, "run"))


def fenced_under_another_epoch(bench: Bench) -> None:
    """A worker that lost its run says so of the hold that there is now."""
    old, new = '{"lease_epoch": lease.epoch}', '{"lease_epoch": stored.lease_epoch}'
    bench.replace(RunDispatcher, "_fenced", edited(old, new))


def claimed_while_running(bench: Bench) -> None:
    """A run is claimed whether it is queued or not."""
    old = "run.status is RunStatus.QUEUED and run_id in (None, run.id)"
    new = "not run.status.is_terminal and run_id in (None, run.id)"
    bench.replace(InMemoryRunRepository, "claim", edited(old, new))


def start_recorded_each_time(bench: Bench) -> None:
    """Every execution of a run starts it."""
    bench.replace(RunExecutor, "_start", edited("if run.started_at is not None:", "if False:"))


def unknown_call_repeated(bench: Bench) -> None:
    """A call that may have had its effect is executed again by the next worker."""
    old = "if may_repeat or row.effect_sent_at is None:"
    bench.replace(tool_pipeline, "recovery", edited(old, "if True:"))


# crash_recovery


def delta_read_alone(bench: Bench) -> None:
    """A checkpoint that only adds to another is read as if it held everything."""
    old = "items = (*current.transcript, *checkpoint.transcript)"
    edit = edited(old, "items = checkpoint.transcript")
    bench.replace(in_memory, "restored", edit)
    bench.replace(sql, "restored", edit)


def counters_not_restored(bench: Bench) -> None:
    """A run goes on with its transcript, and counts its calls from nothing."""
    old = "usage=run.usage._replace(tool_calls=handled)"
    bench.replace(executor, "restored", edited(old, "usage=run.usage._replace(tool_calls=0)"))


def resumed_without_checkpoint(bench: Bench) -> None:
    """Whoever takes a run up does not look for its checkpoint."""
    old = "return await unit.checkpoints.latest(run.id)"
    bench.replace(rebuild, "_latest", edited(old, "return None"))


def every_checkpoint_full(bench: Bench) -> None:
    """No checkpoint rests on another one."""
    for module in (checkpointing, in_memory, sql):
        bench.replace(module, "stored", edited("previous is None", "True"))


def expired_run_left_alone(bench: Bench) -> None:
    """The sweep looks for runs whose lease is over, and does nothing about them."""
    bench.replace(Sweeps, "reclaim", edited("for run in expired:", "for run in expired[1:]:"))


# checkpoint_dispensable


def recorded_turns_not_read(bench: Bench) -> None:
    """Without a checkpoint the turns of the model that are on record are not looked for."""
    old = "await unit.turns.list_for_run(run.id, after_step=step)"
    bench.replace(executor, "restored", edited(old, "()"))


def log_not_cut_at_seed(bench: Bench) -> None:
    """The transcript begins with the last message of the log before the run's own."""
    old = "event.sequence <= run.seed_event_sequence"
    bench.replace(executor, "restored", edited(old, "event.sequence < run.seed_event_sequence"))


def results_out_of_order(bench: Bench) -> None:
    """The results of a turn are taken in the reverse order of its calls."""
    old = "for call in pending_calls(transcript))"
    bench.replace(rebuild, "_answered", edited(old, "for call in pending_calls(transcript)[::-1])"))


def handled_calls_not_counted(bench: Bench) -> None:
    """A run that is rebuilt forgets how many calls it has spent."""
    old = "sum(item.kind is ItemKind.TOOL_RESULT for item in transcript)"
    bench.replace(executor, "restored", edited(old, "run.usage.tool_calls * 0"))


def proposals_logged_again(bench: Bench) -> None:
    """The calls of the last turn are proposed anew, each under an id of its own."""
    old = "if event.event_type is EventType.TOOL_CALL_PROPOSED"
    bench.replace(rebuild, "_progress", edited(old, "if False"))


def answer_published_again(bench: Bench) -> None:
    """An answer that is in the log is published again by whoever goes on."""
    bench.replace(RunLoop, "run", edited("if not progress.is_published:", "if True:"))
