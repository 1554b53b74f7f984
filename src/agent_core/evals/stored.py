"""Running cases over a store on disk, those that kill workers with processes of their own."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from agent_core.application.drain import Drain
from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.domain.errors import TenantBusy
from agent_core.domain.events import Event
from agent_core.domain.runs import Run
from agent_core.evals.case_worker import ComposeWorker
from agent_core.evals.composition import Asked, Compose, StoreFor
from agent_core.evals.conversation import converse
from agent_core.evals.in_process import composed, run_in_process
from agent_core.evals.interventions import Watch, service_calls
from agent_core.evals.observe import Played, observed
from agent_core.evals.worker_job import Job, Report, script_position
from agent_core.ports.maintenance import TenantMaintenance
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory
from hardgate.cases.record import Record
from hardgate.cases.values import instant
from hardgate.subjects.port import SubjectError

WORKER_FAILED = "subject.worker_failed"
STORE_NOT_CLEARED = "subject.store_not_cleared"


class WorkerEnd(NamedTuple):
    """How a worker process ended. `report` is its last one; `was_killed`: by SIGKILL."""

    exit_code: int
    report: Report | None

    @property
    def was_killed(self) -> bool:
        return self.exit_code == -signal.SIGKILL


class Durable(Protocol):
    """A store that several processes can use, and processes to use it: an entry point has them."""

    @property
    def url(self) -> str: ...

    @property
    def maintenance(self) -> TenantMaintenance: ...

    @property
    def compose_worker(self) -> ComposeWorker: ...

    def units(self, tenant_id: str, listener: EventListener) -> UnitOfWorkFactory:
        """Units of work over the records of a tenant, which is registered."""
        ...

    def work(self, job: Job) -> WorkerEnd:
        """Let a new worker process do a job, and wait for its end. Raises SubjectError for one
        that takes too long."""
        ...

    def close(self) -> None:
        """Remove the store."""
        ...


class StoredCases:
    """One case at a time over one store, which is empty before and after each. A store in which a
    case went wrong is given up, and the next case has a new one."""

    def __init__(self, compose: Compose, open_durable: Callable[[], Durable]) -> None:
        self._compose = compose
        self._open = open_durable
        self._durable: Durable | None = None

    def run(self, asked: Asked, *, in_workers: bool) -> Record:
        """The record of a case; `in_workers`: its runs are executed by worker processes."""
        durable, self._durable = self._durable or self._open(), None
        try:
            if in_workers:
                record = _InWorkers(asked, self._compose, durable).run()
            else:
                record = run_in_process(asked, self._compose, _store_of(asked, durable))
            run_inline(_cleared(asked, durable))
        except BaseException:
            durable.close()
            raise
        self._durable = durable
        return record


class _InWorkers:
    """One case whose runs are executed by worker processes, one at a time.

    This process sends the messages and looks at the record. A worker that was killed by the case
    is followed by another one, whose clock stands at the end of the lease.
    """

    def __init__(self, asked: Asked, compose: Compose, durable: Durable) -> None:
        self._asked = asked
        self._durable = durable
        act = service_calls(lambda: self._runtime, in_worker=False)
        self._watch = Watch(asked.case.interventions, act)
        self._composition = composed(asked, compose, self._watch, _store_of(asked, durable))
        self._runtime: Runtime = self._composition.runtime
        self._workers = 0
        self._waits_seconds: list[float] = []
        self._missing_results: list[str] = []

    def run(self) -> Record:
        asked, total = self._asked, len(self._asked.script.turns)
        conversation = run_inline(
            converse(self._runtime, asked.case, asked.principal, self._execute)
        )
        position = script_position(conversation.events, total)
        return observed(
            conversation,
            Played(
                turns_consumed=position.turns_played,
                turns_total=total,
                exhausted_at_step=position.exhausted_at_step,
                missing_results=self._missing_results,
                waits_seconds=self._waits_seconds,
                interventions=self._watch.seen,
            ),
        )

    async def _execute(self, run_id: str) -> Run:
        """Let workers at the run until one of them finds nothing more to do."""
        run = await self._runtime.run(run_id)
        while not run.status.is_terminal:
            ended = self._durable.work(await self._job(run))
            self._take(ended)
            run = await self._runtime.run(run_id)
            if not ended.was_killed:
                break
        return run

    async def _job(self, run: Run) -> Job:
        events = await self._runtime.events(run.session_id)
        self._workers += 1
        return Job(
            case=self._asked.case,
            script=self._asked.script,
            tool_results=self._asked.tool_results,
            url=self._durable.url,
            tenant_id=self._asked.principal.tenant_id,
            number=self._workers,
            start=self._moved_on(events[-1], run),
            turns_played=script_position(events, len(self._asked.script.turns)).turns_played,
            seen=self._watch.seen,
        )

    def _moved_on(self, last: Event, run: Run) -> datetime:
        """Where the clock of the case stands now: at the last event, or where a lease that a dead
        worker holds is over. Nobody waits for either."""
        clock = self._composition.clock
        now = max(clock.now(), last.created_at)
        if run.lease is not None:
            now = max(now, run.lease.expires_at)
        clock.advance((now - clock.now()).total_seconds())
        return now

    def _take(self, ended: WorkerEnd) -> None:
        """Take over what a worker reported. Raises SubjectError for one that neither did its job
        nor was killed by the case."""
        kills = self._kills()
        if ended.report is not None:
            self._watch.go_on(ended.report.seen)
            self._waits_seconds += ended.report.waits_seconds
            self._missing_results += ended.report.missing_results
        if ended.was_killed and self._kills() > kills:
            return
        if ended.exit_code or ended.report is None:
            message = f"worker {self._workers} ended with the code {ended.exit_code}"
            raise SubjectError(message, WORKER_FAILED)

    def _kills(self) -> int:
        """How many workers the case has killed so far."""
        both = zip(self._asked.case.interventions, self._watch.seen, strict=True)
        return sum(one.action == "kill_worker" and found.fired for one, found in both)


def _store_of(asked: Asked, durable: Durable) -> StoreFor:
    return lambda listener: durable.units(asked.principal.tenant_id, listener)


async def _cleared(asked: Asked, durable: Durable) -> None:
    """Leave nothing of a case behind: runs that wait are cancelled, hooks are done, and then every
    record of the tenant is removed. Raises SubjectError where that does not come to rest."""
    tenant_id = asked.principal.tenant_id
    units = durable.units(tenant_id, lambda event: None)
    parts = durable.compose_worker(
        turns=(),
        turns_played=0,
        seed=f"{asked.case.name}.cleared",
        number=0,
        start=instant(asked.case.clock.start),
        store=lambda listener: units,
    )
    drain = Drain(units=units, clock=parts.clock)
    try:
        await parts.worker.run_until_idle()
        for run in await drain.wait(tenant_id, 0):
            await parts.runtime.cancel(run.id)
        await parts.worker.run_until_idle()
        await drain.wait(tenant_id, 0)
        await durable.maintenance.truncate_tenant(tenant_id)
    except TenantBusy as busy:
        raise SubjectError(f"something is still under way: {busy}", STORE_NOT_CLEARED) from None
