"""Each kind of bad expectation is refused at its line and column, by name, with advice.

Each row is the block `expected` of a good case, what is replaced in it, and what is said.
"""

import pytest

from tests.unit.hardgate.cases.samples import CASE_PATH, case_problems

HEAD = """\
name: calculator_tool
milestone: 1
input: {text: What is 17 multiplied by 23?}
model_fixture: calculator_then_answer
expected:
"""
# By rule: the lines of `expected`, line:column, words of the message.
BAD = {
    "schema.alias_twice": [
        ("contains: [a]\nfinal_text_contains: [b]", "7:3", "beside 'contains', which means"),
        ("final_text_contains: [b]\ncontains: [a]", "7:3", "beside 'final_text_contains'"),
        ("max_turns: 2\nmaximum_steps: 2", "7:3", "'maximum_steps' beside 'max_turns'"),
        ("error_code: budget_exceeded\nfailure_reason: budget_exceeded", "7:3", "one of the two"),
    ],
    "schema.unknown_key": [
        ("contians: [a]", "6:3", "did you mean 'contains'?"),
        ("not_contain: [a]", "6:3", "did you mean 'not_contains'?"),
        ("max_turn: 2", "6:3", "did you mean 'max_turns'?"),
        ("taint: {privat: true}", "6:11", "did you mean 'private'?"),
        ("effects: [{tool: demo.write, watermark: set, n: 1}]", "6:48", "'n'"),
        (
            "event_order: [{event: run.queued, stepp: 1}]",
            "6:37",
            "allowed: call_id, event, step or tool; did you mean 'step'?",
        ),
        ("workspace: {create: [a.txt]}", "6:15", "did you mean 'created'?"),
        ("args: [{tool: math.calculate, key: x, equal: 1}]", "6:41", "did you mean 'equals'?"),
    ],
    "schema.missing_key": [
        ("args: [{tool: math.calculate, equals: 1}]", "6:10", "without 'key'"),
        ("trust: [{item: tool_result}]", "6:11", "without 'level'"),
        ("effects: [{tool: demo.write}]", "6:13", "without 'watermark'"),
        ("event_order: [{step: 1}]", "6:17", "without 'event'"),
    ],
    "schema.value": [
        ("stop_cause: max_turn", "6:15", "did you mean 'max_turns'?"),
        ("trust: [{item: tool_result, level: users}]", "6:38", "did you mean 'user'?"),
        ("no_tools: false", "6:13", "allowed: true"),
    ],
    "schema.type": [
        ("contains: Paris", "6:13", "allowed: a list"),
        ("approval_requested: yes", "6:23", "allowed: true or false"),
        ("maximum_steps: two", "6:18", "allowed: a whole number"),
        ("metrics: {tool_starts_total: 1.5}", "6:32", "allowed: a whole number"),
        ("terminal_status: null", "6:20", "found null"),
        ("event_order: [5]", "6:17", "a map"),
        ("judge: [a]", "6:10", "allowed: a text"),
    ],
    "schema.range": [
        ("max_turns: 0", "6:14", "at least 1"),
        ("blocked_sends: -1", "6:18", "at least 0"),
        ("model_calls: 1001", "6:16", "at most 1000"),
    ],
    "schema.length": [
        ("contains_any: []", "6:17", "at least 1 item"),
        ("metrics: {}", "6:12", "at least 1 item"),
        ('verify: ""', "6:11", "at least 1 character"),
    ],
    "case.nothing_expected": [
        ("workspace: {}", "5:1", "no run could fail"),
        ("effects: []\nimplicit: {}", "5:1", "no run could fail"),
    ],
    "case.says_nothing": [
        ("args: [{tool: math.calculate, key: x}]", "6:10", "allowed: equals, contains or subset"),
        ("taint: {}\nmax_turns: 2", "6:10", "allowed: private, untrusted or both"),
    ],
    "case.cannot_fail": [
        ('not_contains: ["**"]', "6:18", "the comparison leaves nothing"),
        ('contains_any: [a, " "]', "6:21", "the comparison leaves nothing"),
    ],
    "case.said_twice": [
        ('not_contains: [a, "**A**"]', "6:21", "first at 6:18"),
        ("contains_any: [a, b, a]", "6:24", "first at 6:18"),
        ("absent_strings: [a, a]", "6:23", "first at 6:20"),
        ("workspace: {created: [a.txt], changed: [a.txt]}", "6:43", "first at 6:25"),
        (
            "effects:\n  - {tool: demo.write, watermark: set}\n"
            "  - {tool: demo.write, watermark: set, count: 2}",
            "8:14",
            "first at 7:14",
        ),
    ],
    "case.contradiction": [
        ("tools: [math.calculate]\nno_tools: true", "6:3", "found tools beside no_tools"),
        ("no_tools: true\ntools_in_order: [math.calculate]", "7:3", "beside no_tools"),
        (
            "no_tools: true\nargs: [{tool: math.calculate, key: x, equals: 1}]",
            "7:3",
            "found args beside no_tools",
        ),
        ("no_tools: true\nended_on_failed_call: true", "7:3", "found ended_on_failed_call"),
        ("no_tools: true\ntool_started_count: 1", "7:3", "found tool_started_count"),
        (
            "forbid_tools: [math.calculate]\ntools: [demo.write, math.calculate]",
            "7:23",
            "which forbidden_tool_calls has too",
        ),
        (
            "forbid_tools: [math.calculate]\nargs: [{tool: math.calculate, key: x, equals: 1}]",
            "7:17",
            "which forbidden_tool_calls has too",
        ),
        (
            "tool_calls: [{name: math.calculate, count: 1, min_count: 1}]",
            "6:39",
            "found count beside min_count or max_count",
        ),
        (
            "tool_calls: [{name: math.calculate, min_count: 3, max_count: 2}]",
            "6:50",
            "found min_count 3 above max_count 2",
        ),
        ("model_calls: 3\nmaximum_model_calls: 2", "6:16", "above maximum_model_calls 2"),
        (
            "terminal_status: completed\nstop_cause: max_turns",
            "7:15",
            "allowed: failed with it",
        ),
        (
            "terminal_status: failed\nstop_cause: completed",
            "7:15",
            "allowed: completed with it",
        ),
        (
            "terminal_status: completed\nfailure_reason: budget_exceeded",
            "7:3",
            "with a failed run only",
        ),
        (
            "stop_cause: completed\nerror_code: budget_exceeded",
            "7:3",
            "a run that ends as completed",
        ),
        (
            "terminal_status: failed\nended_on_failed_call: true",
            "7:25",
            "with a completed run only",
        ),
        ("contains: [Paris in spring]\nnot_contains: [Paris]", "7:18", "one of the two"),
        ("final_text: It is Paris.\nnot_contains: [PARIS]", "7:18", "one of the two"),
    ],
    "case.mixed_counts": [
        (
            "tool_calls:\n  - {name: math.calculate, count: 1}\n  - {name: math.calculate}",
            "8:7",
            "with no count after one with count",
        ),
        (
            "tool_calls:\n  - {name: math.calculate, min_count: 1}\n"
            "  - {name: math.calculate, min_count: 1, max_count: 2}",
            "8:7",
            "with min_count and max_count after one with min_count",
        ),
    ],
    "case.path": [
        ("workspace: {created: [../a.txt]}", "6:25", "which has the part '..'"),
        ("workspace: {changed: [/etc/passwd]}", "6:25", "which is absolute"),
        ('workspace: {removed: ["a\\\\b"]}', "6:25", "which holds a backslash"),
    ],
    "case.sha256": [
        (
            f"artifacts: [{{name: a, sha256: {'A' * 64}}}]",
            "6:33",
            "64 hexadecimal digits in lower case",
        ),
    ],
    "case.name": [
        ("metrics: {Tool-Starts: 1}", "6:13", "found 'Tool-Starts'"),
        ("failure_reason: Max steps", "6:19", "found 'Max steps'"),
    ],
    "case.tool_name": [
        ("tools: [math..calculate]", "6:11", "found 'math..calculate'"),
    ],
    "case.dotted_name": [
        ("event_order: [{event: queued}]", "6:25", "found 'queued'"),
    ],
    "case.unknown_failure_reason": [
        ("failure_reason: max_step_exceeded", "6:19", "did you mean 'max_steps_exceeded'?"),
    ],
    "case.unknown_reason_code": [
        (
            "tool_calls: [{name: math.calculate, reason_code: tool.timout}]",
            "6:52",
            "did you mean 'tool.timeout'?",
        ),
    ],
    "case.unknown_event_type": [
        (
            "event_order: [run.queued, {event: run.complete}]",
            "6:37",
            "did you mean 'run.completed'?",
        ),
    ],
    "case.unknown_tool": [
        ("tools: [math.calculat]", "6:11", "did you mean 'math.calculate'?"),
        ("tools_in_order: [math.calculat]", "6:20", "did you mean 'math.calculate'?"),
        ("forbid_tools: [math.calculat]", "6:18", "did you mean 'math.calculate'?"),
        (
            "args: [{tool: math.calculat, key: x, equals: 1}]",
            "6:17",
            "did you mean 'math.calculate'?",
        ),
        (
            "event_order: [{event: run.queued, tool: math.calculat}]",
            "6:43",
            "did you mean 'math.calculate'?",
        ),
        (
            "trust: [{item: tool_result, level: user, tool: math.calculat}]",
            "6:50",
            "did you mean 'math.calculate'?",
        ),
    ],
    "case.unknown_item": [
        ("trust: [{item: tool_results, level: user}]", "6:18", "did you mean 'tool_result'?"),
    ],
    "case.unknown_metric": [
        ("metrics: {tool_start_total: 1}", "6:31", "did you mean 'tool_starts_total'?"),
    ],
    "case.judge": [
        ("judge: Is polite.", "6:3", "a scripted judge in fixtures.judge, or a scenario"),
    ],
}


def block(lines):
    return "".join(f"  {line}\n" for line in lines.split("\n"))


@pytest.mark.parametrize(
    ("rule", "lines", "place", "words"),
    [(rule, *row) for rule, rows in BAD.items() for row in rows],
)
def test_a_bad_expectation(rule, lines, place, words):
    problems = case_problems((HEAD + block(lines)).encode())
    matching = [one for one in problems if one.startswith(f"{CASE_PATH}:{place}: {rule}: ")]
    assert len(matching) == 1, problems
    assert words in matching[0]
    assert "allowed: " in matching[0]


GOOD = [
    "contains: [a, b]\nnot_contains: [c]\ncontains_any: [d]\nfinal_text: abd",
    "tools: [math.calculate, math.calculate]\ntools_in_order: [math.calculate]",
    "tool_calls: [{name: math.calculate, min_count: 1, max_count: 1}]\ntool_started_count: 0",
    "args: [{tool: math.calculate, key: x, equals: null, subset: {a: null}}]",
    "terminal_status: FAILED\nstop_cause: max_turns\nfailure_reason: max_steps_exceeded",
    "stop_cause: interrupted\nterminal_status: cancelled",
    "terminal_status: completed\nstop_cause: completed\nended_on_failed_call: true",
    "no_tools: true\ntool_started_count: 0\nended_on_failed_call: false\neffects: []",
    "model_calls: 2\nmaximum_model_calls: 2\nmaximum_tool_calls: 0",
    "event_order: [run.queued, {event: run.completed, tool: demo.write, call_id: x, step: 2}]",
    "effects: [{tool: demo.write, watermark: set}, {tool: demo.write, watermark: clear}]",
    "workspace: {created: [a.txt, b/c.txt], changed: [d], removed: [e]}",
    "taint: {untrusted: false}\ntrust: [{item: tool_result, level: knowledge, private: true}]",
    "metrics: {tool_starts_total: 0}\ndistinct_prefixes: 1\nabsent_strings: [x]",
    "verify: test -f a.txt",
]


@pytest.mark.parametrize("lines", GOOD)
def test_a_good_expectation(lines):
    assert case_problems((HEAD + block(lines)).encode()) == []
