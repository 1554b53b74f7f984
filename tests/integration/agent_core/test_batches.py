"""The calls of one turn: when they go at the same time, and in which order they do."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.adapters.determinism.schedulers import DeterministicScheduler, RandomizedScheduler
from agent_core.bootstrap import build_pinned_runtime, build_runtime
from agent_core.domain.runs import RunLimits, RunStatus
from agent_core.domain.tools import IdempotencyClass, SideEffectClass, ToolResult
from agent_core.domain.turns import give_way
from agent_core.ports.determinism import BatchScheduler
from tests.integration.agent_core.scripted_runs import (
    DONE,
    SOMEBODY,
    Probe,
    Result,
    calculate,
    proposes,
)

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

STAGES = ["proposed", "authorized", "started", "completed"]


def in_order(result):
    """Whether every call of the log was over before the next one began."""
    calls = list(dict.fromkeys(call for _, call in result.tool_events))
    return result.tool_events == [
        event for call in calls for event in result.tool_events if event[1] == call
    ]


def test_calls_that_only_read_get_on_side_by_side_in_the_order_of_the_turn():
    result = Result([calculate("1 + 1", "2 + 2", "3 + 3"), DONE])
    assert result.tool_events == [(s, f"call_{n}") for s in STAGES for n in (1, 2, 3)]
    assert [(row.call_id, row.step_number) for row in result.invocations] == [
        ("call_1", 1),
        ("call_2", 1),
        ("call_3", 1),
    ]
    assert [row.result.content for row in result.invocations] == ["2", "4", "6"]
    (group,) = {row.parallel_group for row in result.invocations}
    assert group is not None
    payloads = [one for stage in STAGES for one in result.payloads(f"tool.call.{stage}")]
    assert {payload["parallel_group"] for payload in payloads} == {group}
    assert len(payloads) == 12


def test_a_parallel_batch_is_followed_by_one_checkpoint():
    result = Result([calculate("1", "2", "3"), DONE])
    triggers = [payload["trigger"] for payload in result.payloads("run.checkpointed")]
    assert triggers == ["model_response", "tool_outcome", "model_response"]
    results = [item for item in result.transcript if item.kind == "tool_result"]
    assert [item.call_id for item in results] == ["call_1", "call_2", "call_3"]


def test_a_call_that_fails_ends_no_other():
    result = Result([calculate("1", "1/0", "3"), DONE])
    assert [row.status.value for row in result.invocations] == ["SUCCEEDED", "FAILED", "SUCCEEDED"]
    assert result.run.status is RunStatus.COMPLETED


@pytest.mark.parametrize(
    "spec",
    [
        {"allow_parallel": False},
        {"side_effect": SideEffectClass.WORKSPACE_WRITE, "idempotency": "idempotent"},
        {"idempotency": "idempotent"},
    ],
)
def test_one_call_that_may_not_makes_the_whole_batch_go_one_by_one(spec):
    spec = {"allow_parallel": False} | spec
    spec["idempotency"] = IdempotencyClass(spec.get("idempotency", "read_only"))
    tools = [Probe(**spec), Probe(name="demo.other", allow_parallel=True)]
    calls = [("demo.other", '{"n": 1}'), ("demo.probe", "{}"), ("demo.other", '{"n": 2}')]
    result = Result([proposes(*calls), DONE], tools=tools)
    assert in_order(result)
    assert [row.parallel_group for row in result.invocations] == [None] * 3
    triggers = [payload["trigger"] for payload in result.payloads("run.checkpointed")]
    assert triggers.count("tool_outcome") == 3


@pytest.mark.parametrize(
    "calls",
    [
        [("math.calculate", '{"expression": "1"}'), ("demo.invented", "{}")],
        [("math.calculate", '{"expression": "1"}')],
    ],
)
def test_an_unknown_tool_and_a_single_call_make_no_parallel_batch(calls):
    result = Result([proposes(*calls), DONE])
    assert in_order(result)
    assert result.payloads("tool.call.proposed")[0].get("parallel_group") is None


def test_what_is_refused_in_a_parallel_batch_is_refused_alone():
    calls = [("math.calculate", "{"), ("math.calculate", '{"expression": "2"}')]
    result = Result([proposes(*calls), DONE])
    assert [row.outcome.reason_code for row in result.invocations] == [
        "tool.arguments_malformed",
        "tool.succeeded",
    ]
    assert len({row.parallel_group for row in result.invocations}) == 1


def test_at_most_eight_at_once():
    under_way, most = set(), []

    async def work(arguments):
        under_way.add(arguments["n"])
        for _ in range(3):
            await give_way()
        most.append(len(under_way))
        under_way.remove(arguments["n"])
        return ToolResult({}, "ok")

    calls = [("demo.probe", f'{{"n": {n}}}') for n in range(20)]
    result = Result([proposes(*calls), DONE], tools=[Probe(work, allow_parallel=True)])
    assert len(result.invocations) == 20
    assert max(most) == 8


def outcome(result):
    """What a batch comes to, without the order in which things happened and what follows from
    it: the ids that were made on the way."""
    rows = [
        row._replace(id="", parallel_group=row.parallel_group and "group")
        for row in result.invocations
    ]
    shown = [(item.call_id, item.text, item.outcome) for item in result.transcript]
    return rows, shown, result.run.status, result.run.usage


@given(
    st.lists(st.sampled_from(["1", "2 + 2", "1/0", "9**9**9", "(", "sqrt(2)"]), max_size=10),
    st.integers(0, 2**32),
)
@settings(max_examples=30)
def test_whoever_goes_first_the_batch_comes_to_the_same(expressions, seed):
    expressions = [f"{expression} " + " " * n for n, expression in enumerate(expressions)]
    turns = [calculate("0", *expressions), DONE]
    one = Result(turns, scheduler=DeterministicScheduler())
    other = Result(turns, scheduler=RandomizedScheduler(seed))
    assert [row.call_id for row in other.invocations] == [row.call_id for row in one.invocations]
    drop = ("idempotency_key", "run_id", "nonce")
    clean = [
        [row._replace(**dict.fromkeys(drop, "")) for row in outcome(result)[0]]
        for result in (one, other)
    ]
    assert clean[0] == clean[1]
    assert outcome(one)[1:] == outcome(other)[1:]


@given(st.integers(0, 2**32))
@settings(max_examples=30)
def test_a_seed_can_be_played_again(seed):
    turns = [calculate("1", "2", "3", "4"), DONE]
    first = Result(turns, scheduler=RandomizedScheduler(seed))
    again = Result(turns, scheduler=RandomizedScheduler(seed))
    assert first.events == again.events


def test_seeds_give_different_orders():
    turns = [calculate("1", "2", "3"), DONE]
    orders = {
        tuple(Result(turns, scheduler=RandomizedScheduler(seed)).tool_events) for seed in range(20)
    }
    assert len(orders) > 10


class Recording(BatchScheduler):
    """Counts the batches, and leaves the work to another scheduler."""

    def __init__(self):
        self.batches = []

    async def run(self, jobs):
        self.batches.append(len(jobs))
        return await DeterministicScheduler().run(jobs)


def test_a_batch_that_would_trip_the_breaker_goes_one_by_one():
    scheduler = Recording()
    result = Result([calculate("1", *["2"] * 5), DONE], scheduler=scheduler)
    assert scheduler.batches == []
    assert result.reason == "tool_loop_detected"
    assert [event for event, _ in result.tool_events].count("started") == 5


def test_a_batch_that_stays_below_the_breaker_does_not():
    scheduler = Recording()
    result = Result([calculate("1", *["2"] * 4), DONE], scheduler=scheduler)
    assert scheduler.batches == [5]
    assert result.run.status is RunStatus.COMPLETED


def test_the_system_composition_works_at_the_same_time():
    meeting = []

    async def meets(arguments):
        meeting.append(arguments["n"])
        while len(meeting) < 2:  # nobody goes on alone
            await asyncio.sleep(0)
        return ToolResult({}, "ok")

    turns = [proposes(("demo.probe", '{"n": 1}'), ("demo.probe", '{"n": 2}')), DONE]
    model = build_pinned_runtime(turns=turns, seed="script").model
    runtime = build_runtime(model=model, tools=[Probe(meets, allow_parallel=True)])

    async def execute():
        session = await runtime.open_session(SOMEBODY)
        run_id = await runtime.submit(session.id, "Go.", RunLimits())
        run = await runtime.run_until_terminal(run_id)
        return run, await runtime.invocations(run_id)

    run, rows = asyncio.run(execute())
    assert run.status is RunStatus.COMPLETED
    assert [row.status.value for row in rows] == ["SUCCEEDED"] * 2
