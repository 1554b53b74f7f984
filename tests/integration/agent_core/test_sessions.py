"""Sessions of several messages: one run each, in one conversation."""

import pytest

from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime
from agent_core.domain.context import ItemKind
from agent_core.domain.errors import SessionBusy
from agent_core.domain.model_script import FinalTurn
from agent_core.domain.runs import RunStatus
from agent_core.domain.tools import ToolResult
from agent_core.domain.trust import Labels, TrustLevel
from tests.integration.agent_core.scripted_runs import (
    SOMEBODY,
    Probe,
    Result,
    calculate,
    error,
    proposes,
)


def test_a_session_remembers_its_earlier_messages():
    turns = [FinalTurn("One."), calculate("1 + 1"), FinalTurn("Two."), FinalTurn("Three.")]
    result = Result(turns, messages=("first", "second", "third"))
    assert [run.status for run in result.runs] == [RunStatus.COMPLETED] * 3
    assert len({run.id for run in result.runs}) == 3
    requests = result.payloads("model.request.started")
    assert [payload["body_items"] for payload in requests] == [2, 4, 6, 6]
    assert [item.text for item in result.transcript] == [
        "first",
        "One.",
        "second",
        "Two.",
        "third",
        "Three.",
    ]


def test_a_conversation_has_one_prefix():
    turns = [FinalTurn("One."), calculate("1 + 1"), FinalTurn("Two."), FinalTurn("Three.")]
    result = Result(turns, messages=("first", "second", "third"))
    hashes = {one["prefix_sha256"] for one in result.payloads("model.request.started")}
    assert len(hashes) == 1


def test_a_run_that_failed_leaves_its_message_and_no_answer():
    result = Result([error("permanent"), FinalTurn("Two.")], messages=("first", "second"))
    assert [run.status.value for run in result.runs] == ["FAILED", "COMPLETED"]
    assert [item.text for item in result.transcript] == ["first", "second", "Two."]


def test_each_run_has_its_own_limits_and_counters():
    turns = [calculate("1"), FinalTurn("One."), calculate("1"), FinalTurn("Two.")]
    result = Result(turns, messages=("first", "second"))
    assert [run.usage[:2] for run in result.runs] == [(2, 1), (2, 1)]
    assert [run.step_count for run in result.runs] == [2, 2]
    assert [row.run_id for row in result.invocations] == [run.id for run in result.runs]


def test_the_labels_of_an_answer_stay_with_the_conversation():
    tool = Probe(
        lambda arguments: ToolResult({}, "from outside", is_private=True),
        output_trust=TrustLevel.EXTERNAL_UNTRUSTED,
    )
    turns = [proposes(("demo.probe", "{}")), FinalTurn("One."), FinalTurn("Two.")]
    result = Result(turns, messages=("first", "second"), tools=[tool])
    mixed = Labels(TrustLevel.EXTERNAL_UNTRUSTED, is_private=True)
    assert [item.labels for item in result.transcript] == [
        Labels(TrustLevel.USER),
        mixed,
        Labels(TrustLevel.USER),
        mixed,
    ]
    origins = [
        (one["origin_trust"], one["origin_private"])
        for one in result.payloads("model.request.started")
    ]
    assert origins == [("user", False), ("external_untrusted", True), ("external_untrusted", True)]


def test_the_transcript_of_a_run_without_a_checkpoint_is_what_was_said_before():
    result = Result([FinalTurn("One."), error("permanent")], messages=("first", "second"))
    assert [(item.kind, item.text) for item in result.transcript] == [
        (ItemKind.USER_MESSAGE, "first"),
        (ItemKind.ASSISTANT_TURN, "One."),
        (ItemKind.USER_MESSAGE, "second"),
    ]


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
