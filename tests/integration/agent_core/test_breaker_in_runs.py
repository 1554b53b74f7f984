"""The breaker in whole runs: what is still executed, what is recorded, and how the run ends."""

import pytest

from agent_core.domain.runs import RunStatus
from tests.integration.agent_core.scripted_runs import DONE, Result, calculate, error, proposes


def starts(result):
    return result.types.count("tool.call.started")


def test_the_fifth_equal_proposal_ends_the_run_before_it_is_executed():
    result = Result([calculate("1 + 1")] * 5 + [DONE])
    assert (result.run.status, result.reason) == ("FAILED", "tool_loop_detected")
    assert result.run.usage[:2] == (5, 5)
    assert (result.types.count("tool.call.proposed"), starts(result)) == (5, 4)
    last = result.invocations[-1]
    assert (last.status, last.outcome.reason_code) == ("DENIED", "tool.breaker.repeated_call")
    assert result.run.failure.step_number == 5
    assert result.pinned.model.turns_consumed == 5


def test_four_are_allowed():
    result = Result([calculate("1 + 1")] * 4 + [DONE])
    assert result.run.status is RunStatus.COMPLETED


def test_writing_the_same_arguments_differently_is_no_way_round_it():
    texts = [
        '{"expression": "1 + 1"}',
        '{ "expression" : "1 + 1" }',
        '{"expression":"1 \\u002b 1"}',
        '{"expression":\n"1 + 1"}',
        '{"\\u0065xpression": "1 + 1"}',
    ]
    result = Result([proposes(("math.calculate", text)) for text in texts] + [DONE])
    assert result.reason == "tool_loop_detected"


def test_progress_in_between_resets_the_count():
    turns = [calculate("1 + 1")] * 4 + [calculate("2")] + [calculate("1 + 1")] * 4 + [DONE]
    result = Result(turns)
    assert result.run.status is RunStatus.COMPLETED
    assert starts(result) == 9


def test_a_failure_in_between_does_not():
    turns = [calculate("1 + 1")] * 4 + [calculate("1/0"), calculate("1 + 1")]
    result = Result(turns)
    assert result.reason == "tool_loop_detected"
    assert starts(result) == 5


def test_calls_without_a_normal_form_count_too():
    texts = ["{", "[]", "nothing", "1", "{'a': 1}"]
    result = Result([proposes(("math.calculate", text)) for text in texts])
    assert result.reason == "tool_loop_detected"
    assert starts(result) == 0


def test_the_fifth_in_one_turn():
    result = Result([calculate(*["1 + 1"] * 6), DONE])
    assert result.reason == "tool_loop_detected"
    assert (result.types.count("tool.call.proposed"), starts(result)) == (5, 4)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("demo.invented", "{}"), "policy.matrix.unknown_tool"),
        (("demo.unsafe_write", '{"destination": "d", "content": ""}'),
         "policy.matrix.external_write"),
    ],
)  # fmt: skip
def test_the_third_equal_denial_ends_the_run(call, code):
    result = Result([proposes(call)] * 3 + [DONE])
    assert (result.run.status, result.reason) == ("FAILED", "repeated_denial")
    assert [row.outcome.reason_code for row in result.invocations] == [code] * 3
    assert result.run.failure.step_number == 3
    assert Result([proposes(call)] * 2 + [DONE]).run.status is RunStatus.COMPLETED


def test_different_denials_end_nothing():
    calls = [proposes((f"demo.invented_{n}", "{}")) for n in range(6)]
    assert Result([*calls, DONE]).run.status is RunStatus.COMPLETED


def test_what_ended_the_run_is_in_its_last_checkpoint():
    result = Result([calculate("1 + 1")] * 5)
    assert result.transcript[-1].outcome.reason_code == "tool.breaker.repeated_call"
    assert result.types[-3:] == ["tool.call.denied", "run.checkpointed", "run.failed"]


def test_each_run_of_a_session_is_counted_by_itself():
    turns = ([calculate("1 + 1")] * 4 + [DONE]) * 2
    result = Result(turns, messages=("first", "second"))
    assert [run.status.value for run in result.runs] == ["COMPLETED"] * 2


def test_failed_attempts_do_not_count():
    turns = [calculate("1 + 1"), error("transient")] * 4 + [DONE]
    assert Result(turns).run.status is RunStatus.COMPLETED
