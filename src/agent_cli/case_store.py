"""A store of SQLite for cases, and the worker processes that share it."""

from __future__ import annotations

import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from agent_core.bootstrap import Storage, build_pinned_worker, open_maintenance, open_storage
from agent_core.evals.case_worker import ComposeWorker
from agent_core.evals.stored import WORKER_FAILED, WorkerEnd
from agent_core.evals.worker_job import Job, Report
from agent_core.ports.maintenance import TenantMaintenance
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory
from hardgate.subjects.port import SubjectError

WORKER = (sys.executable, "-S", "-s", "-B", "-P", "-m", "agent_cli.case_worker")
WORKER_SECONDS = 60.0
MEMORY = "/dev/shm"


class SqliteStore:
    """In a folder of its own, in memory where the machine has such a place; gone with the object,
    and with the process at the latest."""

    def __init__(self, identity: str) -> None:
        """`identity`: the folder of the principals and profiles that the workers read."""
        place = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None
        self._folder = TemporaryDirectory(prefix="case-records-", dir=place)
        self._worker = (*WORKER, identity)
        self._storage: Storage | None = None
        self.url = f"sqlite:///{self._folder.name}/records.db"
        self._maintenance = open_maintenance(self.url)

    @property
    def maintenance(self) -> TenantMaintenance:
        return self._maintenance.tenants

    @property
    def compose_worker(self) -> ComposeWorker:
        return build_pinned_worker

    def units(self, tenant_id: str, listener: EventListener) -> UnitOfWorkFactory:
        """Units of work over the records of a tenant, which is registered. The connections of the
        case before are closed."""
        if self._storage is not None:
            self._storage.close()
        self._storage = open_storage(self.url, tenant_id=tenant_id, listener=listener)
        return self._storage.units

    def work(self, job: Job) -> WorkerEnd:
        """Let a new worker process do a job, and wait for its end. What it says on stderr is
        passed on. Raises SubjectError for one that takes too long."""
        try:
            ended = subprocess.run(
                self._worker,
                input=job.to_json(),
                env=_environment(),
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                timeout=WORKER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            message = f"worker {job.number} took longer than {WORKER_SECONDS:g} seconds"
            raise SubjectError(message, WORKER_FAILED) from None
        return WorkerEnd(ended.returncode, Report.last_of(ended.stdout))

    def close(self) -> None:
        """Remove the store."""
        if self._storage is not None:
            self._storage.close()
        self._maintenance.close()
        self._folder.cleanup()


def _environment() -> dict[str, str]:
    """Little, and where this process finds its modules."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": path, "TZ": "UTC", "LANG": "C.UTF-8"}
