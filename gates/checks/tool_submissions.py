"""One call submitted several times at once: executed once, and everybody learns its outcome."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from agent_core.adapters.determinism.ids import PinnedIdFactory
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application import invocation_rows as rows
from agent_core.application.call_journal import CallJournal
from agent_core.application.cancellation import CancellationToken
from agent_core.application.inline import run_inline
from agent_core.application.journal import Journal
from agent_core.application.tool_pipeline import Proposal, ToolPipeline
from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ToolCall
from agent_core.domain.invocations import ToolInvocation
from agent_core.domain.runs import Run
from agent_core.domain.tools import ToolResult
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.domain.turns import give_way
from agent_core.ports.tools import ToolContext
from gates.checks.driving import ANYTHING, Probe, call_of, probe_spec
from gates.checks.durable import Scene, places, scene, script
from gates.checks.interleaving import interleaved
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_LABELS = Labels(TrustLevel.USER)
_LEASE = timedelta(hours=1)


def check(context: PropertyContext) -> None:
    submissions = st.lists(st.sampled_from(["call_1", "call_1", "call_2"]), min_size=2, max_size=4)
    with places() as place:

        def one_executes(kind: str, calls: list[str], work_turns: int, schedule: list[int]) -> None:
            with scene(place(kind), script([])) as one:
                _require_once(one, calls, work_turns, schedule)

        context.for_all(
            one_executes,
            kind=st.sampled_from(["memory", "sqlite"]),
            calls=submissions,
            work_turns=st.integers(0, 4),
            schedule=st.lists(st.integers(0, 11), max_size=30),
        )


def _require_once(
    one: Scene, calls: Sequence[str], work_turns: int, schedule: Sequence[int]
) -> None:
    executions: list[str] = []

    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        for _ in range(work_turns):
            await give_way()
        await context.mark_effect_sent()
        executions.append(context.idempotency_key)
        return ToolResult({"text": "done"}, f"done as number {len(executions)}")

    tool = Probe(probe_spec(timeout_seconds=3600), work)
    run = run_inline(_claimed(one))
    submit = _submitter(one, run, tool)
    ended = interleaved([submit(number, call) for number, call in enumerate(calls)], schedule)
    stored = {row.call_id: row for row in one.rows}
    different = len(set(calls))
    require(
        len(executions) <= different,
        "executed_twice",
        f"{len(executions)} executions of {different} calls, submitted as {calls}",
    )
    require(
        len(executions) == different and len(one.rows) == different,
        "call_swallowed",
        f"{len(executions)} executions, {len(one.rows)} records of {different} calls",
    )
    for call, end in zip(calls, ended, strict=True):
        require(end.error is None, "outcome_withheld", f"{call} was told {end.error!r}")
        require(
            end.result == stored[call],
            "outcome_differs",
            f"{call} was told {end.result}, and {stored[call]} is on record",
        )


def _submitter(
    one: Scene, run: Run, tool: Probe
) -> Callable[[int, str], Coroutine[Any, Any, ToolInvocation]]:
    """Submits a call as a process of its own, under the one hold on the run."""
    session = one.session._replace(tool_names=(tool.spec.name,))

    async def submit(number: int, call_id: str) -> ToolInvocation:
        ids = PinnedIdFactory(f"submission {number}", 1_000 * (number + 1_000))
        calls = CallJournal(one.clock, ids, Journal(one.clock, ids))
        pipeline = ToolPipeline(
            units=one.place.units(None),
            clock=one.clock,
            ids=ids,
            calls=calls,
            registry=StaticToolRegistry([tool]),
            policy=ANYTHING,
            token=CancellationToken(),
        )
        call = ToolCall(call_id, tool.spec.name, call_of(tool.spec.name).arguments)
        row = rows.proposed(ids.new_id(), run, call, _LABELS, one.clock.now())
        return (await pipeline.handle(Proposal(session, run, call, row, _LABELS))).row

    return submit


async def _claimed(one: Scene) -> Run:
    now = one.clock.now()
    async with one.place.units(None)() as unit:
        run = await unit.runs.claim("gate", now, now + _LEASE)
    assert run is not None
    return run._replace(step_count=1)
