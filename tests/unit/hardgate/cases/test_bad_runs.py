"""Each kind of bad input, arm, intervention, fixture or source is refused where it stands."""

import pytest

from tests.unit.hardgate.cases.samples import CASE_PATH, case_problems

NAME = "name: calculator_tool\nmilestone: 1\n"
INPUT = "input: {text: What is 17 multiplied by 23?}\n"
SCRIPT = "model_fixture: calculator_then_answer\n"
EXPECTED = "expected: {terminal_status: completed}\n"
WHOLE = NAME + INPUT + SCRIPT + EXPECTED
ARMS = f"""\
{NAME}{SCRIPT}arms:
  - name: plain
    input: {{text: one}}
    expected: {{terminal_status: completed}}
  - name: other
    input: {{text: two}}
    expected: {{terminal_status: completed}}
delta: {{outcome: same}}
"""
ACT = "interventions:\n  - {at: run.queued, action: cancel}\n"
SESSION = f"{NAME}input: {{turns: [one, two]}}\n{SCRIPT}{EXPECTED}session:\n  advance_seconds: 60\n"
TRAJECTORY = f"{WHOLE}source: trajectory\nsource_export_id: e-1\nreviewed_by: Ann\n"

# By rule: a good text, what is replaced, what stands there instead, line:column, words.
BAD = {
    "schema.missing_key": [
        (ARMS, "  - name: other\n    input", "  - input", "8:5", "without 'name'"),
        (
            ARMS,
            "    input: {text: two}\n    expected: {terminal_status: completed}\n",
            "    input: {text: two}\n",
            "8:5",
            "without 'expected'",
        ),
        (WHOLE + ACT, "at: run.queued, ", "", "7:5", "without 'at'"),
        (WHOLE + ACT, ", action: cancel", "", "7:5", "without 'action'"),
    ],
    "schema.value": [
        (WHOLE + ACT, "action: cancel", "action: cancle", "7:30", "did you mean 'cancel'?"),
        (ARMS, "outcome: same", "outcome: better", "11:18", "same, improves or not_worse"),
        (ARMS, "  - name: other\n", "  - name: other\n    carry: [notes]\n", "9:13", "memory"),
        (TRAJECTORY, "source: trajectory", "source: recorded", "6:9", "authored or trajectory"),
    ],
    "schema.unknown_key": [
        (WHOLE, EXPECTED, EXPECTED + "fixtures: {tool: [math.calculate]}\n", "6:12", "'tools'"),
        (
            WHOLE,
            EXPECTED,
            EXPECTED + "fixtures: {run_limits: {max_step: 2}}\n",
            "6:25",
            "did you mean 'max_steps'?",
        ),
        (WHOLE, INPUT, "input: {txt: x}\n", "3:9", "did you mean 'text'?"),
        (WHOLE, INPUT, "inputs: {text: x}\n", "3:1", "did you mean 'input'?"),
        (WHOLE, EXPECTED, "expects: {}\n", "5:1", "did you mean 'expected'?"),
    ],
    "schema.length": [
        (
            ARMS,
            "  - name: other\n    input: {text: two}\n    expected: {terminal_status: completed}\n",
            "",
            "5:3",
            "at least 2 items",
        ),
        (WHOLE, INPUT, "input: {turns: []}\n", "3:16", "at least 1 item"),
        (WHOLE, EXPECTED, EXPECTED + "fixtures: {tools: []}\n", "6:19", "at least 1 item"),
    ],
    "schema.range": [
        (
            WHOLE,
            EXPECTED,
            EXPECTED + "fixtures: {run_limits: {deadline_seconds: 0}}\n",
            "6:43",
            "more than 0",
        ),
        (WHOLE + ACT, "action: cancel", "action: cancel, occurrence: 0", "7:50", "at least 1"),
    ],
    "case.expected_or_arms": [
        (WHOLE, EXPECTED, "", "1:1", "found neither expected nor arms"),
        (ARMS, "delta:", f"{EXPECTED}delta:", "4:1", "found arms beside expected"),
        (WHOLE, EXPECTED, f"{EXPECTED}delta: {{outcome: same}}\n", "6:1", "delta without arms"),
    ],
    "case.input": [
        (WHOLE, INPUT, "", "1:1", "found no input"),
        (WHOLE, INPUT, "input: {}\n", "3:8", "neither text nor turns"),
        (WHOLE, INPUT, "input: {text: a, turns: [b]}\n", "3:8", "text beside turns"),
        (ARMS, "    input: {text: two}\n", "", "8:5", "found no input for the arm other"),
        (ARMS, SCRIPT, SCRIPT + INPUT, "7:5", "found an input beside the case's own"),
        (SESSION, "{turns: [one, two]}", "{text: one}", "6:1", "with input.turns only"),
    ],
    "case.no_script": [
        (WHOLE, SCRIPT, "", "1:1", "found no model_fixture"),
        (ARMS, SCRIPT, "", "4:5", "found no model_fixture for the arm plain"),
    ],
    "case.says_nothing": [
        (ARMS, "{outcome: same}", "{}", "11:8", "allowed: outcome, policy_failures or both"),
        (WHOLE + ACT, "action: cancel", "action: cancel, where: {}", "7:45", "tool, call_id"),
        (SESSION, "session:\n  advance_seconds: 60\n", "session: {}\n", "6:10", "at least one key"),
    ],
    "case.said_twice": [
        (ARMS, "name: other", "name: plain", "8:11", "first at 5:11"),
        (
            WHOLE,
            EXPECTED,
            EXPECTED + "fixtures: {skills: [a, b, a]}\n",
            "6:27",
            "first at 6:21",
        ),
    ],
    "case.contradiction": [
        (
            ARMS,
            "  - name: plain\n",
            "  - name: plain\n    carry: [memory]\n",
            "6:5",
            "the first arm",
        ),
    ],
    "case.cannot_fail": [
        (
            WHOLE,
            EXPECTED,
            "expected: {maximum_steps: 3}\nfixtures: {run_limits: {max_steps: 3}}\n",
            "5:27",
            "run_limits.max_steps 3 never lets a run pass",
        ),
        (
            WHOLE,
            EXPECTED,
            "expected: {maximum_tool_calls: 5}\nfixtures: {run_limits: {max_tool_calls: 4}}\n",
            "5:32",
            "allowed: a smaller number",
        ),
        (
            ARMS,
            "    input: {text: two}\n    expected: {terminal_status: completed}\n",
            "    input: {text: two}\n    expected: {maximum_model_calls: 2}\n"
            "    fixtures: {run_limits: {max_model_calls: 2}}\n",
            "10:37",
            "never lets a run pass",
        ),
    ],
    "case.source": [
        (TRAJECTORY, "source_export_id: e-1\n", "", "6:9", "without source_export_id"),
        (TRAJECTORY, "reviewed_by: Ann\n", "", "6:9", "without reviewed_by"),
        (TRAJECTORY, "source: trajectory\n", "", "6:1", "source_export_id beside an authored"),
    ],
    "case.intervention": [
        (WHOLE + ACT, "action: cancel", "action: cancel, actor: eval.approver", "7:38", "approve"),
        (WHOLE + ACT, "action: cancel", "action: cancel, text: x", "7:38", "with answer"),
        (WHOLE + ACT, "action: cancel", "action: answer", "7:5", "an answer without text"),
        (
            WHOLE + ACT,
            "action: cancel",
            "action: deny, reconnect: {after: immediately, last_event_id: 3}",
            "7:36",
            "with disconnect",
        ),
    ],
    "case.session": [
        (SESSION, "advance_seconds: 60", "revoke_scope: demo.write", "7:3", "both, or none"),
    ],
    "case.trigger": [
        (WHOLE + ACT, "run.queued", "queued", "7:10", "an event type, before_effect"),
        (WHOLE + ACT, "run.queued", "Pipeline.1.before", "7:10", "step from 1 to 14"),
        (WHOLE + ACT, "run.queued", "pipeline.15.before", "7:10", "step from 1 to 14"),
        (WHOLE + ACT, "run.queued", "pipeline.1.during", "7:10", "step from 1 to 14"),
    ],
    "case.duration": [
        (WHOLE, EXPECTED, EXPECTED + "clock: {advance_on_step: 1 s}\n", "6:26", "1s or 250ms"),
        (WHOLE, EXPECTED, EXPECTED + "clock: {advance_on_step: 0s}\n", "6:26", "found '0s'"),
        (WHOLE, EXPECTED, EXPECTED + "clock: {advance_on_step: 1w}\n", "6:26", "found '1w'"),
    ],
    "case.fixture_stem": [
        (WHOLE, EXPECTED, EXPECTED + "fixtures: {workspace: ../x}\n", "6:23", "without folder"),
        (WHOLE, EXPECTED, EXPECTED + "fixtures: {judge: a.yaml}\n", "6:19", "without folder"),
        (WHOLE, EXPECTED, EXPECTED + "fixtures: {mcp_servers: [A]}\n", "6:26", "found 'A'"),
    ],
    "case.judge": [
        (WHOLE, EXPECTED, EXPECTED + "fixtures: {judge: polite}\n", "6:19", "no judge key"),
    ],
    "case.unknown_agent": [
        (WHOLE, EXPECTED, EXPECTED + "agent_id: genral\n", "6:11", "did you mean 'general'?"),
    ],
    "case.unknown_event_type": [
        (WHOLE + ACT, "run.queued", "run.queue", "7:10", "did you mean 'run.queued'?"),
        (
            WHOLE + ACT,
            "action: cancel",
            "action: disconnect, reconnect: {after: run.complete, last_event_id: last_seen}",
            "7:61",
            "did you mean 'run.completed'?",
        ),
    ],
    "case.unknown_principal": [
        (
            ARMS,
            "  - name: other\n",
            "  - name: other\n    principal: eval.standart\n",
            "9:16",
            "did you mean 'eval.standard'?",
        ),
    ],
    "case.unknown_tool": [
        (
            WHOLE + ACT,
            "action: cancel",
            "action: cancel, where: {tool: demo.wirte}",
            "7:52",
            "did you mean 'demo.write'?",
        ),
        (
            ARMS,
            "  - name: other\n",
            "  - name: other\n    fixtures: {tools: [demo.wirte]}\n",
            "9:24",
            "did you mean 'demo.write'?",
        ),
    ],
    "schema.alias_twice": [
        (
            ARMS,
            "    input: {text: two}\n    expected: {terminal_status: completed}\n",
            "    input: {text: two}\n    expected: {contains: [a], final_text_contains: [b]}\n",
            "10:31",
            "beside 'contains'",
        ),
    ],
}


@pytest.mark.parametrize("text", [WHOLE, ARMS, WHOLE + ACT, SESSION, TRAJECTORY])
def test_the_good_texts_are_good(text):
    assert case_problems(text.encode()) == []


@pytest.mark.parametrize(
    ("rule", "text", "old", "new", "place", "words"),
    [(rule, *row) for rule, rows in BAD.items() for row in rows],
)
def test_a_bad_case(rule, text, old, new, place, words):
    assert text.count(old) == 1
    problems = case_problems(text.replace(old, new).encode())
    matching = [one for one in problems if one.startswith(f"{CASE_PATH}:{place}: {rule}: ")]
    assert len(matching) == 1, problems
    assert words in matching[0]
    assert "allowed: " in matching[0]
