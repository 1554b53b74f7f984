"""What a check that failed says to the last word, and which events it points at."""

import pytest

from hardgate.cases.loader import load_case
from hardgate.cases.record import ObservedEvent, ObservedItem
from tests.unit.hardgate.expectations.samples import RECORD, call, case, evaluation, with_calls

ANSWER = RECORD.final_text
COMPLETED = "the run ended as COMPLETED"
SPOKE = ObservedItem("tool_result", "internal_tool", False, "math.calculate", "call_1")
LABELLED = RECORD._replace(
    untrusted=True,
    private=False,
    blocked_sends=1,
    pending_approvals=0,
    metrics={"tool_truncations_total": 1},
    items=(SPOKE, SPOKE._replace(trust="memory", call_id="call_2")),
)


def logged(*types):
    """The sample with these events before its last one."""
    more = tuple(ObservedEvent(20 + number, name, {}) for number, name in enumerate(types))
    last = RECORD.events[-1]._replace(sequence=99)
    return RECORD._replace(events=(*RECORD.events[:-1], *more, last))


def stopped(reason, exceeded=None):
    return RECORD._replace(terminal_status="FAILED", failure_reason=reason, exceeded=exceeded)


@pytest.mark.parametrize(
    ("key", "value", "record", "said", "around"),
    [
        ("terminal_status", "cancelled", RECORD, ("CANCELLED", "COMPLETED", COMPLETED), (9,)),
        ("failure_reason", "internal_error", RECORD, ("internal_error", None, COMPLETED), (9,)),
        ("stop_cause", "max_turns", RECORD, ("max_turns", "completed", COMPLETED), (9,)),
        (
            "stop_cause",
            "max_turns",
            stopped("budget_exceeded", "cost_micros"),
            ("max_turns", "cost_budget", "the run failed: budget_exceeded (cost_micros)"),
            (9,),
        ),
        (
            "stop_cause",
            "cost_budget",
            stopped("internal_error", "cost_micros"),
            ("cost_budget", None, "the run failed: internal_error"),
            (9,),
        ),
        ("final_text", "391", RECORD, ("391", ANSWER, "the answer is another text"), (8,)),
        ("final_text_contains", ["Paris"], RECORD, ("Paris", ANSWER, "missing: Paris"), (8,)),
        (
            "final_text_contains",
            ["Paris"],
            RECORD._replace(final_text=None),
            ("Paris", None, "the run gave no final answer"),
            (8,),
        ),
        ("final_text_not_contains", ["391"], RECORD, ("no 391", ANSWER, "unexpected: 391"), (8,)),
        (
            "final_text_contains_any",
            ["Paris", "Rome"],
            RECORD,
            (["Paris", "Rome"], ANSWER, "missing: any of Paris, Rome"),
            (8,),
        ),
        (
            "final_text_matches",
            "Paris",
            RECORD,
            ("Paris", ANSWER, "the pattern is found nowhere"),
            (8,),
        ),
        (
            "tools_in_order",
            ["math.calculate", "demo.write"],
            RECORD,
            (
                ["math.calculate", "demo.write"],
                ["math.calculate"],
                "missing: demo.write after math.calculate",
            ),
            (9,),
        ),
        (
            "tools_in_order",
            ["demo.a", "demo.a", "demo.b"],
            with_calls(call("demo.a"), call("demo.b"), call("demo.a")),
            (
                ["demo.a", "demo.a", "demo.b"],
                ["demo.a", "demo.b", "demo.a"],
                "missing: demo.b after demo.a",
            ),
            (9,),
        ),
        (
            "tools_in_order",
            ["math.calculate", "math.calculate"],
            RECORD,
            (
                ["math.calculate", "math.calculate"],
                ["math.calculate"],
                "missing: math.calculate after math.calculate",
            ),
            (4, 5),
        ),
        (
            "tools",
            ["math.calculate", "math.calculate"],
            RECORD,
            (
                "at least 2 calls of math.calculate",
                "1 call of math.calculate",
                "missing: 1 call of math.calculate",
            ),
            (4, 5),
        ),
        (
            "tool_calls",
            [{"name": "math.calculate", "min_count": 3}],
            RECORD,
            (
                "at least 3 calls of math.calculate",
                "1 call of math.calculate",
                "missing: 2 calls of math.calculate",
            ),
            (4, 5),
        ),
        (
            "tool_calls",
            [{"name": "math.calculate", "max_count": 1}],
            with_calls(call(), call()),
            (
                "at most 1 call of math.calculate",
                "2 calls of math.calculate",
                "unexpected: 1 call of math.calculate",
            ),
            (4, 5),
        ),
        (
            "tool_calls",
            [{"name": "math.calculate", "arguments_subset": {"x": 1, "y": 2}}],
            with_calls(call(arguments={"z": 0}), call(arguments={"x": 1})),
            (
                {"x": 1, "y": 2},
                [{"z": 0}, {"x": 1}],
                "missing: 1 of 1 call of math.calculate with these arguments; "
                "nearest call: y: expected 2, found no such key",
            ),
            (4, 5),
        ),
        (
            "tool_calls",
            [{"name": "math.calculate", "arguments_subset": {"x": 1, "y": 2}}],
            with_calls(call(arguments={"z": 0})),
            (
                {"x": 1, "y": 2},
                [{"z": 0}],
                "missing: 1 of 1 call of math.calculate with these arguments; nearest call: "
                "x: expected 1, found no such key; y: expected 2, found no such key",
            ),
            (4, 5),
        ),
        ("tool_started_count", 3, RECORD, (3, 1, "started: math.calculate"), (4, 5)),
        ("tool_started_count", 3, with_calls(), (3, 0, "started: none"), (9,)),
        (
            "ended_on_failed_call",
            True,
            RECORD,
            (True, False, f"{COMPLETED}; its last call: math.calculate SUCCEEDED"),
            (4, 5),
        ),
        (
            "ended_on_failed_call",
            True,
            with_calls(),
            (True, False, f"{COMPLETED}; its last call: no call was started"),
            (9,),
        ),
        (
            "args",
            [{"tool": "math.calculate", "key": "expression", "contains": "x"}],
            RECORD,
            (
                {"tool": "math.calculate", "key": "expression", "contains": "x"},
                ["17 * 23"],
                'nearest call: expression: expected to contain x, found "17 * 23"',
            ),
            (4, 5),
        ),
        (
            "args",
            [{"tool": "demo.a", "key": "k", "subset": {"m": 1, "n": 2}}],
            with_calls(call("demo.a", {"k": {}})),
            (
                {"tool": "demo.a", "key": "k", "subset": {"m": 1, "n": 2}},
                [{}],
                "nearest call: k.m: expected 1, found no such key; "
                "k.n: expected 2, found no such key",
            ),
            (9,),
        ),
        ("no_tools", True, RECORD, ([], ["math.calculate"], "unexpected: math.calculate"), (4, 5)),
        ("maximum_steps", 1, RECORD, ("at most 1", 2, "unexpected: 1 steps too many"), (6,)),
        (
            "maximum_model_calls",
            1,
            RECORD,
            ("at most 1", 2, "unexpected: 1 model calls too many"),
            (9,),
        ),
        (
            "maximum_tool_calls",
            0,
            RECORD,
            ("at most 0", 1, "unexpected: 1 tool calls too many"),
            (9,),
        ),
        ("model_calls", 3, RECORD, (3, 2, "expected 3, found 2"), (9,)),
        (
            "reason_codes",
            ["tool.timeout"],
            RECORD,
            ("tool.timeout", ["tool.succeeded"], "missing: tool.timeout"),
            (9,),
        ),
        ("approval_requested", True, RECORD, ("at least 1", 0, "missing: a request"), (9,)),
        (
            "approval_requested",
            False,
            logged("approval.requested", "approval.requested", "a.b"),
            ("0", 2, "unexpected: 2"),
            (10,),
        ),
        (
            "event_order",
            ["run.completed", "run.queued"],
            RECORD._replace(events=RECORD.events[-1:]),
            (
                ["run.completed", "run.queued"],
                ["run.completed"],
                "missing: run.queued after run.completed (event 10)",
            ),
            (0,),
        ),
        ("pending_approvals", 1, LABELLED, (1, 0, "expected 1, found 0"), (9,)),
        ("blocked_sends", 2, LABELLED, (2, 1, "expected 2, found 1"), (9,)),
        ("blocked_sends", 2, RECORD, (2, None, "the subject does not say"), (9,)),
        (
            "trust",
            [{"item": "tool_result", "level": "internal_tool"}],
            LABELLED,
            (
                {"item": "tool_result", "level": "internal_tool"},
                [
                    {"level": "internal_tool", "private": False},
                    {"level": "memory", "private": False},
                ],
                "unexpected: memory",
            ),
            (9,),
        ),
        (
            "trust",
            [{"item": "tool_result", "level": "platform"}],
            LABELLED,
            (
                {"item": "tool_result", "level": "platform"},
                [
                    {"level": "internal_tool", "private": False},
                    {"level": "memory", "private": False},
                ],
                "unexpected: internal_tool, memory",
            ),
            (9,),
        ),
        (
            "trust",
            [{"item": "user_message", "level": "user"}],
            LABELLED,
            (
                {"item": "user_message", "level": "user"},
                [],
                "missing: no such piece of the conversation",
            ),
            (9,),
        ),
        (
            "trust",
            [{"item": "user_message", "level": "user"}],
            RECORD,
            ({"item": "user_message", "level": "user"}, [], "the subject does not say"),
            (9,),
        ),
        ("minimum_compactions", 1, RECORD, ("at least 1", 0, "missing: 1"), (9,)),
        (
            "minimum_compactions",
            3,
            logged("context.compacted", "a.b"),
            ("at least 3", 1, "missing: 2"),
            (9,),
        ),
        (
            "metrics",
            {"tool_truncations_total": 2},
            LABELLED,
            (2, 1, "tool_truncations_total: expected 2, found 1"),
            (9,),
        ),
        (
            "absent_strings",
            ["sesame"],
            RECORD._replace(final_text="sesame"),
            ("nowhere: sesame", ["the final answer"], "unexpected: sesame in the final answer"),
            (8,),
        ),
        (
            "absent_strings",
            ["17 * 23", "math.calculate"],
            RECORD,
            (
                "nowhere: math.calculate",
                ["event 5", "event 6"],
                "unexpected: math.calculate in event 5, event 6",
            ),
            (4, 5),
        ),
        (
            "effects",
            [{"tool": "math.calculate", "watermark": "clear", "count": 2}],
            with_calls(call(), call(effect_sent=True), call(started=False), call("demo.write")),
            (
                "2 calls of math.calculate started and without effect",
                "1 call of math.calculate",
                "expected 2, found 1",
            ),
            (4, 5),
        ),
    ],
)
def test_what_a_failed_check_says_and_where_it_points(key, value, record, said, around):
    found = evaluation(case(**{key: value}), record)
    failed = [one for one in found.checks if one.outcome == "fail"]
    own = [one for one in failed if one.name.partition(".")[0] == key]
    assert said in [(one.expected, one.observed, one.message) for one in own]
    assert around == found.around


@pytest.mark.parametrize(
    ("cause", "record"),
    [
        ("completed", RECORD),
        ("interrupted", RECORD._replace(terminal_status="CANCELLED")),
        ("max_turns", stopped("max_steps_exceeded")),
        ("output_token_budget", stopped("budget_exceeded", "output_tokens")),
        ("cost_budget", stopped("budget_exceeded", "cost_micros")),
    ],
)
def test_each_cause_of_a_stop_is_told_from_all_others(cause, record):
    names = ["completed", "interrupted", "max_turns", "output_token_budget", "cost_budget"]
    held = []
    for name in names:
        checks = evaluation(case(stop_cause=name), record).checks
        (check,) = [one for one in checks if one.name == "stop_cause"]
        held += [name] if check.outcome == "pass" else []
        assert (name == cause) == ({one.outcome for one in checks} == {"pass"})
    assert held == [cause]


@pytest.mark.parametrize(
    ("opt_out", "record", "said", "line"),
    [
        (
            True,
            RECORD,
            (
                "at least one invented_tool",
                [],
                "the case allows this, but it did not happen: remove allow_invented_tool",
            ),
            7,
        ),
        (
            False,
            with_calls(call("made.up", invented=True), call("made.too", invented=True)),
            (
                "no invented_tool",
                ["made.up", "made.too"],
                "unexpected: made.up, made.too; a case opts out with implicit.allow_invented_tool",
            ),
            6,
        ),
    ],
)
def test_what_an_implicit_check_says(opt_out, record, said, line):
    allowed = {"implicit": {"allow_invented_tool": True}} if opt_out else {}
    found = evaluation(case(maximum_steps=9, **allowed), record)
    (failed,) = [one for one in found.checks if one.outcome == "fail"]
    assert failed.name == "implicit.invented_tool"
    assert (failed.expected, failed.observed, failed.message) == said
    assert (failed.line, found.around) == (line, (9,))


MANY_LINES = b"""\
name: sample
milestone: 1
input: {text: x}
model_fixture: y
expected:
  tool_calls:
    - name: demo.a
      count: 1
      arguments_subset: {x: 1}
      reason_code: tool.timeout
    - name: demo.b
  taint:
    private: true
    untrusted: true
  final_text_contains:
    - "391"
    - "17"
  final_text_not_contains:
    - "x"
    - "y"
  forbidden_tool_calls:
    - demo.c
    - demo.d
"""


def test_checks_of_parts_name_the_lines_of_these_parts():
    checks = evaluation(load_case("evals/cases/01_sample.yaml", MANY_LINES)).checks
    assert {(one.name, one.line) for one in checks if 7 <= one.line} == {
        ("tool_calls.count", 8),
        ("tool_calls.arguments_subset", 9),
        ("tool_calls.reason_code", 10),
        ("tool_calls.name", 11),
        ("taint.private", 13),
        ("taint.untrusted", 14),
        ("final_text_contains", 16),
        ("final_text_contains", 17),
        ("final_text_not_contains", 19),
        ("final_text_not_contains", 20),
        ("forbidden_tool_calls", 22),
        ("forbidden_tool_calls", 23),
    }
