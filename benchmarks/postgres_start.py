"""What a PostgreSQL server of a test's own costs: from the build's template, and from nothing.

`bazel run //benchmarks:postgres_start -- [--rounds N] [--json]`

In each round every way is taken once, one after the other: until the first answer from a database of
the test's own, with every migration. "From nothing" is what each test would do without the template:
initdb, a start, the migrations, a stop. On a disk, both write through to it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from benchmarks.bench import progress, show
from tests.support import postgres

WAYS: dict[str, tuple[bool, bool]] = {  # from the template, through to a disk
    "from the template": (True, False),
    "from nothing": (False, False),
    "from the template, on disk": (True, True),
    "from nothing, on disk": (False, True),
}
ANOTHER = "one more database"
STOP = "stop and remove"


def one_round(template: Path) -> dict[str, float]:
    """The seconds of every way, and of two steps on a server that runs."""
    found = {}
    for name, (from_template, on_disk) in WAYS.items():
        start = time.perf_counter()
        with postgres.embedded_server(template if from_template else None, fsync=on_disk) as server:
            answer(server)
            found[name] = time.perf_counter() - start
            if (from_template, on_disk) == (True, False):
                start = time.perf_counter()
                answer(server)
                found[ANOTHER] = time.perf_counter() - start
            start = time.perf_counter()
        found.setdefault(STOP, time.perf_counter() - start)
    return found


def answer(server: postgres.Server) -> None:
    """Makes a database and reads what the migrations put there; ends the program if nothing is."""
    with server.connect("app", server.fresh_database()) as connection:
        connection.execute("SELECT set_config('app.tenant', 'tenant_eval', false)")
        if connection.execute("SELECT id FROM tenants").fetchall() != [("tenant_eval",)]:
            raise SystemExit("the database lacks what the migrations put there")


def measure(rounds: int, template: Path) -> list[dict[str, object]]:
    """A row for each way and step: medians, and the ratio to the start from the template."""
    samples: dict[str, list[float]] = {}
    for number in range(rounds):
        for name, seconds in one_round(template).items():
            samples.setdefault(name, []).append(seconds)
        progress(f"round {number + 1} of {rounds}")
    first = samples[next(iter(WAYS))]
    return [
        {
            "server": name,
            "seconds": statistics.median(found),
            "least": min(found),
            "most": max(found),
            "times the template": statistics.median(
                seconds / base for seconds, base in zip(found, first, strict=True)
            ),
        }
        for name, found in samples.items()
    ]


def main() -> None:
    """Parses the options, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=15, help="of each way (default 15)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    # Named for one way only: the other makes its own.
    template = Path(os.environ.pop(postgres.TEMPLATE)).absolute()
    show(measure(options.rounds, template), options.json)


if __name__ == "__main__":
    main()
