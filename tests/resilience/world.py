"""The world outside of a run: what its tools did there, and the tools that do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from agent_core.adapters.policy.rule_set_policy import RuleSetPolicy
from agent_core.adapters.tools.ask_user import AskUser
from agent_core.domain.canonical import JsonObject
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet, TrustOverlay
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import Tool, ToolContext

SOMEBODY = Principal("somebody", frozenset({"run.write"}))
ANYTHING = RuleSetPolicy(
    RuleSet(
        "anything",
        dict.fromkeys(SideEffectClass, Rule(PolicyEffect.ALLOW)),
        TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(SideEffectClass)),
    )
)
"""Allows everything: whatever ends a call here is not the policy."""

NAMES = {
    IdempotencyClass.READ_ONLY: "demo.read",
    IdempotencyClass.IDEMPOTENT: "demo.put",
    IdempotencyClass.CONDITIONALLY_IDEMPOTENT: "demo.pay",
    IdempotencyClass.NON_IDEMPOTENT: "demo.send",
}
ENDS = ("well", "refused", "fails")
"""How a call ends, by its argument: `refused` has no effect, `fails` fails after its effect."""


def before_effect(kind: IdempotencyClass) -> str:
    """The point in a tool of this kind right before its effect; its watermark is set, if it has one."""
    return f"tool.{kind}.before_effect"


def after_effect(kind: IdempotencyClass) -> str:
    """The point in a tool of this kind right after its effect."""
    return f"tool.{kind}.after_effect"


class Effect(NamedTuple):
    """One execution that reached the receiver. `token` is the call's argument of that name."""

    invocation_id: str
    idempotency_key: str
    token: str
    idempotency: str


Tell = Callable[[Effect], None]
"""Puts an effect on the world's own record, which no store of the runtime has a part in."""

Point = Callable[[str], Awaitable[None]]
"""Is awaited at a named point inside of a tool."""


class WorldTool(Tool):
    """A tool of one class of idempotency, which does to the world what its class allows."""

    def __init__(self, idempotency: IdempotencyClass, tell: Tell, point: Point) -> None:
        self._idempotency = idempotency
        self._tell = tell
        self._point = point

    @property
    def spec(self) -> ToolSpec:
        reads = self._idempotency is IdempotencyClass.READ_ONLY
        return ToolSpec(
            name=NAMES[self._idempotency],
            version="1",
            description="Does something to a model of the world.",
            input_schema={
                "type": "object",
                "properties": {"token": {"type": "string"}, "ends": {"enum": list(ENDS)}},
                "required": ["token", "ends"],
            },
            output_schema={
                "type": "object",
                "properties": {"token": {"type": "string"}},
                "required": ["token"],
            },
            side_effect=SideEffectClass.NONE if reads else SideEffectClass.EXTERNAL_WRITE,
            risk=RiskLevel.LOW,
            idempotency=self._idempotency,
            output_trust=TrustLevel.INTERNAL_TOOL,
            timeout_seconds=100,
            maximum_output_bytes=4096,
            allow_parallel=reads,
        )

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        token, ends = str(arguments["token"]), arguments["ends"]
        if ends == "refused":
            raise ToolFailure(ToolFailureKind.NOT_FOUND, "tool.not_found")
        if self._idempotency.needs_watermark:
            await context.mark_effect_sent()
        await self._point(before_effect(self._idempotency))
        if self._idempotency is not IdempotencyClass.READ_ONLY:
            key = context.idempotency_key
            self._tell(Effect(context.invocation_id, key, token, self._idempotency))
        await self._point(after_effect(self._idempotency))
        if ends == "fails":
            raise ToolFailure(ToolFailureKind.UPSTREAM_ERROR, "tool.upstream_error")
        return ToolResult({"token": token}, f"done {token}")


def world_tools(tell: Tell, point: Point) -> Iterable[Tool]:
    """A tool of each class, and the question to the user."""
    return AskUser(), *(WorldTool(one, tell, point) for one in IdempotencyClass)
