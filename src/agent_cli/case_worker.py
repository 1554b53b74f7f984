"""A worker process of a case that kills workers: `python -m agent_cli.case_worker IDENTITY`.

IDENTITY is the folder of the principals and profiles of cases. Takes a job as JSON from stdin, and
writes a report as a line of JSON to stdout before each intervention and in the end; see
`agent_core.evals.worker_job`.
"""

import os
import sys
from contextlib import ExitStack

from agent_cli.subject import eval_identity
from agent_core.bootstrap import build_pinned_worker, open_storage
from agent_core.evals.case_worker import do_job
from agent_core.evals.worker_job import Job, Report
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory

STDOUT = 1


def main() -> None:
    """Do the job on stdin."""
    job = Job.from_json(sys.stdin.read())
    with ExitStack() as opened:

        def store(listener: EventListener) -> UnitOfWorkFactory:
            storage = open_storage(job.url, tenant_id=job.tenant_id, listener=listener)
            opened.callback(storage.close)
            return storage.units

        policies = eval_identity(sys.argv[1]).policies
        do_job(job, build_pinned_worker, store, policies, _report)


def _report(report: Report) -> None:
    """Written at once: the process may be killed right after."""
    os.write(STDOUT, f"{report.to_json()}\n".encode())


if __name__ == "__main__":
    main()
