"""The limits of a run: what may be reached, and what ends it."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_core.domain import budgets
from agent_core.domain.model import ModelUsage
from agent_core.domain.runs import (
    Dimension,
    FailureReason,
    PassedLimit,
    Run,
    RunLimits,
    RunStatus,
    RunUsage,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
LIMITS = RunLimits(
    max_steps=3,
    max_model_calls=5,
    max_tool_calls=4,
    max_input_tokens=100,
    max_output_tokens=50,
    max_cost_micros=1000,
    deadline_seconds=60,
)
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.RUNNING, LIMITS, START)


def used(**usage):
    return RUN._replace(usage=RunUsage(**usage))


def after(seconds):
    return START + timedelta(seconds=seconds)


@pytest.mark.parametrize("check", [budgets.admission, budgets.step, budgets.attempt])
def test_a_run_that_has_used_nothing_may_begin(check):
    assert check(RUN, START) is None
    assert check(RUN, after(60)) is None


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        (RUN._replace(step_count=2), None),
        (RUN._replace(step_count=3), (Dimension.STEPS, 3, 4)),
        (used(tool_calls=4), None),
        (used(tool_calls=5), (Dimension.TOOL_CALLS, 4, 5)),
        (used(cost_micros=1000), None),
        (used(cost_micros=1001), (Dimension.COST_MICROS, 1000, 1001)),
        # What only an attempt needs is not asked for here.
        (used(model_calls=5, input_tokens=100, output_tokens=50), None),
    ],
)
def test_a_step(run, passed):
    assert budgets.step(run, START) == passed


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        (used(model_calls=4), None),
        (used(model_calls=5), (Dimension.MODEL_CALLS, 5, 6)),
        (used(input_tokens=99), None),
        (used(input_tokens=100), (Dimension.INPUT_TOKENS, 100, 101)),
        (used(output_tokens=49), None),
        (used(output_tokens=50), (Dimension.OUTPUT_TOKENS, 50, 51)),
        (used(cost_micros=1000), None),
        (used(cost_micros=1001), (Dimension.COST_MICROS, 1000, 1001)),
        (RUN._replace(step_count=3), None),
        (used(tool_calls=5), None),
    ],
)
def test_an_attempt(run, passed):
    assert budgets.attempt(run, START) == passed


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        (used(input_tokens=100, output_tokens=50, cost_micros=1000, model_calls=9), None),
        (used(input_tokens=101), (Dimension.INPUT_TOKENS, 100, 101)),
        (used(output_tokens=51), (Dimension.OUTPUT_TOKENS, 50, 51)),
        (used(cost_micros=1001), (Dimension.COST_MICROS, 1000, 1001)),
    ],
)
def test_what_was_charged(run, passed):
    assert budgets.recorded(run) == passed


@pytest.mark.parametrize(
    ("calls", "passed"), [(1, None), (2, None), (3, (Dimension.TOOL_CALLS, 4, 5))]
)
def test_a_batch_fits_as_a_whole_or_not_at_all(calls, passed):
    assert budgets.batch(used(tool_calls=2), calls, START) == passed


@pytest.mark.parametrize("check", [budgets.admission, budgets.step, budgets.attempt])
def test_after_the_deadline_nothing_is_begun(check):
    assert check(RUN, after(60.5)) == PassedLimit(Dimension.SECONDS, 60, 60.5)
    assert check(RUN._replace(limits=RunLimits()), after(10**6)) is None


def test_the_deadline_stops_a_batch_and_a_wait_that_ends_behind_it():
    assert budgets.batch(RUN, 1, after(61)).dimension is Dimension.SECONDS
    assert budgets.deadline(RUN, after(50), 10) is None
    assert budgets.deadline(RUN, after(50), 10.5) == (Dimension.SECONDS, 60, 60.5)


@pytest.mark.parametrize(
    "limits", [LIMITS._replace(max_steps=0), LIMITS._replace(max_model_calls=0)]
)
def test_a_run_that_may_do_nothing_is_not_admitted(limits):
    assert budgets.admission(RUN._replace(limits=limits), START) is not None


def test_without_a_bound_on_cost_any_cost_is_within_it():
    run = used(cost_micros=10**12)._replace(limits=RunLimits())
    assert budgets.recorded(run) is None


def test_a_charge_adds_up():
    run = budgets.charged(used(input_tokens=1, output_tokens=2, model_calls=3), ModelUsage(10, 20))
    run = budgets.charged(run, ModelUsage(0, 0, 7))
    assert run.usage == RunUsage(3, 0, 11, 22, 7)


@pytest.mark.parametrize("dimension", Dimension)
def test_a_passed_limit_names_why_the_run_fails(dimension):
    reasons = {
        Dimension.STEPS: FailureReason.MAX_STEPS_EXCEEDED,
        Dimension.SECONDS: FailureReason.DEADLINE_EXCEEDED,
    }
    expected = reasons.get(dimension, FailureReason.BUDGET_EXCEEDED)
    assert PassedLimit(dimension, 1, 2).reason is expected


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_limits_are_finite_and_not_negative(value):
    assert budgets.limit_problems(RunLimits()) == budgets.limit_problems(LIMITS) == []
    wrong = RunLimits(max_steps=value, deadline_seconds=value)
    assert budgets.limit_problems(wrong) == [
        "max_steps: must be a finite number of at least 0",
        "deadline_seconds: must be a finite number of at least 0",
    ]
