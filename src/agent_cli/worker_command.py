"""`agent worker`: a process that executes the runs of a store."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from agent_cli.stores import (
    CODES,
    DEPLOYMENT,
    add_deployment,
    add_store,
    guarded,
    here,
    store_errors,
    tenants,
    the_only,
)
from agent_core.application.worker import Worker, WorkerSettings
from agent_core.bootstrap import build_worker, load_deployment, open_storage, scripted_runs
from agent_core.domain.errors import AgentCoreError
from agent_core.domain.events import Event, EventType
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.evals.script import played_turns
from hardgate.cli.console import Console, many
from hardgate.cli.exits import FAILED, OK
from hardgate.cli.parser import CommandParser, whole_number
from hardgate.fixtures.model_script import load_script

PROGRAM = "agent worker"
LONGEST_SECONDS = 86_400
LONGEST_OWNER = 100
DESCRIPTION = """\
Takes runs from the queue of a store and executes each under a lease, which it renews; puts runs
back into the queue whose worker is gone; and does what follows a run. The model is a script until
live providers arrive at milestone 3: every run plays it from its beginning, whichever worker
executes it. TERM and INT end a worker in good order: what it is at is finished within the grace
time, or given back."""
_TOLD = {
    EventType.RUN_CLAIMED: "claimed",
    EventType.RUN_COMPLETED: "completed",
    EventType.RUN_FAILED: "failed",
    EventType.RUN_CANCELLED: "cancelled",
    EventType.RUN_WAITING_FOR_USER: "waiting",
    EventType.RUN_REQUEUED: "requeued",
    EventType.RUN_FENCED: "lost",
}


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return guarded(PROGRAM, arguments, _options, _run)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "--store URL --script FILE [--deployment FILE] [--tenant NAME] [--owner NAME]\n"
        "       [--once | --until-idle] [--lease-seconds N] [--reclaim-seconds N]\n"
        "       [--grace-seconds N] [--json]",
        DESCRIPTION,
        "--store sqlite:///records.db --script script.yaml --until-idle",
        CODES,
        in_workspace=False,
    )
    add_store(parser)
    add = parser.add_argument
    add("--script", required=True, type=here().joinpath, metavar="FILE", help="what the model says")
    add_deployment(parser)
    add("--tenant", metavar="NAME", help="whose runs (default: the deployment's only tenant)")
    add("--owner", metavar="NAME", help="the worker's name, its own (default: a new one)")
    until = parser.add_mutually_exclusive_group()
    until.add_argument("--once", action="store_true", help="end after one run, or one hook")
    until.add_argument("--until-idle", action="store_true", help="end when nothing is left to do")
    defaults = WorkerSettings()
    for option, least, default, what in (
        ("--lease-seconds", 1, LEASE_SECONDS, "how long a run is taken for"),
        ("--reclaim-seconds", 0, defaults.reclaim_seconds, "between two looks for lost runs"),
        ("--grace-seconds", 0, defaults.grace_seconds, "how long a run may go on after TERM"),
    ):
        type_, text = whole_number(least, LONGEST_SECONDS), f"{what} (default: {default:g})"
        add(option, type=type_, default=default, metavar="N", help=text)
    options = parser.parse(arguments)
    if options.owner is not None and not 0 < len(options.owner.strip()) <= LONGEST_OWNER:
        parser.error(f"--owner: allowed: a name of 1 to {LONGEST_OWNER} characters")
    return options


def _run(options: argparse.Namespace, console: Console) -> int:
    told = _Told(console)
    path = str(options.script)
    script = load_script(path, options.script.read_bytes())
    rules = load_deployment(str(options.deployment or DEPLOYMENT))
    tenant_id = the_only("tenant", options.tenant, tenants(rules.principals))
    owner = options.owner or f"worker-{os.getpid()}-{os.urandom(4).hex()}"
    with store_errors(tenant_id):
        storage = open_storage(options.store, tenant_id=tenant_id, listener=told.event)
    build = partial(
        build_worker,
        model=scripted_runs(played_turns(script)),
        units=storage.units,
        heartbeat_units=storage.units,
        owner=owner,
        policy=rules.policy,
        settings=WorkerSettings(
            reclaim_seconds=options.reclaim_seconds, grace_seconds=options.grace_seconds
        ),
        lease_seconds=options.lease_seconds,
        on_error=told.error,
    )
    console.note(f"{owner} works for {tenant_id}")
    try:
        asyncio.run(_work(build, options))
    finally:
        storage.close()
    return told.summary(owner, options)


async def _work(build: Callable[[], Worker], options: argparse.Namespace) -> None:
    """Work as long as the options say, or until a signal comes."""
    worker = build()
    if not (options.once or options.until_idle):
        _on_signals(worker.stop)
        await worker.run()
        return
    working = asyncio.ensure_future(_once(worker) if options.once else worker.run_until_idle())
    _on_signals(working.cancel)  # what is cancelled gives its run back
    with suppress(asyncio.CancelledError):
        await working


async def _once(worker: Worker) -> None:
    await worker.sweep()
    await worker.work_once()


def _on_signals(stop: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


class _Told:
    """Counts what happens to runs, and tells the errors that the worker survives."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._counts: Counter[str] = Counter()
        self._errors = 0

    def event(self, event: Event) -> None:
        name = _TOLD.get(event.event_type)
        if name is not None:
            self._counts[name] += 1
            self._console.note(f"run {event.run_id}: {name}")

    def error(self, error: Exception) -> None:
        """Runtime's own errors are for people; of any other only its kind is."""
        text = str(error) if isinstance(error, AgentCoreError) else type(error).__name__
        self._errors += 1
        self._console.note(f"went on after an error: {text}")

    def summary(self, owner: str, options: argparse.Namespace) -> int:
        """Print what came of it; returns the exit code."""
        counts = {name: self._counts[name] for name in _TOLD.values()}
        if options.json:
            ok = self._errors == 0
            plain = {"schema_version": 1, "ok": ok, "owner": owner, "errors": self._errors}
            self._console.json(plain | {"runs": counts})
        else:
            parts = [f"{count} {name}" for name, count in counts.items() if count]
            self._console.result(f"runs: {', '.join(parts) or 'none'}")
        if self._errors:
            self._console.note(f"{many(self._errors, 'error')} on the way")
        return FAILED if self._errors else OK
