"""Drives the reference runtime as its entry points do, with the models and tools of the checks."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.determinism.schedulers import DeterministicScheduler
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.policy.rule_set_policy import RuleSetPolicy
from agent_core.application.inline import run_inline
from agent_core.bootstrap import PINNED_START, build_runtime
from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ModelRequest
from agent_core.domain.events import Event
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.model import StreamEvent
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ScriptedTurn, ToolCallsTurn
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet, TrustOverlay
from agent_core.domain.runs import Run, RunLimits
from agent_core.domain.scopes import Scope
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.observation import PipelineObserver
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import Tool, ToolContext

EVERYBODY = Principal("gate.driver", frozenset(map(str, Scope)))
"""Holds every scope, so that no check passes because something else was refused."""


def uniform_policy(effect: PolicyEffect) -> PolicyEngine:
    """A policy that decides alike about everything."""
    overlay = TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(SideEffectClass))
    return RuleSetPolicy(
        RuleSet(f"gate.{effect}", dict.fromkeys(SideEffectClass, Rule(effect)), overlay)
    )


ANYTHING = uniform_policy(PolicyEffect.ALLOW)

Work = Callable[[JsonObject, ToolContext], Awaitable[ToolResult]]


class Played(NamedTuple):
    """An ended run, everything that was recorded of it, and what the model was sent."""

    run: Run
    events: tuple[Event, ...]
    invocations: tuple[ToolInvocation, ...]
    final_text: str | None
    requests: tuple[ModelRequest, ...]


class Listening(ScriptedModelProvider):
    """The scripted model, which keeps the requests it was sent."""

    def __init__(self, turns: Sequence[ScriptedTurn], clock: PinnedClock) -> None:
        super().__init__(turns, clock)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        async for event in super().stream(request):
            yield event


class Stage:
    """One runtime in memory with a pinned clock and pinned ids, for one script."""

    def __init__(
        self,
        turns: Sequence[ScriptedTurn],
        *,
        tools: Sequence[Tool] | None = None,
        policy: PolicyEngine = ANYTHING,
        seed: str = "gate",
        model: Callable[[Sequence[ScriptedTurn], PinnedClock], Listening] = Listening,
        observer: PipelineObserver | None = None,
    ) -> None:
        self.clock = PinnedClock(PINNED_START)
        self.model = model(turns, self.clock)
        self.run_id = ""  # the run that was submitted last
        self.runtime = build_runtime(
            model=self.model,
            clock=self.clock,
            ids=PinnedIdFactory(seed),
            tools=tools,
            policy=policy,
            scheduler=DeterministicScheduler(),
            observer=observer,
        )

    def play(
        self,
        text: str = "Do it.",
        limits: RunLimits | None = None,
        broken_by: type[Exception] | None = None,
    ) -> Played:
        """Submits a message, runs it to its end and returns everything about it.

        `broken_by` is what a broken part of the composition raises through the runtime.
        """
        return run_inline(self._play(text, limits, broken_by))

    async def _play(
        self, text: str, limits: RunLimits | None, broken_by: type[Exception] | None
    ) -> Played:
        runtime = self.runtime
        session = await runtime.open_session(EVERYBODY)
        run_id = self.run_id = await runtime.submit(session.id, text, limits)
        with contextlib.suppress(*([broken_by] if broken_by else [])):
            await runtime.run_until_terminal(run_id)
        run = await runtime.run(run_id)
        return Played(
            run,
            await runtime.events(session.id),
            await runtime.invocations(run_id),
            await runtime.final_text(run_id),
            tuple(self.model.requests),
        )


class Probe(Tool):
    """A tool that does what a check says; `given` holds the arguments of each execution."""

    def __init__(self, spec: ToolSpec, work: Work) -> None:
        self._spec = spec
        self._work = work
        self.given: list[JsonObject] = []

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        self.given.append(json.loads(json.dumps(arguments)))
        return await self._work(arguments, context)


TEXT_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 20_000}},
    "required": ["text"],
}


def probe_spec(**changes: Any) -> ToolSpec:
    """The declaration of a tool from text to text that may do anything, but for the changes."""
    spec = ToolSpec(
        name="demo.probe",
        version="1",
        description="Does what a check says.",
        input_schema=TEXT_SCHEMA,
        output_schema=TEXT_SCHEMA,
        side_effect=SideEffectClass.EXTERNAL_WRITE,
        risk=RiskLevel.HIGH,
        idempotency=IdempotencyClass.IDEMPOTENT,
        output_trust=TrustLevel.INTERNAL_TOOL,
        timeout_seconds=2,
        maximum_output_bytes=4096,
    )
    return spec._replace(**changes)


def call_of(name: str, text: str = "x", call_id: str = "call_1") -> ScriptedToolCall:
    """A call of a tool that takes a text."""
    return ScriptedToolCall(call_id, name, json.dumps({"text": text}, ensure_ascii=False))


def one_call(call: ScriptedToolCall) -> list[ScriptedTurn]:
    """A script in which the model makes one call and then answers."""
    return [ToolCallsTurn((call,)), FinalTurn("Done.")]
