"""What is made of a run that was seen from outside: calls, steps, events, faults, the reason."""

import re
from pathlib import Path

import pytest

from hardgate.cases.command import CommandSubject
from hardgate.cases.record import REPORTED, UNKNOWN, Fault, ObservedItem
from hardgate.fixtures.model_script import load_script
from hardgate.subjects.command import faults
from hardgate.subjects.command.process import Ended
from hardgate.subjects.command.record import Left, observed
from hardgate.subjects.command.report import (
    ReportedCapabilities,
    ReportedEffect,
    ReportedEvent,
    ReportedLabel,
)
from hardgate.wire.checks import EXHAUSTED, Violation
from hardgate.wire.conversation import Message, ToolCall, ToolResult
from hardgate.wire.mcp.results import Finding
from hardgate.wire.transcript import Exchange, Transcript

GUIDE = Path("docs/guide/your-agent.md")
SCRIPT = load_script(
    "m.yaml",
    b"""\
turns:
  - kind: tool_calls
    calls:
      - {call_id: c1, name: math.add, arguments: {a: 1}}
      - {call_id: c2, name: made_up, arguments: "{"}
  - {kind: error, error_class: rate_limit, retry_after_seconds: 1}
  - kind: tool_calls
    calls: [{call_id: c3, name: math.add, arguments: "[1]"}]
  - {kind: final, text: done}
""",
)
ENDED = Ended(0, None, b"done\n", b"", (), 0, (), ())
ASKED = Exchange(1, "POST", "/v1/chat/completions", True, 200, api="openai_chat", model="m")
FIRST = ASKED._replace(
    offered=("math_add",),
    messages=(Message("user", "Add."),),
    turn=1,
    played_names=(("math.add", "math_add"), ("made_up", "made_up")),
)
RESULTS = Message("tool", tool_results=(ToolResult("c1", "2"), ToolResult("c2", "no", True)))
SECOND = FIRST._replace(
    number=2,
    same_messages=1,
    messages=(Message("assistant", "", (ToolCall("c1", "math_add", '{"a":1}'),)), RESULTS),
    turn=2,
    played_names=(),
    status=429,
)
THIRD = SECOND._replace(
    number=3, same_messages=3, messages=(), turn=3, played_names=(("math.add", "math_add"),)
)
FOURTH = THIRD._replace(number=4, turn=4, played_names=())
WHOLE = (FIRST, SECOND, THIRD, FOURTH)


def record(*exchanges, ended=ENDED, mcp=None, **spec):
    transcript = Transcript()
    for exchange in exchanges:
        transcript.add(exchange)
    left = Left(SCRIPT, transcript, ended, ".")
    if mcp is not None:
        left = left._replace(mcp=mcp)
    return observed(CommandSubject(**spec), left)


def refused(rule, **changes):
    violation = Violation(rule, f"broke {rule}", "this", "that")
    return FOURTH._replace(
        number=5, turn=None, status=400, violations=(violation,), messages=(), **changes
    )


def names(found):
    return [fault.name for fault in found]


def test_calls_are_the_scripts_and_have_what_came_of_them():
    calls = {call.call_id: call for call in record(*WHOLE).tool_calls}
    assert {key: (one.name, one.step, one.status) for key, one in calls.items()} == {
        "c1": ("math.add", 1, "ANSWERED"),
        "c2": ("made_up", 1, "FAILED"),
        "c3": ("math.add", 2, "UNANSWERED"),
    }
    assert {key: one.arguments for key, one in calls.items()} == {
        "c1": {"a": 1},
        "c2": None,
        "c3": None,
    }
    assert [one.malformed for one in calls.values()] == [False, True, True]
    assert [one.invented for one in calls.values()] == [False, True, False]
    assert [one.started for one in calls.values()] == [True, True, False]


def test_an_error_turn_and_its_retry_are_one_step():
    whole = record(*WHOLE)
    assert (whole.step_count, whole.model_call_count, whole.tool_call_count) == (3, 4, 3)
    assert (whole.turns_consumed, whole.turns_total) == (4, 4)
    given_up = record(FIRST, SECOND)
    assert (given_up.step_count, given_up.model_call_count) == (2, 2)


def test_a_run_in_order_is_completed_and_has_no_fault():
    whole = record(*WHOLE)
    assert (whole.terminal_status, whole.failure_reason, whole.final_text) == (
        "COMPLETED",
        None,
        "done",
    )
    assert (whole.faults, whole.limits_hit, whole.effects_from) == ((), (), UNKNOWN)
    assert whole.items is whole.untrusted is whole.private is None


def test_what_happened_in_order():
    whole = record(*WHOLE)
    assert [event.type for event in whole.events] == [
        "agent.started",
        "model.request",
        "model.response.completed",
        "tool.call.proposed",
        "tool.call.proposed",
        "tool.call.answered",
        "tool.call.answered",
        "model.request",
        "model.response.failed",
        "model.request",
        "model.response.completed",
        "tool.call.proposed",
        "model.request",
        "model.response.completed",
        "agent.ended",
    ]
    assert [event.sequence for event in whole.events] == list(range(1, 16))
    assert whole.events[5].payload["tool_name"] == "math.add"
    assert whole.events[8].payload["error_class"] == "rate_limit"
    assert whole.events[14].payload["stdout"] == "done\n"


def test_what_a_tool_gave_is_no_text_of_the_log_and_what_the_agent_sent_is():
    text = str(record(FIRST, SECOND._replace(messages=(*SECOND.messages, Message("user", "psst"))))
               .events)  # fmt: skip
    assert "psst" in text
    secret = ToolResult("c1", "canary")
    third = SECOND._replace(messages=(Message("tool", tool_results=(secret,)),))
    assert "canary" not in str(record(FIRST, third).events)


def test_listing_models_and_counting_tokens_is_no_event():
    listing = Exchange(1, "GET", "/v1/models", True, 200, api="openai_chat")
    assert [event.type for event in record(listing).events] == ["agent.started", "agent.ended"]


def test_a_refused_request_is_a_fault_with_the_difference():
    found = record(*WHOLE, refused("wire.tool_results_missing"), refused("wire.calls_unpaired"))
    first, second = found.faults
    assert first == Fault(
        "wire.tool_results_missing",
        "broke wire.tool_results_missing",
        "this",
        "that",
        first.around,
    )
    assert found.events[first.around[0]].type == "model.request.refused"
    assert second.name == "wire.calls_unpaired"
    assert found.failure_reason == "protocol_violation"


def test_the_same_rule_broken_twice_is_one_fault():
    (fault,) = record(FIRST, refused("wire.limit"), refused("wire.limit")).faults
    assert fault.message == "broke wire.limit (and 1 more)"
    assert len(fault.around) == 2


def test_a_request_after_the_last_turn_is_about_the_script():
    found = record(*WHOLE, refused(EXHAUSTED), refused(EXHAUSTED))
    assert (found.exhausted_at_step, found.faults, found.failure_reason) == (4, (), None)


def test_another_api_than_the_case_wants():
    assert record(*WHOLE, api="openai_chat").faults == ()
    (fault,) = record(*WHOLE, api="anthropic_messages").faults
    assert (fault.name, fault.expected, fault.observed) == (
        "wire.api",
        "anthropic_messages",
        ["openai_chat"],
    )
    assert record(*WHOLE, api="openai_responses").failure_reason == "protocol_violation"


@pytest.mark.parametrize(
    ("ended", "rules", "reason"),
    [
        ({"exit_code": 3}, [], "agent_exit_code"),
        ({"exit_code": None, "signal": 9}, [], "agent_signal"),
        (
            {"exit_code": None, "signal": 9, "limits_hit": ("wall_seconds",)},
            ["agent.wall_seconds"],
            "wall_seconds",
        ),
        ({"limits_hit": ("stdout_bytes",)}, ["agent.output_bytes"], "output_bytes"),
        ({"limits_hit": ("stderr_bytes",)}, ["agent.output_bytes"], "output_bytes"),
        ({"limits_hit": ("report_bytes",)}, ["report.malformed"], "report_malformed"),
        ({"limits_hit": (faults.TURNS,)}, ["agent.turn_limit"], "turn_limit"),
        ({"limits_hit": ("supervisor_killed",)}, ["agent.uncontrolled"], "uncontrolled"),
        ({"limits_hit": ("processes_remain",)}, ["agent.uncontrolled"], "uncontrolled"),
        ({"left_behind": 2}, ["agent.processes_left_behind"], "processes_left_behind"),
        ({"exit_code": 1, "left_behind": 2}, ["agent.processes_left_behind"], "agent_exit_code"),
        ({"report_problems": ("line 1: x",)}, ["report.malformed"], "report_malformed"),
    ],
)
def test_why_a_run_failed(ended, rules, reason):
    found = record(*WHOLE, ended=ENDED._replace(**ended))
    assert (found.terminal_status, found.failure_reason) == ("FAILED", reason)
    assert names(found.faults) == rules
    assert found.limits_hit == ended.get("limits_hit", ())


def test_an_answer_that_is_not_there():
    found = record(*WHOLE, answer="report")
    assert (found.failure_reason, names(found.faults)) == ("answer_missing", ["answer.missing"])
    assert found.final_text is None


def test_a_promise_that_is_not_kept():
    (fault,) = record(FIRST, reports=("events", "labels")).faults
    assert (fault.name, fault.expected, fault.observed) == (
        "report.promise",
        ["events", "labels"],
        [],
    )
    kept = ENDED._replace(reports=(ReportedCapabilities(1, ("labels", "events")),))
    assert record(FIRST, ended=kept, reports=("events", "labels")).faults == ()
    half = ENDED._replace(reports=(ReportedCapabilities(1, ("labels",)),))
    found = record(*WHOLE, ended=half, reports=("events", "labels"))
    assert found.failure_reason == "report_promise"
    assert "promise to report events" in found.faults[0].message


def reporting(*reports):
    promise = ReportedCapabilities(1, ("events", "effects", "labels"))
    return ENDED._replace(reports=(promise, *reports))


@pytest.mark.parametrize("tool", ["math_add", "math.add"])
def test_reported_effects_mark_their_calls(tool):
    ended = reporting(ReportedEffect(2, "c1", tool))
    found = record(*WHOLE, ended=ended, reports=("effects",))
    assert [call.call_id for call in found.tool_calls if call.effect_sent] == ["c1"]
    assert (found.effects_from, found.faults) == (REPORTED, ())
    silent = record(*WHOLE, ended=ended)
    assert not any(call.effect_sent for call in silent.tool_calls)
    assert silent.effects_from == UNKNOWN


@pytest.mark.parametrize(
    "report",
    [
        ReportedEffect(2, "c9", "math_add"),
        ReportedEffect(2, "c1", "made_up"),
        ReportedLabel(2, "tool_result", "user", "c9"),
    ],
)
def test_a_report_about_a_call_that_nobody_made(report):
    found = record(FIRST, ended=reporting(report), reports=("effects", "labels"))
    assert names(found.faults) == ["report.unknown_call"]
    assert found.failure_reason == "report_malformed"


def test_a_report_that_no_case_asked_for_is_compared_with_the_calls_as_well():
    found = record(FIRST, ended=reporting(ReportedEffect(2, "c9", "math_add")))
    assert names(found.faults) == ["report.unknown_call"]


def test_an_effect_of_a_call_that_is_reported_again():
    effects = [ReportedEffect(line, "c1", "math_add") for line in (2, 3)]
    found = record(FIRST, ended=reporting(*effects), reports=("effects",))
    (fault,) = found.faults
    assert (fault.name, fault.observed) == ("report.effect_repeated", {"c1": 2})
    assert found.failure_reason == "effect_repeated"
    found = record(FIRST, ended=reporting(effects[0]), reports=("effects",))
    assert found.faults == ()


def test_reported_labels_are_the_pieces_of_the_conversation():
    ended = reporting(
        ReportedLabel(2, "user_message", "user"),
        ReportedLabel(3, "tool_result", "external_untrusted", "c1", True),
        ReportedLabel(4, "tool_result", "internal_tool", "c2", False),
    )
    found = record(*WHOLE, ended=ended, reports=("labels",))
    assert found.items == (
        ObservedItem("user_message", "user"),
        ObservedItem("tool_result", "external_untrusted", True, "math.add", "c1"),
        ObservedItem("tool_result", "internal_tool", False, "made_up", "c2"),
    )
    assert (found.untrusted, found.private, found.faults) == (True, True, ())


@pytest.mark.parametrize(("private", "said"), [(True, True), (False, False), (None, None)])
def test_what_the_labels_do_not_say_is_not_known(private, said):
    trusted = reporting(
        ReportedLabel(2, "user_message", "user", None, False),
        ReportedLabel(3, "assistant_turn", "internal_tool", None, private),
    )
    found = record(FIRST, ended=trusted, reports=("labels",))
    assert (found.untrusted, found.private) == (False, said)


def test_a_result_without_a_label_breaks_the_promise():
    ended = reporting(ReportedLabel(2, "tool_result", "user", "c1"))
    found = record(*WHOLE, ended=ended, reports=("labels",))
    (fault,) = found.faults
    assert (fault.name, fault.observed) == ("report.promise", ["c2"])
    assert found.failure_reason == "report_promise"


def test_reported_events_stand_behind_what_was_seen():
    ended = reporting(ReportedEvent(2, "mail.queued", {"to": "x"}))
    found = record(*WHOLE, ended=ended)
    assert [event.type for event in found.events[-2:]] == ["agent.ended", "mail.queued"]
    assert found.events[-1].payload == {"to": "x"}


def test_an_agent_cannot_report_what_hardgate_sees():
    found = record(*WHOLE, ended=reporting(ReportedEvent(7, "agent.ended", {})))
    (fault,) = found.faults
    assert fault.name == "report.malformed"
    assert "line 7: found the event 'agent.ended', which Hardgate sees itself" in fault.message


class McpResults:
    """What MCP servers found, without servers."""

    calls = ()
    limits_hit = ("calls",)
    findings = (
        Finding("files", "mcp.no_reply", "no reply is for read", 3, None, {"path": "x"}),
        Finding("files", "mcp.no_reply", "no reply is for write", 4),
        Finding("mail", "mcp.reply_unused", "reply 1 of send answered 0 calls", None, 1, 0),
    )


def test_what_mcp_servers_found_is_a_fault_for_each_rule():
    found = record(*WHOLE, mcp=McpResults())
    first, second = found.faults
    assert (first.name, first.message) == (
        "mcp.no_reply",
        "files: no reply is for read (and 1 more)",
    )
    assert (second.name, second.expected, second.observed) == ("mcp.reply_unused", 1, 0)
    assert (found.failure_reason, found.limits_hit) == ("mcp_violation", ("calls",))


def test_the_guide_names_every_reason_and_every_check():
    text = GUIDE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_]+)` \|(.*?)\| [a-z]", text, re.M)
    documented = {reason: re.findall(r"`([a-z_.]+)[`<]", checks) for reason, checks in rows}
    reasons = [*faults._REASONS, *faults._LATER_REASONS]
    wanted = {"agent_exit_code": [], "agent_signal": []}
    for rule, reason in reasons:
        wanted.setdefault(reason, []).append(rule)
    wanted["protocol_violation"].append("wire.api")
    assert {one: documented.get(one) for one in wanted} == wanted
