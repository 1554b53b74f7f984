"""The counterexamples of the area runtime."""

from __future__ import annotations

from hardgate.kinds.bench import Bench
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
