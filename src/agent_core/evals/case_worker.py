"""A worker process of a case: it does one job, tells what it did, and may be killed in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from agent_core.application.inline import run_inline
from agent_core.application.runtime import Runtime
from agent_core.domain.model_script import ScriptedTurn
from agent_core.domain.recorded_results import RecordedResults
from agent_core.evals.clock_steps import ClockSteps
from agent_core.evals.composition import PinnedTime, StoreFor
from agent_core.evals.interventions import Watch, service_calls
from agent_core.evals.script import played_turns, recorded_results
from agent_core.evals.worker_job import Job, Report
from agent_core.ports.observation import PipelineObserver
from agent_core.ports.persistence import EventListener
from agent_core.ports.policies import PolicyEngine
from hardgate.cases.values import seconds


class Work(Protocol):
    """Something that works until there is nothing left to do."""

    async def run_until_idle(self) -> None: ...


class WorkerParts(Protocol):
    """A worker with pinned time and ids, the services beside it, and who hears its events."""

    @property
    def worker(self) -> Work: ...

    @property
    def runtime(self) -> Runtime: ...

    @property
    def clock(self) -> PinnedTime: ...

    @property
    def listeners(self) -> list[EventListener]: ...

    @property
    def missing_results(self) -> Sequence[str]: ...


class ComposeWorker(Protocol):
    """Builds a worker; the entry point passes the bootstrap's own function."""

    def __call__(
        self,
        *,
        turns: Sequence[ScriptedTurn],
        turns_played: int,
        seed: str,
        number: int,
        start: datetime,
        store: StoreFor,
        policy: PolicyEngine | None = None,
        recorded: RecordedResults | None = None,
        observer: PipelineObserver | None = None,
    ) -> WorkerParts: ...


def do_job(
    job: Job,
    compose: ComposeWorker,
    store: StoreFor,
    policies: Mapping[str, PolicyEngine],
    tell: Callable[[Report], None],
) -> None:
    """Work until nothing is left to do. `tell` is given a report before each intervention, so that
    none is lost with the process, and one in the end."""
    case = job.case

    def report() -> None:
        tell(Report(watch.seen, parts.clock.sleeps, parts.missing_results))

    act = service_calls(lambda: parts.runtime, in_worker=True)
    watch = Watch(case.interventions, act, job.seen, report)
    parts = compose(
        turns=played_turns(job.script),
        turns_played=job.turns_played,
        seed=case.name,
        number=job.number,
        start=job.start,
        store=store,
        policy=policies[case.policy_profile],
        recorded=None if job.tool_results is None else recorded_results(job.tool_results),
        observer=watch.at_point,
    )
    if case.clock.advance_on_step is not None:
        parts.listeners.append(ClockSteps(parts.clock, seconds(case.clock.advance_on_step)))
    parts.listeners.append(watch.on_event)
    run_inline(parts.worker.run_until_idle())
    report()
