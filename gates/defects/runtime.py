"""The counterexamples of the area runtime."""

from __future__ import annotations

from agent_core.application import invocation_rows
from agent_core.application.model_step import ModelStep
from agent_core.application.run_loop import RunLoop
from agent_core.domain import budgets
from agent_core.domain.runs import PassedLimit
from gates.defects.runtime_workers import (  # noqa: F401
    answer_not_remembered,
    answer_past_the_fence,
    attempts_forgotten,
    checkpoint_without_counters,
    claim_ignores_status,
    claim_not_recorded,
    epoch_not_raised,
    hold_without_lease,
    hold_in_database_not_compared,
    hold_not_asked,
    loss_cleaned_up,
    loss_not_recorded,
    named_run_ignored,
    only_first_attempts_claimed,
    owner_not_stored,
    proposals_forgotten,
    run_started_again,
    started_call_skipped,
    status_not_set_by_claim,
    turn_on_record_left_out,
)
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited
from hardgate.kinds.python_edits import add_import, add_to_function, append, first_module

_APPLICATION = "src/agent_core/application"
_MODELS = "src/agent_core/adapters/models"
_TOOLS = "src/agent_core/adapters/tools"
_FINALIZE = f"{_APPLICATION}/finalize.py"
_LOOP = f"{_APPLICATION}/run_loop.py"


# one_terminal_writer


def loop_ends_run(bench: Bench) -> None:
    """The loop records the failure of a step itself before it gives its outcome back."""
    add_import(bench.tree, _LOOP, "from agent_core.domain.events import EventType as Kind")
    add_to_function(bench.tree, _LOOP, "ending = Kind.RUN_FAILED")


def event_written_as_text(bench: Bench) -> None:
    """A service writes the terminal event under its text, past the enumeration."""
    path = f"{_APPLICATION}/journal.py"
    append(bench.tree, path, 'def ended(log, run):\n    log.append(run.id, "run.completed")')


def service_sets_status(bench: Bench) -> None:
    """A service cancels a run by setting its status where it stands."""
    path = f"{_APPLICATION}/runtime.py"
    text = "def cancelled(run):\n    return run._replace(status=RunStatus.CANCELLED)"
    append(bench.tree, path, text)


def status_by_value(bench: Bench) -> None:
    """An adapter makes a status from whatever text it was sent."""
    path = first_module(bench.tree, _MODELS)
    add_import(bench.tree, path, "from agent_core.domain import runs")
    append(bench.tree, path, "def status_of(answer):\n    return runs.RunStatus(answer)")


def status_by_name(bench: Bench) -> None:
    """The executor looks the status up by the name of the outcome."""
    path = f"{_APPLICATION}/executor.py"
    add_import(bench.tree, path, "from agent_core.domain.runs import RunStatus")
    text = "def status_of(outcome):\n    return getattr(RunStatus, outcome.kind.name)"
    append(bench.tree, path, text)


def second_ending_function(bench: Bench) -> None:
    """A shorter way to end a run is added beside the one that records the event."""
    text = (
        "    async def abandon(self, run, unit):\n"
        "        await unit.runs.update(run, expected=RunStatus.RUNNING)"
    )
    append(bench.tree, _FINALIZE, f"class Abandoner:\n{text}")


def event_written_twice(bench: Bench) -> None:
    """The terminal event is recorded a second time, for a reader that missed the first."""
    record = "await self._journal.record("
    line = _line_with(bench, record)
    bench.tree.edit(_FINALIZE, line, f"{line}\n{line}")


def guard_dropped(bench: Bench) -> None:
    """The update expects whatever status the run has, so that a run can end twice."""
    bench.tree.edit(_FINALIZE, "expected=RunStatus.RUNNING", "expected=run.status")


def event_in_second_unit(bench: Bench) -> None:
    """The terminal event gets a unit of work of its own and is lost if that one fails."""
    line = _line_with(bench, "await self._journal.record(")
    bench.tree.edit(_FINALIZE, line, f"        async with self._units() as unit:\n{line}")


def finalizer_renamed(bench: Bench) -> None:
    """The function that ends runs gets another name, and what guards it guards nothing."""
    bench.tree.edit(_FINALIZE, "async def finalize(", "async def conclude(")


def _line_with(bench: Bench, text: str) -> str:
    """The one line of the finalizer that holds a text."""
    lines = bench.tree.read(_FINALIZE).decode("utf-8").split("\n")
    return next(line for line in lines if text in line)


# no_ambient_time


def clock_read(bench: Bench) -> None:
    """A service of the application reads the clock of the machine."""
    path = first_module(bench.tree, _APPLICATION)
    add_import(bench.tree, path, "from datetime import datetime as moment")
    add_to_function(bench.tree, path, "started_at = moment.now()")


def clock_handed_on(bench: Bench) -> None:
    """A tool is given the function of the system's clock as its default."""
    path = first_module(bench.tree, _TOOLS)
    add_import(bench.tree, path, "import time as system")
    append(bench.tree, path, "def measured(work, now=system.monotonic):\n    return now(), work")


def pause_on_system_clock(bench: Bench) -> None:
    """The wait between two attempts goes past the Clock port, so that every test waits too."""
    path = f"{_APPLICATION}/model_step.py"
    add_import(bench.tree, path, "from asyncio import sleep as pause")
    append(bench.tree, path, "async def back_off(seconds):\n    await pause(seconds)")


def timer_set(bench: Bench) -> None:
    """The time limit of a tool is a timer of the system."""
    path = first_module(bench.tree, _TOOLS)
    add_import(bench.tree, path, "import threading")
    append(bench.tree, path, "def limited(work):\n    threading.Timer(2, work.cancel).start()")


# no_ambient_id


def id_made_up(bench: Bench) -> None:
    """A service of the application makes an identifier of its own."""
    path = first_module(bench.tree, _APPLICATION)
    add_import(bench.tree, path, "import uuid")
    add_to_function(bench.tree, path, "identifier = str(uuid.uuid4())")


def id_by_default_factory(bench: Bench) -> None:
    """A record of the domain makes its own id when it is not given one."""
    path = "src/agent_core/domain/sessions.py"
    add_import(bench.tree, path, "from uuid import uuid4 as new_id")
    append(bench.tree, path, "def made(factory=new_id):\n    return str(factory())")


def process_id_taken(bench: Bench) -> None:
    """A worker signs its records with the id of its process."""
    path = f"{_APPLICATION}/journal.py"
    add_import(bench.tree, path, "import os")
    append(bench.tree, path, "def actor():\n    return f'worker-{os.getpid()}'")


def salted_hash_taken(bench: Bench) -> None:
    """A key is made with the built-in hash, which is salted anew in every process."""
    append(
        bench.tree, "src/agent_core/domain/invocations.py", "def key(text):\n    return hash(text)"
    )


def randomness_drawn(bench: Bench) -> None:
    """A waiting time is chosen at random, without a seed."""
    path = first_module(bench.tree, _MODELS)
    add_import(bench.tree, path, "from random import uniform")
    add_to_function(bench.tree, path, "delay_seconds = uniform(0.5, 1.5)")


def seed_forgotten(bench: Bench) -> None:
    """A source of randomness is made for the purpose and gets no seed."""
    path = first_module(bench.tree, _MODELS)
    add_import(bench.tree, path, "import random")
    append(bench.tree, path, "SOURCE = random.Random()")


# budget_stops


def last_step_not_counted(bench: Bench) -> None:
    """The step that is about to be taken does not count yet."""
    bench.replace(budgets, "step", edited("run.step_count + 1", "run.step_count"))


def next_request_not_counted(bench: Bench) -> None:
    """The request that is about to be sent does not count yet."""
    bench.replace(budgets, "attempt", edited("usage.model_calls + 1", "usage.model_calls"))


def tool_calls_unlimited(bench: Bench) -> None:
    """Before a batch only the deadline is looked at."""
    edit = edited("_over(Dimension.TOOL_CALLS, run.limits.max_tool_calls, usage) or ", "")
    bench.replace(budgets, "batch", edit)


def batch_counted_as_one(bench: Bench) -> None:
    """A batch counts as one call when it is compared with the limit."""
    bench.replace(
        budgets, "batch", edited("run.usage.tool_calls + calls", "run.usage.tool_calls + 1")
    )


def tokens_checked_later(bench: Bench) -> None:
    """What an attempt has used is looked at before the next one only."""
    edit = edited(
        "or _over(Dimension.OUTPUT_TOKENS, limits.max_output_tokens, usage.output_tokens)", ""
    )
    bench.replace(budgets, "recorded", edit)


def input_unlimited(bench: Bench) -> None:
    """There is no limit of what the model is sent."""
    for function in ("recorded", "attempt"):
        bench.replace(budgets, function, edited("limits.max_input_tokens", 'float("inf")'))


def cost_unlimited(bench: Bench) -> None:
    """A limit of the cost is taken for none at all."""
    bench.replace(budgets, "_cost", edited("if limits.max_cost_micros is None:", "if True:"))


def deadline_checked_once(bench: Bench) -> None:
    """The deadline is compared with the beginning of the run."""
    bench.replace(budgets, "deadline", edited("seconds_used(run, now)", "0.0"))


def limit_itself_refused(bench: Bench) -> None:
    """A limit may no longer be reached."""
    bench.replace(budgets, "_over", edited("reached > limit", "reached >= limit"))


def failed_attempt_free(bench: Bench) -> None:
    """Only an attempt that gave a turn is charged."""
    edit = edited(
        "budgets.charged(run, result.usage)",
        "budgets.charged(run, result.usage) if isinstance(result, ModelTurn) else run",
    )
    bench.replace(ModelStep, "_finish", edit)


def one_reason_for_all_limits(bench: Bench) -> None:
    """A run that a limit stops has always exceeded its budget."""
    edit = edited(
        "_REASONS.get(self.dimension, FailureReason.BUDGET_EXCEEDED)",
        "FailureReason.BUDGET_EXCEEDED",
    )
    bench.replace(PassedLimit, "reason", edit)


# step_identity


def failed_attempt_takes_number(bench: Bench) -> None:
    """A step is numbered by the requests that were made before it."""
    edit = edited("step_count=run.step_count + 1", "step_count=run.usage.model_calls + 1")
    bench.replace(RunLoop, "_turn", edit)


def attempts_counted_on(bench: Bench) -> None:
    """The attempts of a run are counted, not those of a step."""
    bench.replace(
        ModelStep,
        "take",
        edited("attempt_number = earlier_attempts\n", "attempt_number = run.usage.model_calls\n"),
    )


def call_under_next_step(bench: Bench) -> None:
    """A call belongs to the step that sees its result."""
    edit = edited("step_number=run.step_count", "step_number=run.step_count + 1")
    bench.replace(invocation_rows, "proposed", edit)


def call_id_shortened(bench: Bench) -> None:
    """An id of a call is cut to what fits into a column."""
    bench.replace(
        invocation_rows, "proposed", edited("call_id=call.call_id", "call_id=call.call_id[:5]")
    )


def key_without_run(bench: Bench) -> None:
    """The key of a call is the same in every run."""
    _without(bench, "invocation.run_id,")


def key_without_step(bench: Bench) -> None:
    """A call that is made again in a later step counts as made."""
    _without(bench, "str(invocation.step_number),")


def key_without_call_id(bench: Bench) -> None:
    """Two calls of a turn with the same arguments count as one."""
    _without(bench, "invocation.call_id,")


def key_without_tool(bench: Bench) -> None:
    """Another tool with the same arguments counts as the same call."""
    _without(bench, "invocation.tool_name,")


def key_without_arguments(bench: Bench) -> None:
    """The arguments do not count."""
    _without(bench, 'invocation.normalized_arguments_hash or "",')


def key_with_row_id(bench: Bench) -> None:
    """The id of the row takes part in the key, so that no key ever comes up again."""
    _without(bench, "str(invocation.step_number),", "str(invocation.step_number), invocation.id,")


def _without(bench: Bench, part: str, instead: str = "") -> None:
    """Changes one part of what the key of a call is made of."""
    bench.replace(invocation_rows, "idempotency_key", edited(part, instead))
