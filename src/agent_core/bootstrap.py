"""Explicit construction of the runtime. Imported by entry points only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from agent_core.adapters.determinism.clocks import PinnedClock, SystemClock
from agent_core.adapters.determinism.ids import PinnedIdFactory, SystemIdFactory
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application.executor import RunExecutor
from agent_core.application.finalize import Finalizer
from agent_core.application.journal import Journal
from agent_core.application.model_step import ModelStep
from agent_core.application.run_loop import RunLoop
from agent_core.application.runtime import Runtime
from agent_core.application.tool_pipeline import ToolPipeline
from agent_core.domain.model_script import ScriptedTurn
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.models import ModelProvider
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import Tool

PINNED_START = datetime(2026, 1, 1, tzinfo=UTC)


def build_runtime(
    *,
    model: ModelProvider,
    clock: Clock | None = None,
    ids: IdFactory | None = None,
    tools: Iterable[Tool] | None = None,
    policy: PolicyEngine | None = None,
) -> Runtime:
    """A runtime that keeps its records in memory.

    `clock` and `ids` default to the system's, which need `asyncio.run`; `tools` to the builtins;
    `policy` to one that allows only what has no side effect.
    Raises `RegistrationError` for tools that may not be registered.
    """
    clock = clock or SystemClock()
    ids = ids or SystemIdFactory()
    store = InMemoryUnitOfWork()
    journal = Journal(clock, ids)
    registry = StaticToolRegistry((MathCalculate(),) if tools is None else tools)

    def units() -> InMemoryUnitOfWork:
        return store

    loop = RunLoop(
        units=units,
        clock=clock,
        ids=ids,
        journal=journal,
        registry=registry,
        model_step=ModelStep(units=units, clock=clock, journal=journal, provider=model),
        pipeline=ToolPipeline(
            units=units,
            clock=clock,
            ids=ids,
            journal=journal,
            registry=registry,
            policy=policy or RuleSetPolicy(NO_EFFECTS),
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


class PinnedRuntime(NamedTuple):
    """A runtime in which nothing is left to chance, with the parts that a driver looks at.

    `model` knows how many turns were played and at which step the script ran out, if it did.
    Nothing in it waits for the outside, so `agent_core.application.inline.run_inline` runs it.
    """

    runtime: Runtime
    clock: PinnedClock
    model: ScriptedModelProvider


def build_pinned_runtime(
    *,
    turns: Sequence[ScriptedTurn],
    seed: str,
    start: datetime = PINNED_START,
    tools: Iterable[Tool] | None = None,
    policy: PolicyEngine | None = None,
) -> PinnedRuntime:
    """A runtime that plays `turns`, with ids made from `seed` and a clock that stands at `start`.

    Raises `ValueError` for turns that cannot be played.
    """
    clock = PinnedClock(start)
    model = ScriptedModelProvider(turns, clock)
    runtime = build_runtime(
        model=model, clock=clock, ids=PinnedIdFactory(seed), tools=tools, policy=policy
    )
    return PinnedRuntime(runtime, clock, model)
