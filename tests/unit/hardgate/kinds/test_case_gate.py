"""The process behind a gate of the kind case: its files, and each end of a twin."""

import importlib
import json
import sys
from textwrap import dedent

import pytest

from hardgate.kinds.case import main
from hardgate.verdicts.verdict import from_json

SUBJECT = """
from hardgate.cases.record import ObservedEvent, Record
from hardgate.cases.vocabulary import Vocabulary
from hardgate.subjects.port import SubjectError


def answer(text):
    return text


def steps():
    return 1


class Subject:
    name = "tiny"
    version = "1"

    def vocabulary(self):
        return Vocabulary(frozenset({"COMPLETED", "FAILED"}), *[None] * 5)

    def run(self, case, script, workspace, tool_results=None, mcp_servers=()):
        with open(f"{workspace}/log.txt", "a") as file:
            file.write("ran")
        return Record(
            terminal_status="COMPLETED",
            failure_reason=None,
            final_text=answer(script.turns[0].text),
            step_count=steps(),
            model_call_count=1,
            tool_call_count=0,
            tool_calls=(),
            events=(ObservedEvent(1, "run.started", {}), ObservedEvent(2, "run.completed", {})),
            turns_consumed=1,
            turns_total=len(script.turns),
        )
"""
CASE = """
name: greeting
milestone: 1
input: {text: Say hello}
model_fixture: hello
fixtures: {workspace: notes}
expected:
  terminal_status: completed
  final_text_contains: [hello]
  maximum_steps: 1
  workspace: {changed: [log.txt]}
"""
SCRIPT = "turns:\n  - {kind: final, text: Well hello.}\n"
DEFECTS = """
import tiny_subject
from hardgate.subjects.port import SubjectError


def answer_lost(bench):
    "The answer is cut short."
    bench.replace(tiny_subject, "answer", lambda original: lambda text: original(text)[:4])


def answer_kept(bench):
    "The answer is copied, which changes nothing."
    bench.replace(tiny_subject, "answer", lambda original: lambda text: str(original(text)))


def not_called(bench):
    "Something changes that no run of the case reaches."
    bench.replace(tiny_subject.Subject, "vocabulary", lambda original: original)
    bench.replace(tiny_subject, "unused", lambda original: original)


def subject_breaks(bench):
    "The subject divides by zero."
    bench.replace(tiny_subject, "steps", lambda original: lambda: original() // 0)


def subject_refuses(bench):
    "The subject cannot run the case."

    def refuse():
        raise SubjectError("no model")

    bench.replace(tiny_subject, "steps", lambda original: refuse)


def script_edited(bench):
    "The script answers something else."
    bench.tree.edit("quality/fixtures/models/hello.yaml", "Well hello", "Good bye")


def script_longer(bench):
    "The script has a turn too many."
    script = "quality/fixtures/models/hello.yaml"
    bench.tree.edit(script, "}\\n", "}\\n  - {kind: final, text: x}\\n")


def case_misspelt(bench):
    "The case has a key that nobody knows."
    bench.tree.edit("quality/cases/03_greeting.yaml", "maximum_steps", "maximum_stesp")


def script_gone(bench):
    "The script is missing."
    bench.tree.remove("quality/fixtures/models/hello.yaml")


def file_gone(bench):
    "The workspace lacks a file."
    bench.tree.remove("quality/fixtures/workspaces/notes/log.txt")
    bench.tree.write("quality/fixtures/workspaces/notes/other.txt", "x")
"""
REASONS = {
    "answer_lost": "final_text_contains",
    "answer_kept": "final_text_contains",
    "subject_breaks": "subject.crashed",
    "subject_refuses": "subject.error",
    "script_edited": "final_text_contains",
    "script_longer": "fixture.unconsumed",
    "case_misspelt": "schema.unknown_key",
    "script_gone": "case.unknown_fixture",
    "file_gone": "workspace",
    "not_called": "final_text_contains",
    "unwritten": "final_text_contains",
}
FILES = {
    "gates/defects/tiny_area.py": DEFECTS,
    "tiny_subject.py": SUBJECT,
    "quality/cases/03_greeting.yaml": CASE,
    "quality/cases/04_other.yaml": CASE.replace("greeting", "other"),
    "quality/fixtures/models/hello.yaml": SCRIPT,
    "quality/fixtures/workspaces/notes/log.txt": "begun\n",
}


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Runs the process over a small workspace; returns (exit code, verdict or None)."""
    for path, content in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(content).lstrip("\n"))
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("tiny_subject", "gates.defects.tiny_area"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    if "gates.defects" in sys.modules:
        monkeypatch.delattr(sys.modules["gates.defects"], "tiny_area", raising=False)
    importlib.invalidate_caches()
    subject = importlib.import_module("tiny_subject")
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setenv("TEST_TMPDIR", str(tmp_path / "out"))
    monkeypatch.setenv("TEST_UNDECLARED_OUTPUTS_DIR", str(out))
    monkeypatch.chdir(out)

    def run(counterexample=None, *, case="greeting", left_out=()):
        lines = [
            f"{path}\t{tmp_path / path}\n"
            for path in FILES
            if path.startswith("quality/") and path not in left_out
        ]
        (tmp_path / "manifest").write_text("".join(lines))
        entry = {
            "id": "gate.tiny_area.greets",
            "area": "tiny_area",
            "slug": "greets",
            "kind": "case",
            "milestone": 3,
            "check": f"case:{case}",
            "path": "gates/tiny_area.yaml",
            "line": 7,
            "counterexamples": [
                {"name": name, "reason": reason} for name, reason in REASONS.items()
            ],
        }
        (tmp_path / "entry.json").write_text(json.dumps(entry))
        argv = ["--entry", str(tmp_path / "entry.json"), f"--manifest={tmp_path / 'manifest'}"]
        argv += ["--case-name", case, "--repeat", "bazel test //gates:tiny_area/greets"]
        argv += ["--counterexample", counterexample] if counterexample else []
        code = main(argv, subject.Subject())
        verdict = out / "verdict.json"
        return code, from_json(verdict.read_text()) if verdict.exists() else None

    run.root = tmp_path
    return run


def test_the_verdict_is_the_gates(gate):
    _, verdict = gate()
    assert (verdict.id, verdict.kind, verdict.milestone) == ("gate.tiny_area.greets", "case", 3)
    assert [check.name for check in verdict.checks if check.outcome != "pass"] == []
    assert verdict.findings == ()
    assert (verdict.examined, verdict.unit, verdict.subject) == (2, "events", "tiny 1")
    assert verdict.counterexample is None
    assert verdict.outcome == ("pass" if verdict.network.off else "fail")


def test_a_gate_that_fails_shows_the_piece_of_the_log(gate, capsys):
    script = gate.root / "quality/fixtures/models/hello.yaml"
    script.write_text(script.read_text().replace("hello", "good bye"))
    code, verdict = gate()
    assert code == 1
    assert [check.name for check in verdict.failed_checks()] == ["final_text_contains"]
    printed = capsys.readouterr().out
    assert "FAIL gate.tiny_area.greets (case, milestone 3)" in printed
    assert "quality/cases/03_greeting.yaml:8: final_text_contains" in printed
    assert "event log, around the divergence:\n  1 run.started\n  2 run.completed\n" in printed
    assert printed.endswith("repeat: bazel test //gates:tiny_area/greets\n")


@pytest.mark.parametrize(
    ("counterexample", "why", "words"),
    [
        ("answer_lost", "rejected", "rejected for final_text_contains"),
        ("script_edited", "rejected", "rejected for final_text_contains"),
        ("script_longer", "rejected", "rejected for fixture.unconsumed"),
        ("case_misspelt", "rejected", "rejected for schema.unknown_key"),
        ("script_gone", "rejected", "rejected for case.unknown_fixture"),
        ("file_gone", "rejected", "rejected for workspace"),
        ("subject_refuses", "rejected", "rejected for subject.error"),
        ("answer_kept", "not_rejected", "the check passes with the defect in place"),
        ("subject_breaks", "crashed", "ZeroDivisionError"),
        ("not_called", "not_reached", "has no attribute 'unused'"),
        ("unwritten", "not_reached", "has no function 'unwritten'"),
    ],
)
def test_each_end_of_a_twin(gate, counterexample, why, words):
    _, verdict = gate(counterexample)
    result = verdict.counterexample
    assert (result.why, result.rejected) == (why, why == "rejected")
    assert words in result.message
    assert (verdict.id, verdict.milestone) == ("gate.tiny_area.greets", 3)


def test_what_a_defect_changed_is_taken_back(gate):
    gate("answer_lost")
    _, verdict = gate()
    assert verdict.failed_checks() == ()


def test_a_file_that_is_refused_without_a_defect_is_a_definition_error(gate, capsys):
    case = gate.root / "quality/cases/03_greeting.yaml"
    case.write_text(case.read_text().replace("maximum_steps", "maximum_stesp"))
    code, verdict = gate()
    assert (code, verdict) == (4, None)
    assert "quality/cases/03_greeting.yaml:9:3: schema.unknown_key" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("case", "left_out"),
    [("farewell", ()), ("greeting", ("quality/cases/03_greeting.yaml",)), ("reeting", ())],
)
def test_a_case_that_is_not_among_the_files(gate, case, left_out):
    code, verdict = gate(case=case, left_out=left_out)
    assert code == 1
    assert [finding.rule for finding in verdict.findings] == ["check_missing"]
    assert f"the gate's files hold no case '{case}'" in verdict.findings[0].message


def test_the_case_that_is_named_runs_and_no_other(gate):
    _, verdict = gate(case="other")
    assert verdict.seed == "other"


def test_wrong_usage(gate, capsys):
    code, verdict = gate("nobody_declared_this")
    assert (code, verdict) == (2, None)
    assert "declares: answer_lost" in capsys.readouterr().err
