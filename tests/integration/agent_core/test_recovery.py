"""Killed anywhere and taken up again, a run comes to the same end, and no effect happens twice."""

import pytest

from agent_core.application.inline import run_inline
from agent_core.domain.context import ItemKind
from agent_core.domain.runs import FailureReason, RunLimits, RunStatus
from agent_core.domain.tools import IdempotencyClass
from tests.integration.agent_core.scripted_runs import (
    ANYTHING,
    DONE,
    Durable,
    Probe,
    World,
    kills_at,
    proposes,
)

CLASSES = list(IdempotencyClass)
TURNS = [
    proposes(("demo.work", '{"n": 1}'), ("demo.work", '{"n": 2}')),
    proposes(("demo.work", '{"n": 3}'), ("demo.unknown", "{}")),
    DONE,
]


def durable(world, turns=TURNS):
    return Durable(turns, [world.tool], policy=ANYTHING)


def undisturbed(idempotency="non_idempotent"):
    run = durable(World(idempotency))
    assert run.executed().status is RunStatus.COMPLETED
    return run


def commits(idempotency):
    """How many there are, without those of the submission."""
    found = range(1, undisturbed(idempotency).store.commits - 1)
    assert found, "no commit to kill a run at"
    return found


def check_history(run, world):
    """Nothing is lost, nothing happened twice, and what is not known is with a person."""
    rows = {row.arguments["n"]: row for row in run.rows if row.tool_name == "demo.work"}
    assert sorted(rows) == [1, 2, 3]
    for n, row in rows.items():
        happened = world.effects.count(n)
        if row.status == "SUCCEEDED":
            assert happened == 1
        else:
            assert row.status == "UNCERTAIN"
            assert row.outcome.reason_code == "tool.outcome_unknown"
            assert happened <= 1
    uncertain = [row.id for row in rows.values() if row.status == "UNCERTAIN"]
    assert [review.invocation_id for review in run.reviews] == uncertain
    sequences = [event.sequence for event in run.events]
    assert sequences == sorted(set(sequences))
    proposed = [e.payload["call_id"] for e in run.events if e.event_type == "tool.call.proposed"]
    assert proposed == ["call_1", "call_2"] * 2
    asked = [
        (event.payload["step_number"], event.payload["attempt_number"])
        for event in run.events
        if event.event_type == "model.request.started"
    ]
    assert len(asked) == len(set(asked))
    assert run.types.count("assistant.message.completed") == run.types.count("run.started") == 1
    assert run.types.count("run.completed") == 1
    after = run.types[run.types.index("run.requeued") :]
    if "run.claimed" in after:
        assert after.count("run.resumed") + after.count("run.started") == 1


@pytest.mark.parametrize("dies_early", [True, False])
@pytest.mark.parametrize("commit", commits("non_idempotent"))
def test_a_kill_around_any_commit_loses_and_repeats_nothing(commit, dies_early):
    world = World()
    run = durable(world)
    assert run.killed(commit, dies_early)
    before = run.run.status
    recovered = run.recovered()
    assert recovered.status is RunStatus.COMPLETED
    if before is RunStatus.RUNNING:
        check_history(run, world)
    expected = undisturbed()
    assert recovered.step_count == expected.run.step_count
    assert recovered.usage.tool_calls == expected.run.usage.tool_calls
    assert recovered.usage.model_calls - expected.run.usage.model_calls in (0, 1)
    if not run.reviews:
        assert run.transcript == expected.transcript


@pytest.mark.parametrize("commit", commits("idempotent"))
def test_without_its_checkpoints_a_run_goes_on_from_the_log_alone(commit):
    world = World("idempotent")
    run = durable(world)
    assert run.killed(commit)
    if run.run.status.is_terminal:
        return
    run_inline(run.store.checkpoints.delete_for_run(run.run_id))
    recovered = run.recovered()
    expected = undisturbed("idempotent")
    assert recovered.status is RunStatus.COMPLETED
    assert run.transcript == expected.transcript
    assert recovered.step_count == expected.run.step_count
    assert recovered.usage.tool_calls == expected.run.usage.tool_calls
    assert set(world.effects) == {1, 2, 3}
    assert [row.status for row in run.rows] == [row.status for row in expected.rows]


POINTS = [f"pipeline.{step}.{side}" for step in range(1, 15) for side in ("before", "after")] + [
    "before_effect",
    "after_effect",
]
MARKED_BEFORE = ("after_effect", "pipeline.10.after", "pipeline.11", "pipeline.12")
UNKNOWN_AFTER = (*MARKED_BEFORE, "pipeline.13.before")


@pytest.mark.parametrize("idempotency", CLASSES)
@pytest.mark.parametrize("point", POINTS)
def test_the_recovery_table_at_every_point_of_the_pipeline(point, idempotency):
    world = World(idempotency)
    run = durable(world)
    if not run.killed(observer=kills_at(point)):
        assert point.endswith("_effect") and not idempotency.needs_watermark
        return
    assert run.recovered().status is RunStatus.COMPLETED
    first = next(row for row in run.rows if row.call_id == "call_1")
    lost = point.startswith(UNKNOWN_AFTER)
    if lost and idempotency is IdempotencyClass.NON_IDEMPOTENT:
        assert first.status == "UNCERTAIN"
        assert [review.invocation_id for review in run.reviews] == [first.id]
        assert world.effects == [1, 2, 3]
        shown = [item for item in run.transcript if item[0] is ItemKind.TOOL_RESULT][0]
        assert shown[5].reason_code == "tool.outcome_unknown"
        assert shown[2] == ""
    else:
        assert first.status == "SUCCEEDED"
        assert run.reviews == ()
        assert world.effects.count(1) == (2 if lost else 1)
        assert (first.attempt_number > 1) is (
            lost or point in ("pipeline.9.after", "pipeline.10.before", "before_effect")
        )
    assert run.types.count("run.resumed") == 1


def test_an_execution_that_is_repeated_is_in_the_log():
    run = durable(World("idempotent"), [proposes(("demo.work", '{"n": 1}')), DONE])
    assert run.killed(observer=kills_at("pipeline.10.before"))
    run.recovered()
    calls = [e for e in run.events if e.event_type.value.startswith("tool.call.")]
    assert [event.event_type.removeprefix("tool.call.") for event in calls] == [
        "proposed",
        "authorized",
        "started",
        "started",
        "completed",
    ]
    attempts = [event.payload.get("attempt_number") for event in calls]
    assert attempts == [None, None, None, 2, 2]
    assert len({event.payload["invocation_id"] for event in calls}) == 1


@pytest.mark.parametrize("commit", range(1, 6))  # claimed, started, asked, answered, ended
def test_a_limit_that_was_passed_stays_passed(commit):
    run = Durable([DONE], [], limits=RunLimits(max_output_tokens=1))
    assert run.killed(commit)
    recovered = run.recovered()
    assert recovered.status is RunStatus.FAILED
    assert recovered.failure.reason is FailureReason.BUDGET_EXCEEDED
    assert "assistant.message.completed" not in run.types


def test_a_replay_has_the_key_of_the_first_execution():
    world = World("conditionally_idempotent")
    run = durable(world)
    assert run.killed(observer=kills_at("after_effect"))
    run.recovered()
    keys = [context.idempotency_key for arguments, context in world.tool.given][:2]
    assert keys[0] == keys[1]
    assert [arguments["n"] for arguments, _ in world.tool.given][:2] == [1, 1]


def test_what_is_uncertain_is_not_executed_when_it_is_proposed_again():
    world = World()
    again = proposes(("demo.work", '{"n": 1}'))
    run = durable(world, [again, again, DONE])
    assert run.killed(observer=kills_at("after_effect"))
    assert run.recovered().status is RunStatus.COMPLETED
    assert world.effects == [1]
    codes = [row.outcome.reason_code for row in run.rows]
    assert codes == ["tool.outcome_unknown", "tool.breaker.uncertain_call"]


def test_a_tool_that_left_the_deployment_is_not_executed_again():
    world = World()
    run = durable(world, [proposes(("demo.work", '{"n": 1}')), DONE])
    assert run.killed(observer=kills_at("pipeline.10.before"))
    assert run.recovered(tools=[]).status is RunStatus.COMPLETED
    assert [row.outcome.reason_code for row in run.rows] == ["tool.unreachable"]
    assert world.effects == []


def test_a_call_recorded_under_an_older_version_of_its_tool_is_the_same_call():
    world = World()
    run = durable(world, [proposes(("demo.work", '{"n": 1}')), DONE])
    assert run.killed(observer=kills_at("after_effect"))
    newer = Probe(name="demo.work", version="2", input_schema=world.tool.spec.input_schema)
    assert run.recovered(tools=[newer]).status is RunStatus.COMPLETED
    assert newer.given == []
    assert [row.status for row in run.rows] == ["UNCERTAIN"]


def test_a_run_that_loses_its_worker_too_often_fails_and_its_calls_are_settled():
    world = World()
    run = durable(world)
    assert run.killed(observer=kills_at("after_effect"))
    for _ in range(2):
        run.clock.advance(31)
        run_inline(run.worker().sweep())
        assert run.killed(1)
    failed = run.recovered()
    assert failed.status is RunStatus.FAILED
    assert failed.failure.reason is FailureReason.MAX_ATTEMPTS_EXCEEDED
    assert failed.attempts == 4
    assert [row.status for row in run.rows] == ["UNCERTAIN"]
    assert [review.invocation_id for review in run.reviews] == [run.rows[0].id]
    assert world.effects == [1]


def test_an_attempt_that_was_lost_is_charged_and_has_its_number():
    run = durable(World(), [DONE])
    assert run.killed(3)  # claimed, started, asked: the request is charged before it is made
    assert run.recovered().status is RunStatus.COMPLETED
    asked = [e.payload for e in run.events if e.event_type == "model.request.started"]
    assert [one["attempt_number"] for one in asked] == [1, 2]
    assert run.run.usage.model_calls == 2
