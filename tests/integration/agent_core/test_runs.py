"""Whole runs of the reference runtime with a scripted model: what happens, and what is recorded."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime, build_runtime
from agent_core.domain.errors import NotFound, StaleState
from agent_core.domain.model import ModelUsage, StopReason, TextDelta
from agent_core.domain.model_script import FinalTurn
from agent_core.domain.runs import FailureReason, RunStatus
from agent_core.ports.models import ModelProvider
from tests.integration.agent_core.scripted_runs import (
    ANSWER,
    QUESTION,
    SOMEBODY,
    Result,
    calculate,
    error,
)


def test_a_direct_response():
    result = Result([FinalTurn("Hello.")])
    assert result.types == [
        "session.created",
        "user.message.created",
        "run.queued",
        "run.claimed",
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


def test_the_prefix_is_the_same_at_every_step():
    result = Result([calculate("1 + 1"), calculate("2 + 2"), ANSWER])
    requests = result.payloads("model.request.started")
    assert len({payload["prefix_sha256"] for payload in requests}) == 1
    assert [payload["body_items"] for payload in requests] == [2, 4, 6]


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
        "attempt_number": 1,
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
    assert result.run.usage[2:4] == (1000, 7)


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
        runtime.transcript("nothing"),
    ):
        with pytest.raises(NotFound):
            run_inline(question)


def test_a_session_names_registered_tools_only():
    runtime = build_pinned_runtime(turns=[], seed="tools").runtime
    with pytest.raises(ValueError, match=r"not registered: a\.tool, b\.tool; registered: conv"):
        run_inline(runtime.open_session(SOMEBODY, ["b.tool", "math.calculate", "a.tool"]))
    pinned = run_inline(runtime.open_session(SOMEBODY, ["math.calculate"] * 2))
    assert pinned.tool_names == ("math.calculate",)
    assert run_inline(runtime.open_session(SOMEBODY)).tool_names == (
        "conversation.ask_user",
        "demo.external_write",
        "demo.unsafe_write",
        "math.calculate",
        "system.current_time",
    )
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
