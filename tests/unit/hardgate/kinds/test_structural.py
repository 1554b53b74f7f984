"""The process behind a structural gate: its verdict, its exit code, and each end of a twin."""

import json
import sys
from textwrap import dedent

import pytest

from hardgate.kinds import structural
from hardgate.verdicts.verdict import from_json

CHECKS = """
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.kinds.context import Examination
from hardgate.verdicts.verdict import Finding


def limit(value):
    return value <= 3


def numbers(context):
    findings = []
    for path in context.tree.glob("data/*.txt"):
        value = int(context.tree.read(path))
        if value < 0:
            raise ValueError(f"negative: {value}")
        if not limit(value):
            findings.append(Finding(path, 1, "too_large", f"found {value}; allowed: at most 3"))
        if value == 0:
            findings.append(Finding(path, 1, "is_zero", "found 0"))
    return Examination(findings, len(context.tree.glob("data/*.txt")), "numbers")


def endless(context):
    while context.tree.paths():
        pass


def forgetful(context):
    context.tree.read("data/a.txt")


def refusing(context):
    raise DefinitionError([Problem("data/a.txt", 2, 3, "no_number", "found 'x'")])
"""
DEFECTS = """
from gates.checks import sample_area


def enlarged(bench):
    "The number grows past the limit."
    bench.tree.write("data/a.txt", "4")


def reduced(bench):
    "The number becomes zero."
    bench.tree.write("data/a.txt", "0")


def harmless(bench):
    "The number changes within the limit."
    bench.tree.write("data/a.txt", "2")


def elsewhere(bench):
    "A file that nobody reads changes."
    bench.tree.write("other/a.txt", "4")
    bench.tree.read("other/a.txt")


def broken(bench):
    "The number is one that the check cannot handle."
    bench.tree.write("data/a.txt", "-1")


def comparison_swapped(bench):
    "The comparison of the limit is swapped."
    bench.replace(sample_area, "limit", lambda original: lambda value: not original(value))


def place_gone(bench):
    "Edits a text that is not there."
    bench.tree.edit("data/a.txt", "text", "other")


def mistaken(bench):
    "Has a mistake of its own."
    raise KeyError("x")
"""
REASONS = {
    "enlarged": "too_large",
    "reduced": "too_large",
    "harmless": "too_large",
    "elsewhere": "too_large",
    "broken": "too_large",
    "comparison_swapped": "too_large",
    "place_gone": "too_large",
    "mistaken": "too_large",
    "unwritten": "too_large",
    "laid_over": "too_large",
    "laid_empty": "too_large",
}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Runs the program over a small workspace; returns (exit code, verdict or None)."""
    files = {
        "gates/checks/sample_area.py": CHECKS,
        "gates/checks/sample_broken.py": "import no_such_library\n",
        "gates/defects/sample_area.py": DEFECTS,
        "gates/defects/sample_area/laid_over/data/b.txt": "9",
        "data/a.txt": "1",
    }
    for path, content in files.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(content))
    monkeypatch.syspath_prepend(str(tmp_path))
    for package in ("gates.checks", "gates.defects"):
        # Both traces of a module of the test before: the entry, and the name in its package.
        monkeypatch.delitem(sys.modules, f"{package}.sample_area", raising=False)
        if package in sys.modules:
            monkeypatch.delattr(sys.modules[package], "sample_area", raising=False)
    sources = [path for path in files if not path.endswith(".py")]
    lines = [f"{path}\t{tmp_path / path}\n" for path in sources]
    (tmp_path / "manifest").write_text("".join(lines))

    def run(check="gates/checks/sample_area.py::numbers", counterexample=None, *more):
        trees = {"laid_over": "gates/defects/sample_area/laid_over", "laid_empty": "gates/none"}
        entry = {
            "id": "gate.sample_area.numbers",
            "area": "sample_area",
            "slug": "numbers",
            "kind": "structural",
            "milestone": 0,
            "check": check,
            "path": "gates/sample_area.yaml",
            "line": 7,
            "counterexamples": [
                {"name": name, "reason": reason, **({"tree": trees[name]} if name in trees else {})}
                for name, reason in REASONS.items()
            ],
        }
        (tmp_path / "entry.json").write_text(json.dumps(entry))
        out = tmp_path / "verdict.json"
        arguments = [f"--{name}={tmp_path / name}" for name in ("manifest",)]
        arguments += [f"--entry={tmp_path / 'entry.json'}", f"--out={out}", *more]
        if counterexample:
            arguments.append(f"--counterexample={counterexample}")
        code = structural.main(arguments)
        return code, from_json(out.read_text()) if out.exists() else None

    run.root = tmp_path
    return run


def test_a_gate_that_holds(workspace):
    code, verdict = workspace()
    assert (code, verdict.outcome, verdict.examined, verdict.unit) == (0, "pass", 1, "numbers")
    assert (verdict.id, verdict.kind) == ("gate.sample_area.numbers", "structural")
    assert verdict.counterexample is None


def test_a_gate_that_fails_is_a_verdict_and_no_error(workspace):
    (workspace.root / "data/a.txt").write_text("7")
    code, verdict = workspace()
    assert (code, verdict.outcome) == (0, "fail")
    assert [finding.render() for finding in verdict.findings] == [
        "data/a.txt:1: too_large: found 7; allowed: at most 3"
    ]


def test_a_gate_that_examines_nothing_fails(workspace):
    (workspace.root / "manifest").write_text("")
    code, verdict = workspace()
    assert (code, verdict.outcome) == (0, "fail")
    assert [finding.rule for finding in verdict.findings] == ["nothing_examined"]


def test_the_verdict_is_the_same_each_time(workspace):
    workspace()
    first = (workspace.root / "verdict.json").read_bytes()
    workspace()
    assert (workspace.root / "verdict.json").read_bytes() == first
    assert str(workspace.root).encode() not in first


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("gates/checks/sample_area.py::gone", "has no function 'gone'"),
        ("gates/checks/sample_area.py::Finding.render", "has no function"),
        ("gates/checks/no_such_area.py::a", "there is no module gates/checks/no_such_area.py"),
        ("case:sum", "found 'case:sum'"),
        (None, "found no check"),
    ],
)
def test_a_gate_without_its_check_fails_at_its_entry(workspace, check, words):
    code, verdict = workspace(check)
    assert (code, verdict.outcome) == (0, "fail")
    finding = next(one for one in verdict.findings if one.rule == "check_missing")
    assert (finding.path, finding.line) == ("gates/sample_area.yaml", 7)
    assert words in finding.message


@pytest.mark.parametrize(
    ("content", "check", "words"),
    [
        ("-1", "gates/checks/sample_area.py::numbers", "ValueError: negative: -1"),
        ("1", "gates/checks/sample_area.py::forgetful", "not NoneType"),
        ("1", "gates/checks/sample_broken.py::a", "No module named 'no_such_library'"),
    ],
)
def test_a_check_that_crashes_gives_no_verdict(workspace, capsys, content, check, words):
    (workspace.root / "data/a.txt").write_text(content)
    assert workspace(check) == (1, None)
    error = capsys.readouterr().err
    assert words in error
    assert "gate.sample_area.numbers: the check crashed" in error


def test_a_check_that_does_not_end_gives_no_verdict(workspace, capsys):
    check = "gates/checks/sample_area.py::endless"
    assert workspace(check, None, "--limit-seconds=0.05") == (1, None)
    assert "the check took longer than 0.05 seconds" in capsys.readouterr().err


def test_a_malformed_file_of_the_workspace_has_its_own_exit_code(workspace, capsys):
    assert workspace("gates/checks/sample_area.py::refusing") == (4, None)
    assert capsys.readouterr().err == "data/a.txt:2:3: no_number: found 'x'\n"


@pytest.mark.parametrize(
    ("name", "why", "words"),
    [
        ("enlarged", "rejected", "rejected for too_large"),
        ("comparison_swapped", "rejected", "rejected for too_large"),
        ("laid_over", "rejected", "rejected for too_large"),
        ("harmless", "not_rejected", "passes with the defect in place"),
        ("reduced", "other_reason", "expected the reason too_large, found is_zero"),
        ("elsewhere", "not_reached", "without looking"),
        ("place_gone", "not_reached", "occurs 0 times"),
        ("mistaken", "not_reached", "KeyError: 'x'"),
        ("unwritten", "not_reached", "has no function 'unwritten'"),
        ("laid_empty", "not_reached", "holds no file"),
        ("broken", "crashed", "ValueError: negative: -1"),
    ],
)
def test_each_end_of_a_twin(workspace, name, why, words):
    code, verdict = workspace(counterexample=name)
    assert (code, verdict.outcome) == (0, "pass" if why == "rejected" else "fail")
    result = verdict.counterexample
    assert (result.name, result.reason, result.why) == (name, REASONS[name], why)
    assert words in result.message


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("endless", "timed_out"),
        ("forgetful", "crashed"),
        ("refusing", "crashed"),
        ("gone", "crashed"),
    ],
)
def test_a_check_that_does_not_run_to_its_end_rejects_nothing(workspace, check, why):
    path = f"gates/checks/sample_area.py::{check}"
    code, verdict = workspace(path, "enlarged", "--limit-seconds=0.05")
    assert (code, verdict.outcome, verdict.counterexample.why) == (0, "fail", why)


def test_the_findings_of_a_twin_are_those_of_the_check(workspace):
    _, verdict = workspace(counterexample="enlarged")
    assert [finding.rule for finding in verdict.findings] == ["too_large"]
    assert (verdict.examined, verdict.unit) == (1, "numbers")


def test_an_unknown_counterexample_is_wrong_usage(workspace, capsys):
    assert workspace(counterexample="enlargd") == (2, None)
    assert "has no counterexample 'enlargd'; it declares: enlarged, reduced" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("entry.json", "{", "not a registry entry: JSONDecodeError"),
        ("entry.json", '{"id": "gate.a.b"}', "not a registry entry: KeyError: 'area'"),
        ("entry.json", "[1]", "not a registry entry: "),
        ("entry.json", None, "FileNotFoundError"),
        ("manifest", "a b\nc\td\n\te\n", "manifest:1: expected PATH<TAB>REAL_PATH"),
        ("manifest", None, "FileNotFoundError"),
    ],
)
def test_files_that_are_not_what_they_should_be(workspace, capsys, name, content, words):
    workspace()
    (workspace.root / name).unlink()
    if content is not None:
        (workspace.root / name).write_text(content)
    arguments = [f"--{part}={workspace.root / part}" for part in ("manifest", "out")]
    code = structural.main([*arguments, f"--entry={workspace.root / 'entry.json'}"])
    error = capsys.readouterr().err
    assert (code, "Traceback" in error) == (2, False)
    assert words in error
