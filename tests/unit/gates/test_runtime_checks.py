"""The account that is kept of a run, and the clauses that fail when a run does something else."""

import pytest

from agent_core.application import invocation_rows
from agent_core.domain import budgets
from agent_core.domain.model import ModelUsage
from gates.checks import runtime_budgets, runtime_identity
from gates.checks.runtime_budgets import Account, Narrow, limits_stop_in_time
from gates.checks.runtime_identity import identity_follows_the_script
from gates.checks.runtime_scripts import Call, Step, perform
from hardgate.kinds.checking import Violation

COST = ModelUsage(2, 3, 5)
STEPS = [
    Step((COST,), COST, (Call("demo.one", "a", "call_1", 4), Call("demo.two", "b", "call_2", 1))),
    Step((), COST, (Call("demo.one", "c", "call_1", 0),)),
]


def rule_of(check, *arguments):
    with pytest.raises(Violation) as violation:
        check(*arguments)
    return violation.value.rule


@pytest.mark.parametrize(
    ("dimension", "limit", "stopped", "done"),
    [
        (None, 0, False, {"steps": 3, "model_calls": 4, "tool_calls": 3, "seconds": 5}),
        ("steps", 3, False, {"steps": 3}),
        ("steps", 2, True, {"steps": 2, "model_calls": 3, "tool_calls": 3}),
        ("steps", 0, True, {"steps": 0, "model_calls": 0}),
        ("model_calls", 4, False, {"model_calls": 4}),
        ("model_calls", 1, True, {"steps": 1, "model_calls": 1, "tool_calls": 0}),
        ("tool_calls", 2, True, {"steps": 2, "model_calls": 3, "tool_calls": 2}),
        ("tool_calls", 1, True, {"steps": 1, "tool_calls": 0}),
        ("input_tokens", 3, True, {"model_calls": 2, "tool_calls": 0, "input_tokens": 4}),
        ("input_tokens", 4, True, {"model_calls": 2, "tool_calls": 2, "input_tokens": 4}),
        ("cost_micros", 9, True, {"model_calls": 2, "tool_calls": 0, "cost_micros": 10}),
        ("cost_micros", 10, True, {"model_calls": 3, "tool_calls": 2, "cost_micros": 15}),
        ("seconds", 4, True, {"tool_calls": 2, "steps": 1, "seconds": 5}),
        ("seconds", 3, True, {"tool_calls": 1, "seconds": 4}),
        ("seconds", 0, True, {"model_calls": 1, "tool_calls": 0, "seconds": 0}),
    ],
)
def test_the_account_of_a_script(dimension, limit, stopped, done):
    account = Account(Narrow(dimension, limit)).follow(STEPS)
    assert account.stopped is stopped
    assert {name: account.done[name] for name in done} == done


@pytest.mark.parametrize("limit", range(8))
@pytest.mark.parametrize("dimension", [None, *runtime_budgets._DIMENSIONS])
def test_the_real_limits_agree_with_the_account(dimension, limit):
    limits_stop_in_time(STEPS, Narrow(dimension, limit))


def never(*_):
    return None


@pytest.mark.parametrize(
    ("function", "narrow", "rule"),
    [
        ("batch", Narrow("tool_calls", 0), "tool_calls_limit_passed"),
        ("recorded", Narrow("output_tokens", 5), "output_tokens_limit_passed"),
        ("step", Narrow("steps", 2), "steps_limit_passed"),
        ("attempt", Narrow("model_calls", 2), "model_calls_limit_passed"),
        ("deadline", Narrow("seconds", 3), "seconds_limit_passed"),
    ],
)
def test_a_limit_that_nobody_looks_at_is_found(monkeypatch, function, narrow, rule):
    monkeypatch.setattr(budgets, function, never)
    assert rule_of(limits_stop_in_time, STEPS, narrow) == rule


def test_a_batch_that_is_begun_and_an_early_stop_are_found(monkeypatch):
    before = budgets.batch
    monkeypatch.setattr(budgets, "batch", lambda run, calls, now: before(run, 1, now))
    assert rule_of(limits_stop_in_time, STEPS, Narrow("tool_calls", 1)) == "batch_begun"
    monkeypatch.setattr(budgets, "batch", lambda run, calls, now: before(run, calls + 9, now))
    assert rule_of(limits_stop_in_time, STEPS, Narrow("tool_calls", 5)) == "stopped_within_limits"


def test_a_charge_that_is_forgotten_and_a_wrong_reason_are_found(monkeypatch):
    monkeypatch.setattr(budgets, "charged", lambda run, usage: run)
    assert rule_of(limits_stop_in_time, STEPS, Narrow(None, 0)) == "not_charged"
    monkeypatch.undo()
    check = runtime_budgets._require_reason
    assert rule_of(check, perform(STEPS), Narrow("steps", 2)) == "wrong_reason"


@pytest.mark.parametrize("aspect", ["tool", "text", "call_id"])
def test_the_real_identity_follows_the_script(aspect):
    identity_follows_the_script(STEPS, aspect)


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        (lambda row: row.call_id, "key_shared"),
        (lambda row: f"{row.step_number} {row.call_id}", "key_shared"),
        (lambda row: f"{row.run_id} {row.id}", "key_changed"),
    ],
)
def test_a_key_of_too_little_or_too_much_is_found(monkeypatch, key, rule):
    monkeypatch.setattr(invocation_rows, "idempotency_key", key)
    assert rule_of(identity_follows_the_script, STEPS, "tool") == rule


@pytest.mark.parametrize("aspect", ["tool", "text", "call_id"])
def test_another_call_differs_in_one_aspect(aspect):
    changed = runtime_identity._with_other_call(STEPS, aspect)
    before, after = STEPS[0].calls[0], changed[0].calls[0]
    differing = [name for name in Call._fields if getattr(before, name) != getattr(after, name)]
    assert differing == [aspect]
    assert changed[1:] == STEPS[1:]
    assert changed[0].calls[1:] == STEPS[0].calls[1:]
