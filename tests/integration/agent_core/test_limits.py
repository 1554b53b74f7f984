"""The limits of a run: each may be reached, passing it ends the run and says which it was."""

import pytest

from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime
from agent_core.domain.model import ModelUsage
from agent_core.domain.model_script import FinalTurn
from agent_core.domain.runs import RunLimits, RunStatus
from agent_core.domain.tools import ToolResult
from tests.integration.agent_core.scripted_runs import (
    ANSWER,
    DONE,
    QUESTION,
    SOMEBODY,
    Listened,
    Probe,
    Result,
    calculate,
    error,
    proposes,
)


@pytest.mark.parametrize(
    ("limits", "turns", "passed", "proposed", "model_calls"),
    [
        (RunLimits(max_steps=2), 2, None, 1, 2),
        (RunLimits(max_steps=2), 3, ("steps", 2, 3), 2, 2),
        (RunLimits(max_steps=1), 2, ("steps", 1, 2), 1, 1),
        (RunLimits(max_steps=0), 1, ("steps", 0, 1), 0, 0),
        (RunLimits(max_model_calls=2), 2, None, 1, 2),
        (RunLimits(max_model_calls=1), 2, ("model_calls", 1, 2), 1, 1),
        (RunLimits(max_model_calls=0), 1, ("model_calls", 0, 1), 0, 0),
        (RunLimits(max_tool_calls=1), 2, None, 1, 2),
        (RunLimits(max_tool_calls=1), 3, ("tool_calls", 1, 2), 1, 2),
        (RunLimits(max_tool_calls=0), 2, ("tool_calls", 0, 1), 0, 1),
    ],
)
def test_counted_limits(limits, turns, passed, proposed, model_calls):
    script = [calculate(f"{n} + 1") for n in range(1, turns)]
    result = Result([*script, DONE], limits)
    assert (result.run.failure and result.run.failure.limit) == passed
    assert result.run.status == ("COMPLETED" if passed is None else "FAILED")
    assert result.types.count("tool.call.proposed") == proposed
    assert result.run.usage.model_calls == model_calls
    if passed is not None:
        reason = "max_steps_exceeded" if passed[0] == "steps" else "budget_exceeded"
        assert result.reason == reason
        (payload,) = result.payloads("run.failed")
        assert payload["reason"] == reason
        dimension, limit, reached = passed
        assert payload["limit"] == {"dimension": dimension, "limit": limit, "reached": reached}


def answer(input_tokens, output_tokens, cost_micros=0):
    return FinalTurn("Done.", usage=ModelUsage(input_tokens, output_tokens, cost_micros))


LIMITS = RunLimits(max_input_tokens=100, max_output_tokens=50, max_cost_micros=1000)


@pytest.mark.parametrize(
    ("used", "passed"),
    [
        ((100, 50, 1000), None),
        ((101, 1, 1), ("input_tokens", 100, 101)),
        ((1, 51, 1), ("output_tokens", 50, 51)),
        ((1, 1, 1001), ("cost_micros", 1000, 1001)),
    ],
)
def test_a_turn_that_passes_a_limit_is_charged_and_not_used(used, passed):
    result = Result([answer(*used)], LIMITS)
    assert (result.run.failure and result.run.failure.limit) == passed
    assert result.run.usage[2:] == used
    assert (result.text is None) == (passed is not None)
    assert len(result.payloads("model.response.completed")) == 1
    assert result.reason == (None if passed is None else "budget_exceeded")


@pytest.mark.parametrize(
    ("usage", "passed"),
    [
        (ModelUsage(100, 1), ("input_tokens", 100, 101)),
        (ModelUsage(1, 50), ("output_tokens", 50, 51)),
        (ModelUsage(99, 49, 1000), None),
    ],
)
def test_an_attempt_that_could_not_fit_is_not_made(usage, passed):
    result = Result([calculate("1")._replace(usage=usage), answer(1, 1)], LIMITS)
    assert (result.run.failure and result.run.failure.limit) == passed
    assert result.run.usage.model_calls == (2 if passed is None else 1)


def test_failed_attempts_use_the_budget_up():
    lost = error("transient", text="x" * 400, after_bytes=400)
    result = Result([lost, lost, ANSWER], RunLimits(max_output_tokens=150))
    assert result.run.failure.limit == ("output_tokens", 150, 200)
    assert result.reason == "budget_exceeded"


def test_a_batch_that_does_not_fit_is_not_begun():
    result = Result([calculate("1", "2", "3"), ANSWER], RunLimits(max_tool_calls=2))
    assert result.run.failure.limit == ("tool_calls", 2, 3)
    assert "tool.call.proposed" not in result.types


def test_after_the_deadline_no_step_and_no_call_is_begun():
    holder = {}

    def slow(arguments):
        holder["clock"].advance(arguments.get("seconds", 0))
        return ToolResult({}, "ok")

    class Timed(Listened):
        async def _execute(self, *arguments):
            holder["clock"] = self.clock
            session = await self.runtime.open_session(SOMEBODY)
            limits = RunLimits(deadline_seconds=5)
            run_id = await self.runtime.submit(session.id, QUESTION, limits)
            self.run = await self.runtime.run_until_terminal(run_id)
            self.rows = await self.runtime.invocations(run_id)

    def execute(*seconds):
        calls = [("demo.probe", f'{{"seconds": {one}}}') for one in seconds]
        tool = Probe(slow, timeout_seconds=60)
        return Timed([proposes(*calls), DONE], [tool])

    in_time = execute(5)
    assert in_time.run.status is RunStatus.COMPLETED
    late = execute(5.5)
    assert late.run.failure.reason == "deadline_exceeded"
    assert late.run.failure.limit == ("seconds", 5, 5.5)
    assert len(late.rows) == 1
    between = execute(6, 0)
    assert between.run.failure.reason == "deadline_exceeded"
    assert len(between.rows) == 1


def test_a_run_that_was_taken_up_too_late_does_nothing():
    pinned = build_pinned_runtime(turns=[ANSWER], seed="late")

    async def execute():
        session = await pinned.runtime.open_session(SOMEBODY)
        run_id = await pinned.runtime.submit(session.id, QUESTION, RunLimits(deadline_seconds=60))
        pinned.clock.advance(61)
        run = await pinned.runtime.run_until_terminal(run_id)
        return run, [event.event_type.value for event in await pinned.runtime.events(session.id)]

    run, types = run_inline(execute())
    assert run.failure.reason == "deadline_exceeded"
    assert (run.failure.step_number, run.failure.attempt_number) == (0, None)
    assert types[-3:] == ["run.claimed", "run.started", "run.failed"]
    assert pinned.model.turns_consumed == 0


@pytest.mark.parametrize(
    "limits", [RunLimits(max_steps=-1), RunLimits(deadline_seconds=float("nan"))]
)
def test_limits_that_are_none_are_refused(limits):
    pinned = build_pinned_runtime(turns=[], seed="wrong")

    async def submit():
        session = await pinned.runtime.open_session(SOMEBODY)
        with pytest.raises(ValueError, match="must be a finite number of at least 0"):
            await pinned.runtime.submit(session.id, QUESTION, limits)
        return await pinned.runtime.events(session.id)

    assert [event.event_type for event in run_inline(submit())] == ["session.created"]
