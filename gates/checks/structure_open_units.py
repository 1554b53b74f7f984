"""The assertion that no unit of work is open, at the calls that lead outside, in a runtime."""

from __future__ import annotations

import contextlib
from datetime import timedelta

from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.cancellation import CancellationToken
from agent_core.application.fencing import FencedUnits
from agent_core.application.inline import run_inline
from agent_core.bootstrap import PINNED_START
from agent_core.domain.canonical import JsonObject
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.tools import ToolResult
from agent_core.ports.tools import ToolContext
from gates.checks.driving import EVERYBODY, Probe, Stage, call_of, one_call, probe_spec
from hardgate.verdicts.verdict import Finding

_MODEL = "src/agent_core/application/model_step.py"
_TOOL = "src/agent_core/application/tool_pipeline.py"


def assertion_findings() -> tuple[list[Finding], int]:
    """What went outside while a unit of work of the same task was open; also how often that was
    tried: once at the model, once at a tool.

    The open unit is one of another store, so that it is not this store that refuses.
    """
    executed: list[str] = []

    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        executed.append(context.invocation_id)
        return ToolResult({"text": "done"}, "done")

    elsewhere = _Elsewhere()
    turns = one_call(call_of("demo.probe"))
    asked = Stage(turns, tools=[Probe(probe_spec(), work)])
    run_inline(elsewhere.opened())
    asked.play(broken_by=RuntimeError)
    run_inline(elsewhere.closed())
    calling = Stage(turns, tools=[Probe(probe_spec(), work)], observer=elsewhere.observe)
    calling.play(broken_by=RuntimeError)
    run_inline(elsewhere.closed())
    findings = []
    if asked.model.requests:
        message = "the model was asked while a unit of work was open"
        findings.append(Finding(_MODEL, 1, "model_in_transaction", message))
    if not calling.model.requests:
        message = "nothing was shown of the tool, because the model was not asked before"
        findings.append(Finding(_TOOL, 1, "tool_not_reached", message))
    if executed:
        message = "the tool was executed while a unit of work was open"
        findings.append(Finding(_TOOL, 1, "tool_in_transaction", message))
    return findings, 2


class _Elsewhere:
    """A run that is held in another store, and a unit of work over it that stays open."""

    def __init__(self) -> None:
        self._stack = contextlib.AsyncExitStack()

    async def opened(self) -> None:
        store, until = InMemoryUnitOfWork(), PINNED_START + timedelta(seconds=30)
        limits, start = RunLimits(), PINNED_START
        queued = Run("run", "session", EVERYBODY.id, frozenset(), RunStatus.QUEUED, limits, start)
        async with store as unit:
            await unit.runs.add(queued)
            run = await unit.runs.claim("gate", PINNED_START, until)
        assert run is not None and run.lease is not None
        units = FencedUnits(lambda: store, run.id, run.lease, CancellationToken())
        await self._stack.enter_async_context(units())

    async def closed(self) -> None:
        await self._stack.aclose()

    async def observe(self, point: str, run: Run, row: ToolInvocation) -> None:
        if point == "pipeline.10.before":
            await self.opened()
