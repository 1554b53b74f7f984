"""What one case costs over each store, in a process that is already warm: in memory, SQLite, PostgreSQL.

`bazel run //benchmarks:case_storage -- [--repeats N] [--json]`

Cases and stores take turns, so that a change of the machine's pace meets them alike. Over a database a
case also clears what it has left behind. SQLite keeps its file where the suite keeps it; the server of
PostgreSQL is the one of the tests, in memory and without `fsync`. Every run has to pass its checks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from agent_cli.subject import IDENTITY, eval_identity, reference_subject
from agent_core.bootstrap import (
    Storage,
    build_pinned_runtime,
    build_pinned_worker,
    open_maintenance,
    open_storage,
)
from agent_core.evals.case_worker import ComposeWorker
from agent_core.evals.stored import WorkerEnd
from agent_core.evals.subject import ReferenceSubject
from agent_core.evals.worker_job import Job
from agent_core.ports.maintenance import TenantMaintenance
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory
from benchmarks.bench import progress, show
from benchmarks.one_case import CASES, FIXTURES, must_pass
from hardgate.kinds.case import collect, run_case
from tests.support import postgres

WARM_UP = 3
MEMORY = "memory"


class PostgresStore:
    """A database for cases, as `agent_cli.case_store` has a file for them."""

    def __init__(self, server: postgres.Server) -> None:
        database = server.fresh_database()
        self.url = server.url("app", database)
        self._maintenance = open_maintenance(server.url("maintenance", database))
        self._storage: Storage | None = None

    @property
    def maintenance(self) -> TenantMaintenance:
        return self._maintenance.tenants

    @property
    def compose_worker(self) -> ComposeWorker:
        return build_pinned_worker

    def units(self, tenant_id: str, listener: EventListener) -> UnitOfWorkFactory:
        """Those of the case before are not used any more."""
        if self._storage is not None:
            self._storage.close()
        self._storage = open_storage(self.url, tenant_id=tenant_id, listener=listener)
        return self._storage.units

    def work(self, job: Job) -> WorkerEnd:
        raise NotImplementedError("no case of this benchmark kills workers")

    def close(self) -> None:
        if self._storage is not None:
            self._storage.close()
        self._maintenance.close()


@contextmanager
def subjects() -> Iterator[Mapping[str, ReferenceSubject]]:
    """A subject for each store."""
    with postgres.server() as server:
        identity = partial(eval_identity, IDENTITY)
        store = PostgresStore(server)
        yield {
            MEMORY: reference_subject(),
            "SQLite": reference_subject(always_stored=True),
            "PostgreSQL": ReferenceSubject(
                build_pinned_runtime, identity, lambda: store, always_stored=True
            ),
        }
        store.close()


def measure(repeats: int) -> list[dict[str, object]]:
    """A row for each case and store: medians over `repeats` runs."""
    times: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as workspace, subjects() as by_store:
        for number in range(-WARM_UP, repeats):
            for name, path in CASES.items():
                for store, subject in by_store.items():
                    case = collect(path, FIXTURES, subject)
                    start = time.perf_counter()
                    result = run_case(case, subject, workspace, None)
                    milliseconds = (time.perf_counter() - start) * 1000
                    must_pass(f"{name}, {store}", result.verdict)
                    if number >= 0:
                        times.setdefault((name, store), []).append(milliseconds)
            if number >= 0 and (number + 1) % 10 == 0:
                progress(f"repeat {number + 1} of {repeats}")
    return [
        {
            "case": name,
            "store": store,
            "ms": statistics.median(found),
            "times memory": statistics.median(
                one / base for one, base in zip(found, times[(name, MEMORY)], strict=True)
            ),
        }
        for (name, store), found in times.items()
    ]


def main() -> None:
    """Parses the options, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=40, help="runs of each (default 40)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats: at least 1")
    template = os.environ.get(postgres.TEMPLATE)
    if template:
        os.environ[postgres.TEMPLATE] = os.path.abspath(template)
    os.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    show(measure(options.repeats), options.json)


if __name__ == "__main__":
    main()
