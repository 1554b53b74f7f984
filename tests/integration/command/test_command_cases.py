"""Cases of an agent that is a process: what holds, what does not, and what each flaw is called."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import run_case
from hardgate.subjects import collection
from hardgate.subjects.command.subject import ForeignAgent
from hardgate.verdicts.network import ATTEMPTS, NetworkProof

AGENT = Path("tests/integration/command/tiny_agent.py").resolve()
OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
SUM = """\
turns:
  - kind: tool_calls
    calls: [{call_id: call_1, name: add, arguments: {a: 17, b: 25}}]
  - {kind: final, text: The sum is 42.}
"""
WRITES = """\
turns:
  - {kind: error, error_class: rate_limit, retry_after_seconds: 0.2}
  - kind: tool_calls
    calls:
      - {call_id: call_1, name: write_file, arguments: {path: out.txt, text: hello}}
      - {call_id: call_2, name: add, arguments: {a: 1}}
  - {kind: final, text: Written.}
"""
# Long enough that no pause of a busy machine makes a hasty agent a patient one.
LIMITED = """\
turns:
  - {kind: error, error_class: rate_limit, retry_after_seconds: 2}
  - {kind: final, text: Done.}
"""
FAILS = "turns:\n  - {kind: error, error_class: permanent}\n"
HEAD = "name: sample\nmilestone: 0\ninput: {text: What is 17 + 25?}\nmodel_fixture: "


class Ran:
    """A case that was run: its verdict and its record."""

    def __init__(self, result):
        self.verdict = result.verdict
        self.record = result.runs[0].record
        self.failed = {check.name for check in result.verdict.failed_checks()}
        self.rules = {finding.rule for finding in result.verdict.findings}


@pytest.fixture
def run(tmp_path):
    """Runs the case of a script with the tiny agent, flaws and all."""
    scripts = {"sum": SUM, "writes": WRITES, "limited": LIMITED, "fails": FAILS}
    for name, text in scripts.items():
        file = tmp_path / f"evals/fixtures/models/{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "evals/cases").mkdir()
    agent = tmp_path / "agent"
    # The interpreter of the test: PATH need not have one.
    agent.write_text(f"#!{sys.executable} -S\n" + AGENT.read_text())
    agent.chmod(0o755)

    def run(script, expected, flaws="", subject="", limits="wall_seconds: 20", agents=None):
        said = [f"environment: {{FLAWS: '{flaws}'}}", f"limits: {{{limits}}}", subject]
        said = ", ".join(filter(None, said))
        case = f"{HEAD}{script}\nsubject: {{{said}}}\nexpected: {{{expected}}}\n"
        (tmp_path / "evals/cases/01_sample.yaml").write_text(case)
        tree = DirectoryTree(tmp_path)
        loaded = collection.load(tree, "evals/cases/01_sample.yaml")
        foreign = ForeignAgent({"": str(agent)} if agents is None else agents, os.environ)
        runnable = collection.collect(tree, loaded, "evals/fixtures", foreign)
        workspace = tmp_path / "workspace"
        shutil.rmtree(workspace, ignore_errors=True)
        return Ran(run_case(runnable, foreign, str(workspace), OFF))

    return run


GOOD = (
    "terminal_status: completed, stop_cause: completed, final_text: The sum is 42., "
    "contains: ['42'], contains_any: [41, 42], not_contains: ['43'], final_text_matches: '4[2]', "
    "tools: [add], tools_in_order: [add], tool_calls: [{name: add, count: 1, arguments_subset: "
    "{a: 17}}], args: [{tool: add, key: b, equals: 25}], forbidden_tool_calls: [write_file], "
    "maximum_steps: 2, maximum_model_calls: 2, maximum_tool_calls: 1, model_calls: 2, event_order: "
    "[agent.started, {event: tool.call.answered, tool: add, step: 1}, agent.ended], "
    "absent_strings: [canary], verify: test ! -e out.txt"
).replace("[41, 42]", "['41', '42']")


def test_every_expectation_that_needs_no_report_holds(run):
    ran = run("sum", GOOD, subject="api: openai_chat")
    assert (ran.failed, ran.rules) == (set(), set())
    assert ran.verdict.passed
    names = {check.name for check in ran.verdict.checks}
    assert {"subject.in_order", "workspace", "fixture.unconsumed", "record.complete"} <= names
    assert not {name for name in names if name.startswith("effects")}


def test_each_expectation_can_fail(run):
    ran = run(
        "sum",
        "terminal_status: failed, failure_reason: agent_signal, final_text: No., "
        "contains: ['43'], contains_any: ['41'], not_contains: ['42'], final_text_matches: '4[3]', "
        "tools: [write_file], tools_in_order: [write_file], tool_calls: [{name: add, count: 2}], "
        "args: [{tool: add, key: b, equals: 26}], maximum_steps: 1, maximum_model_calls: 1, "
        "model_calls: 1, event_order: [agent.ended, agent.started], absent_strings: ['42'], "
        "workspace: {created: [a.txt]}, verify: test -e out.txt",
    )
    assert ran.failed >= {
        "terminal_status", "failure_reason", "final_text", "final_text_contains",
        "final_text_contains_any", "final_text_not_contains", "final_text_matches", "tools",
        "tools_in_order", "tool_calls.count", "args", "maximum_steps", "maximum_model_calls",
        "model_calls", "event_order", "absent_strings", "workspace", "verify",
    }  # fmt: skip
    assert not ran.verdict.passed


def test_two_runs_are_equal(run):
    first, second = (run("writes", "terminal_status: completed").record for _ in range(2))
    assert first == second


WRITTEN = (
    "terminal_status: completed, workspace: {created: [out.txt]}, model_calls: 3, "
    "maximum_steps: 2, verify: grep -q hello out.txt"
)


def test_what_the_agent_reports_can_be_expected(run):
    ran = run(
        "writes",
        f"{WRITTEN}, effects: [{{tool: write_file, watermark: set}}], event_order: "
        "[agent.prompted], trust: [{item: tool_result, tool: add, level: internal_tool}], "
        "taint: {untrusted: false}",
        subject="reports: [effects, events, labels]",
    )
    assert (ran.failed, ran.rules) == (set(), set())
    assert "effects" in {check.name for check in ran.verdict.checks}


def test_an_effect_that_is_reported_and_not_expected(run):
    assert run("writes", WRITTEN, subject="reports: [effects]").failed == {"effects"}


@pytest.mark.parametrize(
    ("flaws", "subject"),
    [
        ("", "answer: last_turn"),
        ("", "answer: report"),
        ("file", "answer: {file: answer.txt}"),
        ("", "command: ['{agent}', '{prompt}'], prompt: argument"),
    ],
)
def test_where_the_answer_stands_and_how_the_prompt_gets_in(run, flaws, subject):
    more = ", workspace: {created: [answer.txt]}" if flaws else ""
    assert run("sum", f"final_text: The sum is 42.{more}", flaws, subject).failed == set()


def test_the_model_is_sent_what_the_case_says(run):
    requests = [
        event.payload["messages"][0]["text"]
        for subject in (
            "",
            "command: ['{agent}', '{prompt}'], prompt: argument",
            "command: [/bin/sh, -c, 'cat \"$1\" | \"$0\"', '{agent}', '{prompt_file}'], prompt: file",
        )
        for event in run("sum", "terminal_status: completed", subject=subject).record.events
        if event.type == "model.request" and event.payload["step_number"] == 1
    ]
    assert requests == ["What is 17 + 25?"] * 3


def test_anthropic_tells_which_tool_failed(run):
    api = "api: anthropic_messages"
    ran = run("writes", f"{WRITTEN}, ended_on_failed_call: true", "anthropic", api)
    assert ran.failed == set()
    assert [call.status for call in ran.record.tool_calls] == ["ANSWERED", "FAILED"]


def test_an_agent_that_has_to_give_up(run):
    ran = run("fails", "terminal_status: failed, failure_reason: agent_exit_code")
    assert ran.failed == set()
    assert run("fails", "terminal_status: completed").failed >= {"implicit.errored_run"}


FLAWS = [
    ("forgetful", {}, "wire.tool_results_missing", "protocol_violation"),
    ("hasty", {"script": "limited"}, "wire.retried_early", "protocol_violation"),
    ("anthropic", {"subject": "api: openai_chat"}, "wire.api", "protocol_violation"),
    ("eager", {}, "fixture.exhausted", None),
    ("crashes", {}, "implicit.errored_run", "agent_signal"),
    ("child", {}, "agent.processes_left_behind", "processes_left_behind"),
    ("floods", {"limits": "output_bytes: 5000"}, "agent.output_bytes", "output_bytes"),
    ("hangs", {"limits": "wall_seconds: 0.5"}, "agent.wall_seconds", "wall_seconds"),
    ("stubborn forgetful", {"limits": "turns: 5"}, "agent.turn_limit", "turn_limit"),
    ("silent", {"subject": "reports: [events]"}, "report.promise", "report_promise"),
    ("garbage", {"subject": "reports: [events]"}, "report.malformed", "report_malformed"),
    ("", {"subject": "answer: {file: answer.txt}"}, "answer.missing", "answer_missing"),
]


@pytest.mark.parametrize(("flaws", "how", "rule", "reason"), FLAWS)
def test_each_flaw_has_a_name(run, flaws, how, rule, reason):
    script = how.get("script", "sum")
    more = {key: value for key, value in how.items() if key != "script"}
    ran = run(script, "model_calls: 2", flaws, **more)
    assert rule in ran.failed
    assert ran.record.failure_reason == reason
    assert not ran.verdict.passed


@pytest.mark.parametrize(
    ("agents", "subject", "rule"),
    [
        ({}, "", "subject.agent_unknown"),
        ({"": "agent"}, "agent: other", "subject.agent_unknown"),
        ({"": "/nowhere/agent"}, "", "subject.agent_missing"),
        ({"": "/"}, "", "subject.agent_is_directory"),
        (None, "command: ['/etc/passwd']", "subject.agent_not_executable"),
        (None, "command: [no-such-program]", "subject.agent_missing"),
    ],
)
def test_an_agent_that_does_not_start_has_no_run(run, agents, subject, rule):
    ran = run("sum", "terminal_status: completed", subject=subject, agents=agents)
    assert (ran.record, ran.failed) == (None, set())
    assert rule in ran.rules
    assert ran.verdict.examined == 0


def test_what_the_process_gets(run, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_MACHINE", "x")
    monkeypatch.setenv("RUNFILES_DIR", "somewhere")
    ran = run("sum", "terminal_status: completed", "environment")
    (ended,) = [event for event in ran.record.events if event.type == "agent.ended"]
    got = json.loads(ended.payload["stdout"])
    assert "SECRET_OF_THE_MACHINE" not in got
    assert got["RUNFILES_DIR"] == os.path.abspath("somewhere")
    assert got["PATH"] == os.environ["PATH"]
    assert got["OPENAI_API_KEY"] == got["ANTHROPIC_API_KEY"] == "not-a-key"
    assert got["HOME"] != os.environ.get("HOME")
    assert not os.path.exists(got["HOME"])
    assert (got["LANG"], got["TZ"], got["FLAWS"]) == ("C.UTF-8", "UTC", "environment")
    assert "HARDGATE_REPORT_FD" not in got


def test_a_case_that_asks_for_what_is_not_seen_does_not_run(run):
    with pytest.raises(DefinitionError, match=r"case\.not_observable"):
        run("sum", "effects: [{tool: add, watermark: set}]")
