"""The effect watermark: on record before anything leaves the process, and missed where it is not.

A trial runs one tool that acts on a world outside by a generated plan. The world looks at the
record at the moment at which something arrives, so that a watermark set afterwards does not count.
Looking needs a unit of work of its own, which cannot be entered while the tool's is open: what it
sees is committed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.bootstrap import builtin_tools
from agent_core.domain.canonical import JsonObject, canonical_json
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.tools import (
    IdempotencyClass,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
    ToolSpec,
)
from agent_core.ports.tools import Tool, ToolContext
from gates.checks.driving import Played, Probe, Stage, call_of, one_call, probe_spec
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_NEEDED = (IdempotencyClass.CONDITIONALLY_IDEMPOTENT, IdempotencyClass.NON_IDEMPOTENT)
_MARK, _SEND = "mark", "send"
_UNMARKED = "tool.contract.no_watermark"


class Plan(NamedTuple):
    """What the probe does, one after the other, and how it ends: `ok`, `failed` or `crashed`."""

    idempotency: IdempotencyClass
    acts: Sequence[str]
    ending: str

    @property
    def keeps_contract(self) -> bool:
        """Whether the tool marks before it sends anything."""
        return next((act for act in self.acts if act in (_MARK, _SEND)), _MARK) == _MARK


class World:
    """What is outside the process: each arrival with the watermark on record at that moment."""

    def __init__(self) -> None:
        self.stage: Stage | None = None
        self.arrivals: list[datetime | None] = []

    async def arrive(self, invocation_id: str) -> None:
        """Something arrives that the call of this id has sent."""
        assert self.stage is not None
        try:
            rows = await self.stage.runtime.invocations(self.stage.run_id)
        except RuntimeError:  # a unit of work is open, so the watermark is not committed
            self.arrivals.append(None)
        else:
            self.arrivals += [row.effect_sent_at for row in rows if row.id == invocation_id]


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    plans = st.builds(
        Plan,
        idempotency=st.sampled_from(IdempotencyClass),
        acts=st.lists(st.sampled_from([_MARK, _SEND, "wait"]), max_size=5),
        ending=st.sampled_from(["ok", "failed", "crashed"]),
    )
    context.for_all(effect_is_on_record_first, plan=plans)
    context.for_all(
        builtin_marks_its_effect,
        name=st.sampled_from(sorted(_builtins_with_effect())),
        text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=50),
        count=st.integers(1, 3),
    )


def effect_is_on_record_first(plan: Plan) -> None:
    """A tool that marks first is on record before it acts; one that never marks is found out."""
    world = World()
    played = _played(plan, world)
    (row,) = played.invocations
    if plan.keeps_contract:
        require(
            all(seen is not None for seen in world.arrivals),
            "effect_before_watermark",
            f"something left the process with the watermark {world.arrivals}",
        )
    marks = {seen for seen in (*world.arrivals, row.effect_sent_at) if seen is not None}
    require(len(marks) <= 1, "watermark_moved", f"the watermark was {sorted(marks)}")
    marked = _MARK in plan.acts
    require(
        (row.effect_sent_at is not None) is marked,
        "watermark_lost",
        f"the call that {'set' if marked else 'did not set'} it ends with {row.effect_sent_at}",
    )
    _require_verdict(plan, row, marked)


def _require_verdict(plan: Plan, row: ToolInvocation, marked: bool) -> None:
    """A success is one, unless the tool should have marked and did not."""
    assert row.outcome is not None
    code = row.outcome.reason_code
    unmarked = plan.idempotency in _NEEDED and not marked
    if plan.ending == "ok" and unmarked:
        require(code == _UNMARKED, "unmarked_success_accepted", f"recorded as {code}")
    elif plan.ending == "ok":
        require(code == "tool.succeeded", "success_refused", f"recorded as {code}")


def _played(plan: Plan, world: World) -> Played:
    async def act(arguments: JsonObject, context: ToolContext) -> ToolResult:
        for number, one in enumerate(plan.acts):
            if one == _MARK:
                await context.mark_effect_sent()
            elif one == _SEND:
                await world.arrive(context.invocation_id)
            else:
                _advance(context, number + 1)
        if plan.ending == "failed":
            raise ToolFailure(ToolFailureKind.UPSTREAM_ERROR, "tool.upstream_error")
        if plan.ending == "crashed":
            raise OSError("connection reset")
        return ToolResult({"text": "done"}, "done")

    only_reads = plan.idempotency is IdempotencyClass.READ_ONLY
    spec = probe_spec(
        idempotency=plan.idempotency,
        side_effect=SideEffectClass.NONE if only_reads else SideEffectClass.EXTERNAL_WRITE,
        timeout_seconds=3600,
    )
    world.stage = Stage(one_call(call_of(spec.name)), tools=[Probe(spec, act)])
    return world.stage.play()


def _advance(context: ToolContext, seconds: float) -> None:
    """Lets time pass, so that a watermark that is stamped again is another one."""
    assert isinstance(context.clock, PinnedClock)
    context.clock.advance(seconds)


class _Watched(Tool):
    """A builtin, watched while it runs: `departures` is what left before there was a watermark."""

    def __init__(self, tool: Tool, world: World) -> None:
        self._tool = tool
        self._world = world
        self.departures: list[str] = []

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        async def mark() -> None:
            await context.mark_effect_sent()
            await self._world.arrive(context.invocation_id)
            _departures.listener = None

        _departures.listener = self.departures
        try:
            return await self._tool.run(arguments, context._replace(mark_effect_sent=mark))
        finally:
            _departures.listener = None


class _Departures:
    """Hears, by Python's audit events, of whatever leaves this process while somebody listens."""

    listener: list[str] | None = None
    _installed = False

    def install(self) -> None:
        """Once, because an audit hook stays for the life of the process."""
        if not self._installed:
            self._installed = True
            sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.listener is None:
            return
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
        if writes or event.startswith(_LEAVING):
            self.listener.append(event)


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_LEAVING = (
    *("socket.connect", "socket.send", "socket.getaddrinfo", "socket.bind", "urllib.", "http."),
    *("subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "smtplib."),
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"),
    *("shutil.", "sqlite3.", "mmap.", "ftplib.", "os.kill"),
)
_departures = _Departures()


def builtin_marks_its_effect(name: str, text: str, count: int) -> None:
    """A builtin of the two classes sends nothing before its watermark, and succeeds with it."""
    tool, world = _builtins_with_effect()[name], World()
    watched = _Watched(tool, world)
    first, *others = tool.spec.input_schema["required"]
    calls = tuple(
        ScriptedToolCall(
            f"call_{number}",
            tool.spec.name,
            # Each call another place, so that none is the repetition of an earlier one.
            canonical_json({first: f"place {number}", **dict.fromkeys(others, text)}),
        )
        for number in range(count)
    )
    _departures.install()
    world.stage = Stage([ToolCallsTurn(calls), FinalTurn("Done.")], tools=[watched])
    played = world.stage.play()
    require(
        not watched.departures and None not in world.arrivals,
        "effect_before_watermark",
        f"{tool.spec.name}: {watched.departures} with the watermark {world.arrivals}",
    )
    codes = [row.outcome.reason_code for row in played.invocations if row.outcome is not None]
    require(
        codes == ["tool.succeeded"] * count and len(world.arrivals) == count,
        "builtin_without_watermark",
        f"{tool.spec.name} ended as {codes} and set {len(world.arrivals)} watermarks",
    )


def _builtins_with_effect() -> dict[str, Tool]:
    """The builtins of the two classes. Without any this part of the statement says nothing."""
    found = {tool.spec.name: tool for tool in builtin_tools() if tool.spec.idempotency in _NEEDED}
    require(found, "no_builtin_with_effect", "no builtin tool has an effect that needs a watermark")
    return found
