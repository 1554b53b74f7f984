"""`conversation.ask_user`: the run waits without a worker, and goes on with the answer."""

import pytest

from agent_core.adapters.tools.ask_user import AskUser
from agent_core.application.inline import run_inline
from agent_core.application.runtime import MAXIMUM_ANSWER_BYTES
from agent_core.domain.context import ItemKind
from agent_core.domain.errors import NotFound, StaleState
from agent_core.domain.registration import spec_problems
from agent_core.domain.runs import RunStatus, SuspensionKind
from agent_core.domain.tools import CallSuspended, ToolKind, ToolSpec
from agent_core.domain.trust import Labels, TrustLevel
from tests.integration.agent_core.scripted_runs import DONE, Durable, Probe, kills_at, proposes

ASK = ("conversation.ask_user", '{"question": "Which one?"}')
WORK = ("demo.probe", '{"n": 1}')
TURNS = [proposes(WORK, ASK, ("demo.probe", '{"n": 2}')), DONE]


def asking(turns=TURNS):
    return Durable(turns, [AskUser(), Probe()])


def waiting(turns=TURNS):
    run = asking(turns)
    run.executed()
    return run


def answer(run, text="The blue one."):
    return run_inline(run.process().answer(run.run_id, text))


def test_the_run_waits_without_a_worker():
    run = waiting()
    stored = run.run
    assert stored.status is RunStatus.WAITING_FOR_USER
    assert stored.lease is None
    assert stored.completed_at is None
    assert [row.status for row in run.rows] == ["SUCCEEDED", "RUNNING"]
    row = run.rows[1]
    assert stored.suspension == (SuspensionKind.USER_INPUT, row.id, run.clock.now())
    assert row.suspended_kind is SuspensionKind.USER_INPUT
    assert row.arguments == {"question": "Which one?"}
    assert run.types[-2:] == ["tool.call.started", "run.waiting_for_user"]
    assert run.events[-1].payload["invocation_id"] == row.id
    assert "Which one?" not in repr(run.events)
    run.clock.advance(3600)
    assert run_inline(run.worker().sweep()) == 0
    assert run.run == stored


def test_it_goes_on_with_the_answer():
    run = waiting()
    queued = answer(run)
    assert (queued.status, queued.suspension, queued.attempts) == (RunStatus.QUEUED, None, 0)
    assert run.types[-2:] == ["tool.call.completed", "run.requeued"]
    assert {event.actor_id for event in run.events[-2:]} == {"somebody"}
    assert "blue" not in repr(run.events)
    assert run.executed().status is RunStatus.COMPLETED
    results = [item for item in run.transcript if item[0] is ItemKind.TOOL_RESULT]
    assert [item[2] for item in results] == ["ok", "The blue one.", "ok"]
    assert results[1][1] == Labels(TrustLevel.USER)
    assert results[1][5].reason_code == "tool.succeeded"
    assert run.run.usage.tool_calls == 3
    assert run.types.count("tool.call.proposed") == 3
    assert run.types.count("run.started") == run.types.count("run.resumed") == 1


def test_many_questions_take_no_attempts():
    run = asking(
        [proposes(ASK)] + [proposes((ASK[0], f'{{"question": "{n}"}}')) for n in range(5)] + [DONE]
    )
    for _ in range(6):
        assert run.executed().status is RunStatus.WAITING_FOR_USER
        answer(run)
    assert run.executed().status is RunStatus.COMPLETED


@pytest.mark.parametrize("point", ["pipeline.9.before", "pipeline.9.after", "pipeline.10.before"])
def test_a_kill_on_the_way_to_the_question_asks_it_once(point):
    run = asking([proposes(ASK), DONE])
    assert run.killed(observer=kills_at(point))
    assert run.recovered().status is RunStatus.WAITING_FOR_USER
    assert [row.call_id for row in run.rows] == ["call_1"]
    answer(run)
    assert run.executed().status is RunStatus.COMPLETED


@pytest.mark.parametrize("text", ["", "  ", "\ud800", "x" * (MAXIMUM_ANSWER_BYTES + 1)])
def test_an_answer_has_a_text(text):
    run = waiting()
    events = run.events
    with pytest.raises(ValueError):
        answer(run, text)
    assert run.run.status is RunStatus.WAITING_FOR_USER
    assert run.events == events


def test_nobody_answers_what_was_not_asked():
    run = asking()
    with pytest.raises(StaleState, match="no question is open"):
        answer(run)
    with pytest.raises(NotFound):
        run_inline(run.process().answer("unknown", "text"))
    run.executed()
    answer(run)
    with pytest.raises(StaleState, match="no question is open"):
        answer(run)


def test_a_run_that_waits_is_cancelled_at_once():
    run = waiting()
    cancelled = run_inline(run.process().cancel(run.run_id))
    assert (cancelled.status, cancelled.suspension) == (RunStatus.CANCELLED, None)
    assert [row.status for row in run.rows] == ["SUCCEEDED", "FAILED"]
    assert run.rows[1].outcome.reason_code == "tool.abandoned"
    assert run.rows[1].suspended_kind is None
    assert run.types[-3:] == ["run.claimed", "tool.call.failed", "run.cancelled"]
    with pytest.raises(StaleState):
        answer(run)


def test_without_its_checkpoints_it_goes_on_with_the_answer_too():
    run = waiting()
    run_inline(run.store.checkpoints.delete_for_run(run.run_id))
    answer(run)
    assert run.executed().status is RunStatus.COMPLETED
    expected = waiting()
    answer(expected)
    expected.executed()
    assert run.transcript == expected.transcript


def test_no_other_tool_suspends_a_run():
    def suspends(arguments):
        raise CallSuspended

    run = Durable([proposes(WORK), DONE], [Probe(suspends)])
    assert run.executed().status is RunStatus.COMPLETED
    assert run.rows[0].outcome.reason_code == "tool.internal_error"


SPEC: ToolSpec = AskUser().spec


@pytest.mark.parametrize(
    "change",
    [
        {"kind": ToolKind.WORK},
        {"name": "conversation.other"},
        {"side_effect": "external_write", "idempotency": "idempotent"},
        {"allow_parallel": True},
        {"target_kind": "sandbox"},
        {"source": "sandbox"},
    ],
)
def test_control_tools_are_a_closed_set_without_effects(change):
    enumerations = {
        name: type(getattr(SPEC, name))(value)
        if isinstance(value, str) and name != "name"
        else value
        for name, value in change.items()
    }
    problems = spec_problems(SPEC._replace(**enumerations))
    assert any(problem.split(": ")[1] == "kind" for problem in problems)
    assert spec_problems(SPEC) == []
