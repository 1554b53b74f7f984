"""Whole runs of the reference runtime with a scripted model: what happens, and what is recorded."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime, build_runtime
from agent_core.domain.errors import NotFound, SessionBusy, StaleState
from agent_core.domain.model import (
    ModelErrorClass,
    ModelUsage,
    StopReason,
    StreamCompleted,
    TextDelta,
)
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.runs import FailureReason, RunLimits, RunStatus
from agent_core.domain.sessions import Principal
from agent_core.ports.models import ModelProvider

SOMEBODY = Principal("somebody", frozenset({"run.write"}))
QUESTION = "What is 17 multiplied by 23?"
ANSWER = FinalTurn("17 multiplied by 23 is 391.")


def calculate(*expressions, start=1):
    return ToolCallsTurn(
        tuple(
            ScriptedToolCall(f"call_{n}", "math.calculate", f'{{"expression": "{expression}"}}')
            for n, expression in enumerate(expressions, start)
        )
    )


def error(error_class, **more):
    return ErrorTurn(ModelErrorClass(error_class), **more)


class Result:
    """One run to its end, and everything that can be asked about it afterwards."""

    def __init__(self, turns, limits=None, seed="case"):
        self.pinned = build_pinned_runtime(turns=turns, seed=seed)
        run_inline(self._run(limits))

    async def _run(self, limits):
        runtime = self.pinned.runtime
        session = await runtime.open_session(SOMEBODY)
        run_id = await runtime.submit(session.id, QUESTION, limits)
        self.run = await runtime.run_until_terminal(run_id)
        assert self.run == await runtime.run(run_id)
        self.events = await runtime.events(session.id)
        self.invocations = await runtime.invocations(run_id)
        self.text = await runtime.final_text(run_id)

    @property
    def types(self):
        return [event.event_type.value for event in self.events]

    def payloads(self, event_type):
        return [event.payload for event in self.events if event.event_type == event_type]


def test_a_direct_response():
    result = Result([FinalTurn("Hello.")])
    assert result.types == [
        "session.created",
        "user.message.created",
        "run.queued",
        "run.started",
        "model.request.started",
        "model.response.completed",
        "run.checkpointed",
        "assistant.message.completed",
        "run.completed",
    ]
    assert result.run.status is RunStatus.COMPLETED
    assert result.run.failure is None
    assert result.text == "Hello."
    assert result.invocations == ()
    assert (result.run.step_count, result.run.usage.model_calls) == (1, 1)
    assert result.pinned.model.turns_consumed == 1


MANDATORY = [
    "run.queued",
    "run.started",
    "model.request.started",
    "model.response.completed",
    "tool.call.proposed",
    "tool.call.authorized",
    "tool.call.started",
    "tool.call.completed",
    "run.checkpointed",
    "model.request.started",
    "model.response.completed",
    "assistant.message.completed",
    "run.completed",
]


def test_a_single_calculator_call():
    result = Result([calculate("17 * 23"), ANSWER])
    remaining = iter(result.types)
    assert all(event_type in remaining for event_type in MANDATORY)
    assert [t for t in result.types if t.startswith("tool")] == MANDATORY[4:8]
    (row,) = result.invocations
    assert (row.tool_name, row.call_id, row.step_number) == ("math.calculate", "call_1", 1)
    assert row.arguments == {"expression": "17 * 23"}
    assert row.result.content == "391"
    assert row.outcome.reason_code == "tool.succeeded"
    assert "391" in result.text
    assert (result.run.step_count, result.run.usage[:2]) == (2, (2, 1))


def test_every_event_is_in_sequence_and_belongs_to_the_run():
    result = Result([calculate("1 + 1"), ANSWER])
    assert [event.sequence for event in result.events] == list(range(1, len(result.events) + 1))
    assert [event.run_id for event in result.events] == [None] + [result.run.id] * (
        len(result.events) - 1
    )
    actors = [(event.actor_type.value, event.actor_id) for event in result.events]
    assert actors == [("principal", "somebody")] * 3 + [("runtime", "agent_core")] * (
        len(actors) - 3
    )


def test_two_runs_of_one_script_are_identical():
    turns = [error("transient"), calculate("1/3", "2/0"), ANSWER]
    one, other = Result(turns), Result(turns)
    assert one.events == other.events
    assert one.invocations == other.invocations
    assert one.run == other.run
    assert Result(turns, seed="other").run.id != one.run.id


def test_calls_of_one_turn_run_in_its_order_in_one_step():
    result = Result([calculate("1 + 1", "2 + 2", "3 + 3"), ANSWER])
    assert [(row.call_id, row.step_number) for row in result.invocations] == [
        ("call_1", 1),
        ("call_2", 1),
        ("call_3", 1),
    ]
    assert [row.result.content for row in result.invocations] == ["2", "4", "6"]
    tool_events = [
        (event.event_type.value.rpartition(".")[2], event.payload["call_id"])
        for event in result.events
        if event.event_type.startswith("tool.call")
    ]
    steps = ["proposed", "authorized", "started", "completed"]
    assert tool_events == [(s, f"call_{n}") for n in (1, 2, 3) for s in steps]


def test_the_prefix_is_the_same_at_every_step():
    result = Result([calculate("1 + 1"), calculate("2 + 2"), ANSWER])
    requests = result.payloads("model.request.started")
    assert len({payload["prefix_sha256"] for payload in requests}) == 1
    assert [payload["body_items"] for payload in requests] == [1, 3, 5]


@pytest.mark.parametrize(
    ("turns", "status", "model_calls", "waits"),
    [
        ([error("transient"), ANSWER], "COMPLETED", 2, [1]),
        ([error("timeout"), error("protocol"), ANSWER], "COMPLETED", 3, [1, 2]),
        ([error("transient", text="partial", after_bytes=3), ANSWER], "COMPLETED", 2, [1]),
        ([error("rate_limit", retry_after_seconds=7.5), ANSWER], "COMPLETED", 2, [7.5]),
        ([error("rate_limit", retry_after_seconds=60), ANSWER], "COMPLETED", 2, [60]),
        ([error("rate_limit", retry_after_seconds=61), ANSWER], "max_attempts_exceeded", 1, []),
        ([FinalTurn(" "), FinalTurn(""), ANSWER], "COMPLETED", 3, [1, 2]),
        ([error("transient")] * 3, "max_attempts_exceeded", 3, [1, 2]),
        ([error("rate_limit")] * 3, "max_attempts_exceeded", 3, [1, 2]),
        ([FinalTurn("")] * 3, "empty_model_turn", 3, [1, 2]),
        ([error("transient"), error("permanent")], "model_permanent_error", 2, [1]),
        ([error("permanent"), ANSWER], "model_permanent_error", 1, []),
        ([], "model_permanent_error", 1, []),
    ],
)
def test_attempts(turns, status, model_calls, waits):
    result = Result(turns)
    reason = result.run.failure and result.run.failure.reason
    assert (reason or result.run.status) == status
    assert result.run.usage.model_calls == model_calls
    assert result.pinned.clock.sleeps == waits
    failed = result.types.count("model.response.failed")
    assert failed == model_calls - (status == "COMPLETED")
    numbers = [payload["attempt_number"] for payload in result.payloads("model.request.started")]
    assert numbers == list(range(1, model_calls + 1))
    assert result.types[-1] == ("run.completed" if status == "COMPLETED" else "run.failed")
    assert (result.text is None) == (status != "COMPLETED")


def test_a_failed_attempt_is_charged():
    result = Result([error("transient", text="12345678", after_bytes=8), FinalTurn("1234")])
    failed, completed = [
        payload
        for event_type in ("model.response.failed", "model.response.completed")
        for payload in result.payloads(event_type)
    ]
    assert failed["error_class"] == "transient"
    assert (failed["output_tokens"], completed["output_tokens"]) == (2, 1)
    assert result.run.usage.output_tokens == 3
    assert result.run.usage.input_tokens == failed["input_tokens"] + completed["input_tokens"]


def test_attempts_are_counted_anew_at_each_step():
    turns = [error("transient")] * 2 + [calculate("1")] + [error("transient")] * 2 + [ANSWER]
    assert Result(turns).run.status is RunStatus.COMPLETED


@pytest.mark.parametrize(
    ("limits", "turns", "reason", "proposed", "model_calls"),
    [
        (RunLimits(max_steps=2), 2, None, 1, 2),
        (RunLimits(max_steps=2), 3, "max_steps_exceeded", 2, 2),
        (RunLimits(max_steps=1), 2, "max_steps_exceeded", 1, 1),
        (RunLimits(max_model_calls=2), 2, None, 1, 2),
        (RunLimits(max_model_calls=1), 2, "budget_exceeded", 1, 1),
        (RunLimits(max_tool_calls=1), 2, None, 1, 2),
        (RunLimits(max_tool_calls=1), 3, "budget_exceeded", 1, 2),
        (RunLimits(max_tool_calls=0), 2, "budget_exceeded", 0, 1),
        (RunLimits(max_output_tokens=10), 3, "budget_exceeded", 1, 2),
        (RunLimits(max_input_tokens=10), 2, "budget_exceeded", 0, 1),
    ],
)
def test_limits_may_be_reached_and_not_passed(limits, turns, reason, proposed, model_calls):
    script = [calculate(f"{n} + 1", start=n) for n in range(1, turns)]
    result = Result([*script, FinalTurn("Done.")], limits)
    assert (result.run.failure and result.run.failure.reason) == reason
    assert result.types.count("tool.call.proposed") == proposed
    assert result.run.usage.model_calls == model_calls


def test_a_batch_that_does_not_fit_is_not_begun():
    result = Result([calculate("1", "2", "3"), ANSWER], RunLimits(max_tool_calls=2))
    assert result.run.failure.reason is FailureReason.BUDGET_EXCEEDED
    assert "tool.call.proposed" not in result.types


def test_a_failure_is_recorded_with_its_place_and_without_outside_text():
    result = Result([calculate("1"), error("permanent", text="secret", after_bytes=6)])
    failure = result.run.failure
    assert (failure.reason, failure.error_class, failure.step_number) == (
        FailureReason.MODEL_PERMANENT_ERROR,
        "permanent",
        2,
    )
    (payload,) = result.payloads("run.failed")
    assert payload == {
        "reason": "model_permanent_error",
        "error_class": "permanent",
        "step_number": 2,
        "step_count": 2,
        "model_call_count": 2,
        "tool_call_count": 1,
    }
    assert "secret" not in repr(result.events)


def test_a_cut_off_answer_is_an_answer():
    result = Result([FinalTurn("Seventeen times", stop_reason=StopReason.MAX_TOKENS)])
    assert result.run.status is RunStatus.COMPLETED
    assert result.text == "Seventeen times"


def test_text_beside_calls_does_not_end_the_run():
    turn = calculate("17 * 23")._replace(text="Let me compute that.")
    result = Result([turn, ANSWER])
    assert result.text == ANSWER.text
    assert result.payloads("model.response.completed")[0]["text"] == "Let me compute that."
    assert result.types.count("assistant.message.completed") == 1


def test_authored_usage_counts():
    result = Result([FinalTurn("Hello.", usage=ModelUsage(1000, 7))])
    assert result.run.usage[2:] == (1000, 7)


def test_a_session_remembers_its_earlier_messages():
    pinned = build_pinned_runtime(turns=[FinalTurn("One."), FinalTurn("Two.")], seed="conversation")

    async def converse():
        runtime = pinned.runtime
        session = await runtime.open_session(SOMEBODY)
        runs = []
        for text in ("first", "second"):
            runs.append(await runtime.submit(session.id, text))
            await runtime.run_until_terminal(runs[-1])
        texts = [await runtime.final_text(run_id) for run_id in runs]
        return await runtime.events(session.id), texts

    events, texts = run_inline(converse())
    requests = [e.payload for e in events if e.event_type == "model.request.started"]
    assert [payload["body_items"] for payload in requests] == [1, 3]
    assert texts == ["One.", "Two."]


def test_a_session_runs_one_at_a_time():
    pinned = build_pinned_runtime(turns=[FinalTurn("One."), FinalTurn("Two.")], seed="busy")

    async def submit_twice():
        runtime = pinned.runtime
        session = await runtime.open_session(SOMEBODY)
        first = await runtime.submit(session.id, "first")
        with pytest.raises(SessionBusy):
            await runtime.submit(session.id, "second")
        assert await runtime.final_text(first) is None
        await runtime.run_until_terminal(first)
        second = await runtime.submit(session.id, "second")
        return await runtime.run(second), await runtime.events(session.id)

    run, events = run_inline(submit_twice())
    assert run.status is RunStatus.QUEUED
    assert [e.event_type for e in events].count("user.message.created") == 2


def test_a_run_is_executed_once():
    pinned = build_pinned_runtime(turns=[FinalTurn("One."), FinalTurn("Two.")], seed="once")

    async def execute_twice():
        runtime = pinned.runtime
        session = await runtime.open_session(SOMEBODY)
        run_id = await runtime.submit(session.id, "first")
        await runtime.run_until_terminal(run_id)
        before = await runtime.events(session.id)
        with pytest.raises(StaleState):
            await runtime.run_until_terminal(run_id)
        return before, await runtime.events(session.id)

    before, after = run_inline(execute_twice())
    assert before == after
    assert pinned.model.turns_consumed == 1


@pytest.mark.parametrize("text", ["", " \n", "\ud800"])
def test_a_message_has_a_text(text):
    pinned = build_pinned_runtime(turns=[], seed="blank")

    async def submit():
        session = await pinned.runtime.open_session(SOMEBODY)
        with pytest.raises(ValueError):
            await pinned.runtime.submit(session.id, text)
        return await pinned.runtime.events(session.id)

    assert [event.event_type for event in run_inline(submit())] == ["session.created"]


def test_what_is_unknown_is_not_found():
    runtime = build_pinned_runtime(turns=[], seed="unknown").runtime
    for question in (
        runtime.submit("nothing", "text"),
        runtime.run_until_terminal("nothing"),
        runtime.run("nothing"),
        runtime.events("nothing"),
        runtime.invocations("nothing"),
        runtime.final_text("nothing"),
    ):
        with pytest.raises(NotFound):
            run_inline(question)


def test_a_session_names_registered_tools_only():
    runtime = build_pinned_runtime(turns=[], seed="tools").runtime
    with pytest.raises(ValueError, match=r"not registered: a\.tool, b\.tool; registered: math"):
        run_inline(runtime.open_session(SOMEBODY, ["b.tool", "math.calculate", "a.tool"]))
    pinned = run_inline(runtime.open_session(SOMEBODY, ["math.calculate"] * 2))
    assert pinned.tool_names == ("math.calculate",)
    assert run_inline(runtime.open_session(SOMEBODY)).tool_names == ("math.calculate",)
    assert run_inline(runtime.open_session(SOMEBODY, [])).tool_names == ()


class Broken(ModelProvider):
    name = "broken"

    async def stream(self, request):
        yield TextDelta(0, 0, "partial")
        raise ZeroDivisionError("a defect of the adapter")


def test_a_defect_of_the_runtime_ends_the_run_and_is_raised():
    pinned = build_pinned_runtime(turns=[], seed="defect")
    runtime = build_runtime(model=Broken(), clock=pinned.clock)

    async def submit():
        session = await runtime.open_session(SOMEBODY)
        return session.id, await runtime.submit(session.id, QUESTION)

    session_id, run_id = run_inline(submit())
    with pytest.raises(ZeroDivisionError):
        run_inline(runtime.run_until_terminal(run_id))
    run = run_inline(runtime.run(run_id))
    events = run_inline(runtime.events(session_id))
    assert run.status is RunStatus.FAILED
    assert run.failure.reason is FailureReason.INTERNAL_ERROR
    assert run.failure.error_class == "ZeroDivisionError"
    assert [e.event_type for e in events].count("run.failed") == 1
    assert "a defect of the adapter" not in repr(events)


class Silent(ModelProvider):
    """Takes longer over its first answer than an attempt may."""

    name = "silent"

    def __init__(self, clock):
        self._clock = clock
        self._asked = 0

    async def stream(self, request):
        self._asked += 1
        if self._asked == 1:
            self._clock.advance(301)
        yield TextDelta(0, 0, "Here I am.")
        yield StreamCompleted(1, StopReason.END_TURN, ModelUsage(1, 1))


def test_an_attempt_that_takes_too_long_is_a_timeout_and_is_made_again():
    clock = build_pinned_runtime(turns=[], seed="slow").clock
    runtime = build_runtime(model=Silent(clock), clock=clock)

    async def execute():
        session = await runtime.open_session(SOMEBODY)
        run = await runtime.run_until_terminal(await runtime.submit(session.id, QUESTION))
        return run, await runtime.events(session.id)

    run, events = run_inline(execute())
    assert run.status is RunStatus.COMPLETED
    (failed,) = [e for e in events if e.event_type == "model.response.failed"]
    assert failed.payload["error_class"] == "timeout"


def test_the_system_composition_runs_under_asyncio():
    model = build_pinned_runtime(
        turns=[error("transient"), calculate("17 * 23"), ANSWER], seed="script"
    ).model
    runtime = build_runtime(model=model)

    async def execute():
        session = await runtime.open_session(SOMEBODY)
        run = await runtime.run_until_terminal(await runtime.submit(session.id, QUESTION))
        return run, await runtime.events(session.id), await runtime.final_text(run.id)

    run, events, text = asyncio.run(execute())
    assert run.status is RunStatus.COMPLETED
    assert text == ANSWER.text
    assert run.created_at > datetime(2026, 1, 1, tzinfo=UTC)
    assert run.started_at <= run.completed_at
    assert [event.id for event in events] == sorted(event.id for event in events)
