"""`hardgate run`, `explain`, `lint` and `new case` on cases that start an agent."""

import json
import sys
from pathlib import Path

import pytest

from hardgate.cli.app import main

AGENT = Path("tests/integration/command/tiny_agent.py").resolve()
CASE = """\
name: {name}
milestone: 0
input: {{text: What is 17 + 25?}}
model_fixture: sum
{subject}expected: {{terminal_status: completed, contains: ['42']}}
"""
SCRIPT = """\
turns:
  - kind: tool_calls
    calls: [{call_id: call_1, name: add, arguments: {a: 17, b: 25}}]
  - {kind: final, text: The sum is 42.}
"""


@pytest.fixture
def hardgate(tmp_path, monkeypatch, capsys):
    """Runs a command in a workspace with three cases; returns (code, stdout, stderr)."""
    for name in ("BUILD_WORKING_DIRECTORY", "BUILD_WORKSPACE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    subjects = {"01_plain": "", "02_own": "subject: {}\n", "03_named": "subject: {agent: other}\n"}
    for number, subject in subjects.items():
        write(tmp_path, f"evals/cases/{number}.yaml", CASE.format(name=number[3:], subject=subject))
    write(tmp_path, "evals/fixtures/models/sum.yaml", SCRIPT)
    write(tmp_path, "bin/agent", f"#!{sys.executable} -S\n{AGENT.read_text()}")
    (tmp_path / "bin/agent").chmod(0o755)
    monkeypatch.chdir(tmp_path / "bin")

    def run(words):
        code = main(words.split())
        return (code, *capsys.readouterr())

    run.root = tmp_path
    return run


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_every_case_runs_with_its_agent_named_from_where_the_caller_is(hardgate):
    code, out, err = hardgate("run --agent agent --agent other=../bin/agent")
    assert (code, out.splitlines()[-1]) == (0, "OK: 3 pass, 0 fail, 0 pending"), err


def test_a_failing_case_is_run_again_with_the_same_agents(hardgate):
    write(hardgate.root, "bin/mute", "#!/bin/sh\n")
    (hardgate.root / "bin/mute").chmod(0o755)
    _, out, _ = hardgate("run named --agent agent --agent other=mute --workspace ..")
    (again,) = [line for line in out.splitlines() if line.startswith("repeat: ")]
    assert again.endswith(" run named --agent agent --agent other=mute --workspace ..")
    code, out, _ = hardgate("run " + again.partition(" run ")[2])
    assert (code, out.splitlines()[-1]) == (1, "NOT OK: 0 pass, 1 fail, 0 pending")


def test_a_case_runs_several_times_and_nothing_differs(hardgate):
    code, out, _ = hardgate("run own --agent agent --repeat 3 --json")
    (result,) = json.loads(out)["results"]
    assert (code, result["times"], result["passed"]) == (0, 3, True)


def test_a_case_without_a_subject_needs_something_to_run_against(hardgate):
    code, _, err = hardgate("run plain")
    assert code == 4
    assert "no agent runtime is mounted here" in err
    assert "--agent names an executable" in err


def test_an_agent_that_nobody_named(hardgate):
    code, out, _ = hardgate("run named --agent agent")
    assert code == 1
    assert "subject.agent_unknown: the case means the agent 'other'" in out


def test_words_that_name_no_agent(hardgate):
    code, _, err = hardgate("run own --agent agent --agent agent")
    assert code == 2
    assert "--agent: found an agent without a name twice; allowed: each once" in err


def test_the_timeline_shows_what_is_seen_and_no_more(hardgate):
    code, out, err = hardgate("explain own --agent agent")
    assert code == 0, err
    assert "[turn 1] the model calls add" in out
    assert "tool.call.answered step_number=1 call_id=call_1 tool_name=add" in out
    assert "step 1, ANSWERED\n" in out
    assert "principal" not in out
    assert "watermark" not in out


def test_lint_refuses_what_is_not_seen_without_any_agent(hardgate):
    assert hardgate("lint")[0] == 0
    file = hardgate.root / "evals/cases/02_own.yaml"
    file.write_text(file.read_text().replace("contains", "metrics: {a: 1}, contains"))
    code, out, _ = hardgate("lint")
    assert code == 4
    assert "02_own.yaml:6:40: case.not_observable: found 'metrics'" in out
    plain = hardgate.root / "evals/cases/01_plain.yaml"
    plain.write_text(plain.read_text().replace("contains", "metrics: {a: 1}, contains"))
    assert "01_plain" not in hardgate("lint")[1]
    assert "01_plain.yaml:5:40: case.not_observable" in hardgate("lint --agent agent")[1]


def test_a_new_case_starts_an_agent(hardgate):
    assert hardgate("new case asks --command")[0] == 0
    text = (hardgate.root / "evals/cases/04_asks.yaml").read_text()
    assert 'subject:\n  command: ["{agent}"]\n  prompt: stdin\n' in text
    code, out, _ = hardgate("lint ../evals/cases/04_asks.yaml")
    assert code == 4
    assert out.count("04_asks.yaml") == 1
    assert "case.nothing_expected" in out
