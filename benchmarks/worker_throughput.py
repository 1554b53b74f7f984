"""How many runs one worker executes in a second over each store.

`bazel run //benchmarks:worker_throughput -- [--rounds N] [--runs N] [--json]`

A run asks the model twice and calls one tool; its hook is done, too. In each round every store has as
many runs queued, and one worker takes them one at a time, with a heartbeat as the command has it (in
memory there is nobody to take a run away). SQLite writes through to a disk. PostgreSQL is the server of
the tests, in memory and without `fsync`, and once more on a disk with it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from agent_core.bootstrap import (
    build_runtime,
    build_worker,
    open_storage,
    scripted_runs,
)
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.runs import RunStatus
from agent_core.domain.sessions import Principal
from benchmarks.bench import progress, show
from tests.support import postgres

CALL = ScriptedToolCall("call_1", "math.calculate", '{"expression": "17 * 23"}')
TURNS = (ToolCallsTurn((CALL,)), FinalTurn("391"))
WARM_UP_RUNS = 3
MEMORY = "memory"


class Place(NamedTuple):
    """A store: its name, and its address; every round of one in memory has a new one."""

    name: str
    url: str


@contextmanager
def places() -> Iterator[tuple[Place, ...]]:
    """The stores, the servers of which run meanwhile."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="worker-throughput-"))
        found = [Place(MEMORY, "memory"), Place("SQLite", f"sqlite:///{folder}/records.db")]
        for name, fsync in (("PostgreSQL", False), ("PostgreSQL, on disk", True)):
            server = stack.enter_context(postgres.embedded_server(fsync=fsync))
            found.append(Place(name, server.url("app", server.fresh_database())))
        yield tuple(found)


async def seconds(place: Place, runs: int) -> float:
    """How long a worker takes for `runs` runs; ends the program if one of them fails."""
    storage = open_storage(place.url)
    model = scripted_runs(TURNS)
    beating = None if place.name == MEMORY else storage.units
    runtime = build_runtime(model=model, units=storage.units)
    worker = build_worker(
        model=model, units=storage.units, owner="benchmark", heartbeat_units=beating
    )

    async def work(count: int) -> float:
        submitted = []
        for _ in range(count):
            session = await runtime.open_session(Principal("benchmark"))
            submitted.append(await runtime.submit(session.id, "What is 17 times 23?"))
        start = time.perf_counter()
        await worker.run_until_idle()
        taken = time.perf_counter() - start
        for run_id in submitted:
            run = await runtime.run(run_id)
            if run.status is not RunStatus.COMPLETED:
                sys.exit(f"{place.name}: a run is {run.status}")
        return taken

    await work(WARM_UP_RUNS)
    taken = await work(runs)
    storage.close()
    return taken


def measure(rounds: int, runs: int) -> list[dict[str, object]]:
    """A row for each store: medians over the rounds."""
    found: dict[str, list[float]] = {}
    with places() as stores:
        for number in range(rounds):
            for place in stores:
                rate = runs / asyncio.run(seconds(place, runs))
                found.setdefault(place.name, []).append(rate)
            progress(f"round {number + 1} of {rounds}")
    return [
        {
            "store": name,
            "runs per second": statistics.median(rates),
            "least": min(rates),
            "most": max(rates),
            "of memory": statistics.median(
                rate / base for rate, base in zip(rates, found[MEMORY], strict=True)
            ),
        }
        for name, rates in found.items()
    ]


def main() -> None:
    """Parses the options, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5, help="of each store (default 5)")
    parser.add_argument("--runs", type=int, default=30, help="in a round (default 30)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1 or options.runs < 1:
        parser.error("--rounds, --runs: at least 1")
    template = os.environ.get(postgres.TEMPLATE)
    if template:
        os.environ[postgres.TEMPLATE] = str(Path(template).absolute())
    show(measure(options.rounds, options.runs), options.json)


if __name__ == "__main__":
    main()
