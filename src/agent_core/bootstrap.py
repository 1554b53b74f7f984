"""Explicit construction of the runtime. Imported by entry points only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from agent_core.adapters.determinism.clocks import PinnedClock, SystemClock
from agent_core.adapters.determinism.ids import PinnedIdFactory, SystemIdFactory
from agent_core.adapters.determinism.schedulers import ConcurrentScheduler, DeterministicScheduler
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.adapters.tools.current_time import CurrentTime
from agent_core.adapters.tools.demo_write import DemoExternalWrite, DemoUnsafeWrite
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.recorded import with_recorded
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application.executor import RunExecutor
from agent_core.application.finalize import Finalizer
from agent_core.application.journal import Journal
from agent_core.application.model_step import ModelStep
from agent_core.application.run_loop import RunLoop
from agent_core.application.runtime import Runtime
from agent_core.application.tool_batch import ToolBatch
from agent_core.application.tool_pipeline import ToolPipeline
from agent_core.domain.deployment import DeploymentMode
from agent_core.domain.events import Event
from agent_core.domain.model_script import ScriptedTurn
from agent_core.domain.recorded_results import RecordedResults
from agent_core.domain.sessions import Principal
from agent_core.ports.determinism import BatchScheduler, Clock, IdFactory
from agent_core.ports.models import ModelProvider
from agent_core.ports.persistence import EventListener
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import Tool

PINNED_START = datetime(2026, 1, 1, tzinfo=UTC)


def builtin_tools() -> tuple[Tool, ...]:
    """The tools of a deployment that does not say which it wants."""
    return CurrentTime(), DemoExternalWrite(), DemoUnsafeWrite(), MathCalculate()


def build_runtime(
    *,
    model: ModelProvider,
    clock: Clock | None = None,
    ids: IdFactory | None = None,
    tools: Iterable[Tool] | None = None,
    policy: PolicyEngine | None = None,
    scheduler: BatchScheduler | None = None,
    listener: EventListener | None = None,
) -> Runtime:
    """A runtime that keeps its records in memory.

    `clock`, `ids` and `scheduler` default to the system's, which need `asyncio.run`; `tools` to
    the builtins; `policy` to one that allows only what has no side effect. `listener` is told of
    each event that is committed.
    Raises `RegistrationError` for tools that may not be registered.
    """
    clock = clock or SystemClock()
    ids = ids or SystemIdFactory()
    store = InMemoryUnitOfWork(listener)
    journal = Journal(clock, ids)
    registry = StaticToolRegistry(builtin_tools() if tools is None else tools)

    def units() -> InMemoryUnitOfWork:
        return store

    pipeline = ToolPipeline(
        units=units,
        clock=clock,
        ids=ids,
        journal=journal,
        registry=registry,
        policy=policy or RuleSetPolicy(NO_EFFECTS),
    )
    loop = RunLoop(
        units=units,
        clock=clock,
        ids=ids,
        journal=journal,
        registry=registry,
        model_step=ModelStep(units=units, clock=clock, journal=journal, provider=model),
        batch=ToolBatch(
            clock=clock,
            ids=ids,
            registry=registry,
            pipeline=pipeline,
            scheduler=scheduler or ConcurrentScheduler(),
        ),
    )
    executor = RunExecutor(
        units=units,
        clock=clock,
        journal=journal,
        loop=loop,
        finalizer=Finalizer(units=units, clock=clock, journal=journal),
    )
    return Runtime(
        units=units, clock=clock, ids=ids, journal=journal, registry=registry, executor=executor
    )


class Identity(NamedTuple):
    """The principals of a deployment, and its policy profiles as engines, by name."""

    principals: Mapping[str, Principal]
    policies: Mapping[str, PolicyEngine]


def load_identity(root: str, mode: DeploymentMode) -> Identity:
    """What the folder `root` holds. Raises `ConfigurationRefused`, also for every principal and
    profile of evaluations where `mode` is not development."""
    # Imported here: a process that reads no files does not pay for the libraries that do.
    from agent_core.adapters.configuration.deployment import read_identity

    found = read_identity(root, mode)
    policies = {name: RuleSetPolicy(rules) for name, rules in found.profiles.items()}
    return Identity(found.principals, policies)


class Deployment(NamedTuple):
    """A runtime as a deployment file describes it, and who may act in it, by name."""

    mode: DeploymentMode
    principals: Mapping[str, Principal]
    runtime: Runtime


def start_deployment(path: str, *, model: ModelProvider) -> Deployment:
    """Start what the deployment file at `path` describes.

    Raises `ConfigurationRefused`, before anything is built, with every problem of its files.
    """
    from agent_core.adapters.configuration.deployment import read_deployment

    settings = read_deployment(path)
    runtime = build_runtime(model=model, policy=RuleSetPolicy(settings.rules))
    return Deployment(settings.mode, settings.identity.principals, runtime)


def scripted_model(turns: Sequence[ScriptedTurn]) -> ScriptedModelProvider:
    """A model that plays `turns` by the system's clock. `ValueError` for what cannot be played."""
    return ScriptedModelProvider(turns, SystemClock())


class PinnedRuntime(NamedTuple):
    """A runtime in which nothing is left to chance, with the parts that a driver looks at.

    `model` knows how many turns were played and at which step the script ran out, if it did.
    Each of `listeners`, to which a driver may add, is told of each event that is committed.
    `missing_results` are the ids of the invocations of recorded tools without a result.
    Nothing in it waits for the outside, so `agent_core.application.inline.run_inline` runs it.
    """

    runtime: Runtime
    clock: PinnedClock
    model: ScriptedModelProvider
    listeners: list[EventListener]
    missing_results: list[str]


def build_pinned_runtime(
    *,
    turns: Sequence[ScriptedTurn],
    seed: str,
    start: datetime = PINNED_START,
    tools: Iterable[Tool] | None = None,
    policy: PolicyEngine | None = None,
    scheduler: BatchScheduler | None = None,
    recorded: RecordedResults | None = None,
) -> PinnedRuntime:
    """A runtime that plays `turns`, with ids made from `seed` and a clock that stands at `start`.

    The calls of a batch take turns by `scheduler`, by default in the order of the batch. A tool
    with results in `recorded` gives these instead of working. Raises `ValueError` for turns that
    cannot be played.
    """
    clock = PinnedClock(start)
    model = ScriptedModelProvider(turns, clock)
    listeners: list[EventListener] = []

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    missing: list[str] = []
    offered = builtin_tools() if tools is None else tools
    runtime = build_runtime(
        model=model,
        clock=clock,
        ids=PinnedIdFactory(seed),
        tools=with_recorded(offered, recorded or {}, missing),
        policy=policy,
        scheduler=scheduler or DeterministicScheduler(),
        listener=tell,
    )
    return PinnedRuntime(runtime, clock, model, listeners, missing)
