"""The process of a case that starts an agent, of the gate behind it, and of each end of a twin."""

import json
import sys
from pathlib import Path

import pytest

from hardgate.kinds.command_case import main
from hardgate.verdicts.verdict import from_json
from hardgate.wire.script_player import ScriptPlayer

AGENT = Path("tests/integration/command/tiny_agent.py").resolve()
CASE = """\
name: sum
milestone: 0
input: {text: What is 17 + 25?}
model_fixture: sum
subject: {agent: tiny, limits: {wall_seconds: 20}}
expected: {terminal_status: completed, contains: ['42']}
"""
SCRIPT = """\
turns:
  - kind: tool_calls
    calls: [{call_id: call_1, name: add, arguments: {a: 17, b: 25}}]
  - {kind: final, text: The sum is 42.}
"""
FILES = {"evals/cases/01_sum.yaml": CASE, "evals/fixtures/models/sum.yaml": SCRIPT}


class Off:
    """A machine without a way out."""

    def ways_out(self):
        return ()

    def attempt(self, name):
        return "ENETUNREACH"


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A folder with the case, a good agent and one that forgets the results of its tools."""
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    source = AGENT.read_text()
    for name, flaws in (("good", ""), ("forgetful", "forgetful"), ("lacking", "")):
        text = source.replace('os.environ.get("FLAWS", "")', f'"{flaws}"')
        text = text if name != "lacking" else f"import nowhere_to_be_found\n{text}"
        (tmp_path / name).write_text(f"#!{sys.executable} -S\n{text}")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "out").mkdir()
    monkeypatch.setenv("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path / "out"))
    monkeypatch.setenv("TEST_TMPDIR", str(tmp_path / "out"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def published():
    verdict = Path("out/verdict.json")
    return from_json(verdict.read_text()) if verdict.exists() else None


def case(*words, name="sum"):
    argv = ["--case", f"evals/cases/01_{name}.yaml", "--fixtures", "evals/fixtures"]
    return main([*argv, "--milestone", "0", "--repeat", "again", *words], Off())


def gate(agent, counterexample=None, reason="wire.tool_results_missing"):
    declared = {"name": "forgets", "reason": reason, "agent": "forgetful"}
    entry = {
        "id": "gate.sums.answered",
        "area": "sums",
        "slug": "answered",
        "kind": "case",
        "milestone": 0,
        "check": "case:sum",
        "path": "gates/sums.yaml",
        "line": 1,
        "counterexamples": [declared],
    }
    Path("entry.json").write_text(json.dumps(entry))
    Path("manifest").write_text("".join(f"{path}\t{path}\n" for path in FILES))
    argv = ["--entry", "entry.json", "--manifest", "manifest", "--case-name", "sum"]
    argv += ["--counterexample", counterexample] if counterexample else []
    main([*argv, "--repeat", "again", "--agent", f"tiny={agent}"])
    return published()


def test_a_case_passes_with_the_agent_that_it_names(workspace):
    assert case("--agent", "tiny=good") == 0
    verdict = published()
    assert (verdict.id, verdict.subject, verdict.network.off) == ("case.sum", "command 1", True)
    assert {path.name for path in Path("out").iterdir()} == {"run.json", "verdict.json"}


def test_a_case_fails_with_a_broken_one_and_shows_where(workspace, capsys):
    assert case("--agent", "tiny=forgetful") == 1
    text = capsys.readouterr().out
    assert "wire.tool_results_missing" in text
    assert "model.request.refused" in text
    assert text.endswith("repeat: again\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agent", "good", "--agent", "other"], "found an agent without a name twice"),
        (["--agent", "a=x", "--agent", "a=y"], "found the agent 'a' twice"),
        (["--agent", ""], "found ''; allowed: a path, or NAME=PATH"),
        (["--agent", "a="], "found 'a='; allowed: a path, or NAME=PATH"),
    ],
)
def test_words_that_name_no_agents(workspace, capsys, words, message):
    assert case(*words) == 2
    assert message in capsys.readouterr().err


def test_a_case_of_an_in_process_runtime_is_run_by_the_agent_with_all_defaults(workspace):
    text = CASE.replace("subject: {agent: tiny, limits: {wall_seconds: 20}}\n", "")
    Path("evals/cases/01_plain.yaml").write_text(text.replace("name: sum", "name: plain"))
    assert case("--agent", "good", name="plain") == 0


def test_a_gate_passes_and_its_twin_rejects_the_broken_agent(workspace):
    verdict = gate("good")
    assert (verdict.id, verdict.failed_checks(), verdict.findings) == ("gate.sums.answered", (), ())
    twin = gate("forgetful", "forgets").counterexample
    assert (twin.why, twin.message) == ("rejected", "rejected for wire.tool_results_missing")


def test_a_twin_with_an_agent_that_is_not_broken(workspace):
    assert gate("good", "forgets").counterexample.why == "not_rejected"


def test_a_twin_that_is_rejected_for_something_else(workspace):
    twin = gate("forgetful", "forgets", "agent.wall_seconds").counterexample
    assert twin.why == "other_reason"
    assert "wire.tool_results_missing" in twin.message


def test_a_twin_whose_agent_does_not_start_has_rejected_nothing(workspace):
    twin = gate("missing", "forgets", "subject.agent_missing").counterexample
    assert twin.why == "not_reached"


@pytest.mark.parametrize("reason", ["terminal_status", "final_text_contains", "fixture.unconsumed"])
def test_a_twin_whose_agent_fails_before_it_asks_anything_has_rejected_nothing(workspace, reason):
    twin = gate("lacking", "forgets", reason).counterexample
    assert (twin.rejected, twin.why) == (False, "crashed")
    assert "the agent failed (agent_exit_code) before its first request" in twin.message


def test_a_twin_in_which_the_provider_breaks_has_rejected_nothing(workspace, monkeypatch, capfd):
    monkeypatch.setattr(ScriptPlayer, "violations", lambda *_, **__: 1 // 0)
    twin = gate("good", "forgets", "wire.internal_error").counterexample
    assert (twin.rejected, twin.why) == (False, "crashed")
    assert "the scripted provider broke" in twin.message
    assert "ZeroDivisionError" in capfd.readouterr().err
