"""Attempts at a turn: which failures are tried again, when, and what they cost."""

import pytest

from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime, build_runtime
from agent_core.domain.model import (
    ModelUsage,
    ReasoningDelta,
    StopReason,
    StreamCompleted,
    TextDelta,
    UsageReported,
)
from agent_core.domain.model_script import FinalTurn
from agent_core.domain.runs import RunLimits, RunStatus
from agent_core.ports.models import ModelProvider
from tests.integration.agent_core.scripted_runs import (
    ANSWER,
    QUESTION,
    SOMEBODY,
    Result,
    calculate,
    error,
)


@pytest.mark.parametrize(
    ("turns", "status", "model_calls", "waits"),
    [
        ([error("transient"), ANSWER], "COMPLETED", 2, [1]),
        ([error("timeout"), error("protocol"), ANSWER], "COMPLETED", 3, [1, 2]),
        ([error("transient", text="partial", after_bytes=3), ANSWER], "COMPLETED", 2, [1]),
        ([error("rate_limit", retry_after_seconds=0.5), ANSWER], "COMPLETED", 2, [1]),
        ([error("rate_limit", retry_after_seconds=7.5), ANSWER], "COMPLETED", 2, [7.5]),
        ([error("rate_limit", retry_after_seconds=60), ANSWER], "COMPLETED", 2, [60]),
        ([error("rate_limit", retry_after_seconds=61), ANSWER], "max_attempts_exceeded", 1, []),
        ([FinalTurn(" "), FinalTurn(""), ANSWER], "COMPLETED", 3, [1, 2]),
        ([error("transient")] * 3, "max_attempts_exceeded", 3, [1, 2]),
        ([error("rate_limit")] * 3, "max_attempts_exceeded", 3, [1, 2]),
        ([FinalTurn("")] * 3, "empty_model_turn", 3, [1, 2]),
        ([error("transient"), FinalTurn(""), FinalTurn("")], "empty_model_turn", 3, [1, 2]),
        ([error("transient"), error("permanent")], "model_permanent_error", 2, [1]),
        ([error("permanent"), ANSWER], "model_permanent_error", 1, []),
        ([error("permanent", text="so far", after_bytes=6)], "model_permanent_error", 1, []),
        ([], "model_permanent_error", 1, []),
    ],
)
def test_attempts(turns, status, model_calls, waits):
    result = Result(turns)
    assert (result.reason or result.run.status) == status
    assert result.run.usage.model_calls == model_calls
    assert result.pinned.clock.sleeps == waits
    failed = result.types.count("model.response.failed")
    assert failed == model_calls - (status == "COMPLETED")
    numbers = [payload["attempt_number"] for payload in result.payloads("model.request.started")]
    assert numbers == list(range(1, model_calls + 1))
    assert result.types[-1] == ("run.completed" if status == "COMPLETED" else "run.failed")
    assert (result.text is None) == (status != "COMPLETED")
    assert (result.run.failure is None) == (status == "COMPLETED")


def test_waiting_does_not_move_a_clock_that_stands_still():
    result = Result([error("transient"), error("transient"), ANSWER])
    assert result.pinned.clock.sleeps == [1, 2]
    assert result.run.completed_at == result.run.created_at


@pytest.mark.parametrize(
    ("turn", "recorded"),
    [
        (error("transient"), ("transient", False, None)),
        (error("transient", text="12345678", after_bytes=1), ("transient", True, None)),
        (error("rate_limit", retry_after_seconds=3), ("rate_limit", False, 3)),
        (FinalTurn(""), ("empty_turn", False, None)),
    ],
)
def test_a_failed_attempt_is_recorded(turn, recorded):
    result = Result([turn, ANSWER])
    (failed,) = result.payloads("model.response.failed")
    seen = failed["error_class"], failed["had_output"], failed.get("retry_after_seconds")
    assert seen == recorded
    assert "stream_fault" not in failed


def test_the_failure_of_a_run_names_its_last_attempt():
    failure = Result([error("transient"), error("timeout"), error("rate_limit")]).run.failure
    assert (failure.error_class, failure.step_number, failure.attempt_number) == (
        "rate_limit",
        1,
        3,
    )


def test_output_of_a_failed_attempt_is_thrown_away():
    result = Result([error("transient", text="The answer is 392", after_bytes=17), ANSWER])
    assert result.text == ANSWER.text
    assert "392" not in repr((result.events, result.transcript))


def test_a_failed_attempt_is_charged():
    result = Result([error("transient", text="12345678", after_bytes=8), FinalTurn("1234")])
    failed, completed = [
        payload
        for event_type in ("model.response.failed", "model.response.completed")
        for payload in result.payloads(event_type)
    ]
    assert (failed["output_tokens"], completed["output_tokens"]) == (2, 1)
    assert result.run.usage.output_tokens == 3
    assert result.run.usage.input_tokens == failed["input_tokens"] + completed["input_tokens"]


def test_attempts_are_counted_anew_at_each_step():
    turns = [error("transient")] * 2 + [calculate("1")] + [error("transient")] * 2 + [ANSWER]
    result = Result(turns)
    assert result.run.status is RunStatus.COMPLETED
    assert result.pinned.clock.sleeps == [1, 2, 1, 2]


@pytest.mark.parametrize("error_class", ["transient", "timeout", "protocol", "rate_limit"])
def test_retries_stop_where_a_budget_does(error_class):
    result = Result([error(error_class)] * 3, RunLimits(max_model_calls=2))
    failure = result.run.failure
    assert failure.reason == "budget_exceeded"
    assert failure.limit == ("model_calls", 2, 3)
    assert failure.attempt_number == 3
    assert result.run.usage.model_calls == 2


class Answers(ModelProvider):
    """Gives one list of events for each attempt."""

    name = "answers"

    def __init__(self, *attempts, clock=None, slow=()):
        self._attempts = list(attempts)
        self._clock = clock
        self._slow = list(slow)

    async def stream(self, request):
        for event in self._attempts.pop(0):
            yield event
        if self._slow:
            self._clock.advance(self._slow.pop(0))


GOOD = [TextDelta(0, 0, "Here I am."), StreamCompleted(1, StopReason.END_TURN, ModelUsage(1, 1))]


def execute(*attempts, slow=(), limits=None):
    clock = build_pinned_runtime(turns=[], seed="clock").clock
    runtime = build_runtime(model=Answers(*attempts, clock=clock, slow=slow), clock=clock)

    async def run():
        session = await runtime.open_session(SOMEBODY)
        run = await runtime.run_until_terminal(await runtime.submit(session.id, QUESTION, limits))
        failed = [
            event.payload
            for event in await runtime.events(session.id)
            if event.event_type == "model.response.failed"
        ]
        return run, failed, clock.sleeps

    return run_inline(run())


@pytest.mark.parametrize(
    ("attempt", "fault"),
    [
        ([TextDelta(1, 0, "a")], "stream.sequence"),
        ([TextDelta(0, 0, "a")], "stream.terminal"),
        ([TextDelta(0, 1, "a"), TextDelta(1, 0, "b")], "stream.item_order"),
        ([TextDelta(0, 0, "a"), ReasoningDelta(1, 0, "b")], "stream.item_order"),
        ([StreamCompleted(0, StopReason.END_TURN, None)], "stream.usage"),
        (["401 Unauthorized: key sk-1"], "stream.foreign_content"),
    ],
)
def test_a_stream_that_breaks_an_invariant_is_a_failed_attempt_with_its_name(attempt, fault):
    run, (failed,), sleeps = execute(attempt, GOOD)
    assert run.status is RunStatus.COMPLETED
    assert (failed["error_class"], failed["stream_fault"]) == ("protocol", fault)
    assert "sk-1" not in repr(failed)
    assert sleeps == [1]


def test_an_attempt_that_takes_too_long_is_a_timeout_and_is_made_again():
    late = [UsageReported(0, ModelUsage(5, 7)), TextDelta(1, 0, "Here")]
    run, (failed,), _ = execute([*late, GOOD[1]._replace(sequence=2)], GOOD, slow=[300.5, 0])
    assert run.status is RunStatus.COMPLETED
    assert (failed["error_class"], failed["had_output"]) == ("timeout", True)
    assert (failed["input_tokens"], failed["output_tokens"]) == (5, 7)
    assert run.usage[2:4] == (6, 8)


def test_an_attempt_may_take_five_minutes():
    run, failed, _ = execute(GOOD, slow=[300])
    assert (run.status, failed) == (RunStatus.COMPLETED, [])


def test_an_attempt_may_not_outlast_the_deadline():
    run, (failed,), sleeps = execute(GOOD, GOOD, slow=[10.5], limits=RunLimits(deadline_seconds=10))
    assert failed["error_class"] == "timeout"
    assert run.failure.reason == "deadline_exceeded"
    assert run.failure.limit == ("seconds", 10, 11.5)
    assert sleeps == []


def test_there_is_no_waiting_beyond_the_deadline():
    turns = [error("transient"), error("transient"), ANSWER]
    late = Result(turns, RunLimits(deadline_seconds=1.5))
    failure = late.run.failure
    assert (failure.reason, failure.error_class) == ("deadline_exceeded", "transient")
    assert (failure.limit, failure.attempt_number) == (("seconds", 1.5, 2), 2)
    assert late.pinned.clock.sleeps == [1]
    assert Result(turns, RunLimits(deadline_seconds=2)).run.status is RunStatus.COMPLETED
