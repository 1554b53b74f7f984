"""The report command from its options to its exit code, with a stand-in for Bazel on disk."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.report_workspace import (
    ENTRY,
    LATER,
    REGISTRY,
    REJECTED,
    SHAPE,
    TWIN,
    Workspace,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


def test_gates_that_hold(workspace):
    done = workspace.report()
    assert done.returncode == 0, done.stderr
    first, _, shape, *_ = done.stdout.splitlines()
    assert first == (
        "Milestone 0: 1 gate: 1 pass, 0 fail, 0 pending  <- the repository's milestone"
    )
    assert shape.split() == [
        "gate.tool.shape",
        "pass",
        "structural",
        "61",
        "files",
        "1/1",
        "cached",
        "0.00",
    ]
    assert done.stdout.endswith("OK: 2 gates: 1 pass, 0 fail, 1 pending\n")
    assert "\x1b" not in done.stdout


def test_a_failing_gate(workspace):
    failing = workspace.passed(SHAPE + TWIN, REJECTED)
    failing[0]["testResult"]["status"] = failing[1]["testSummary"]["overallStatus"] = "TIMEOUT"
    workspace.events(workspace.passed(SHAPE), failing, *workspace.pending())
    workspace.ends("test", 3)
    done = workspace.report()
    assert done.returncode == 1
    assert f"{SHAPE}{TWIN}: failed: it failed (timeout) although its verdict passes" in done.stdout
    assert done.stdout.endswith("NOT OK: 2 gates: 0 pass, 1 fail, 1 pending\n")


def test_a_gate_that_bazel_left_out(workspace):
    workspace.events(workspace.passed(SHAPE), *workspace.pending())
    done = workspace.report("--json", "--failed")
    assert done.returncode == 1
    (row,) = json.loads(done.stdout)["gates"]
    assert [fault["rule"] for fault in row["faults"]] == ["no_result"]


@pytest.mark.parametrize("code", [1, 3])
def test_a_failure_that_no_gate_shows(workspace, code):
    workspace.ends("test", code)
    done = workspace.report()
    assert done.returncode == 1
    said = f"bazel test ended with code {code}, but no gate failed; see its output"
    assert f"PROBLEM\n  //gates/...: bazel_failed: {said}\n" in done.stdout
    assert workspace.report("--no-run").returncode == 1
    assert workspace.report("--no-run", "--area", "tool").returncode == 0


@pytest.mark.parametrize(
    ("options", "tags"),
    [
        (("--area", "tool"), "area:tool,invalid"),
        (("--milestone", "2"), "milestone:2,invalid"),
        (("--kind", "structural", "--milestone", "0"), "milestone:0,invalid"),
        (("--area=tool", "--milestone=0"), "milestone:0,invalid"),
    ],
)
def test_a_selection_runs_only_what_it_shows(workspace, options, tags):
    done = workspace.report(*options)
    assert done.returncode == 0
    assert f"--test_tag_filters={tags}" in workspace.calls()[1].split()
    assert "not the complete report" in done.stdout
    shown = {word for word in done.stdout.split() if word.startswith("gate.")}
    milestone = dict(zip(("0", "2"), ("gate.tool.shape", "gate.tool.later"), strict=True))
    number = next((word[-1] for word in options if word[-1].isdigit()), None)
    assert shown == ({milestone[number]} if number else set(milestone.values()))


def test_a_pending_gate_of_a_selection_that_was_not_skipped(workspace):
    workspace.events(workspace.passed(SHAPE), workspace.passed(SHAPE + TWIN, REJECTED))
    done = workspace.report("--area", "tool")
    assert done.returncode == 1
    said = "pending until milestone 2, so Bazel has to skip it; it has no result"
    assert f"{LATER}: not_skipped: {said}" in done.stdout


def test_no_run_shows_the_last_complete_run(workspace):
    before = workspace.report()
    workspace.events()
    assert workspace.report("--area", "tool").returncode == 1
    again = workspace.report("--no-run")
    assert again.returncode == 0
    head, _, rest = again.stdout.partition("note: ")
    assert before.stdout.startswith(head)
    assert rest.startswith("nothing was run: these are the results of the complete run of 20")
    assert "test" not in [call.split()[0] for call in workspace.calls()[-2:]]
    assert workspace.report("--no-run", "--milestone", "2").returncode == 0


def test_no_run_after_the_registry_grew(workspace):
    workspace.report()
    workspace.write("gates/tool.yaml", REGISTRY + ENTRY.format(slug="added", milestone=0))
    done = workspace.report("--no-run")
    assert done.returncode == 1
    assert "//gates:tool/added: no_target: " in done.stdout


def test_no_run_without_a_run(workspace):
    done = workspace.report("--no-run")
    assert (done.returncode, done.stdout) == (4, "")
    said = "there is no complete run to take results of; try: bazel run //gates:report"
    assert done.stderr.endswith(f"report: {said}\n")


def test_no_run_with_damaged_results(workspace):
    workspace.report()
    file = workspace.fake / "output_base/hardgate/gates/last_run.json"
    file.write_text('{"format": 7}', encoding="utf-8")
    done = workspace.report("--no-run")
    assert done.returncode == 4
    assert "has the format 7; this version reads 1; try: bazel run //gates:report" in done.stderr


def test_results_that_cannot_be_kept_are_a_note(workspace):
    (workspace.fake / "output_base").write_text("a file", encoding="utf-8")
    done = workspace.report()
    assert done.returncode == 0
    assert "note: these results can't be kept for --no-run: " in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--area", "tols"),
            "--area: found 'tols'; did you mean 'tool'?; gates have tool",
        ),
        (("--milestone", "7"), "--milestone: found '7'; gates have 0 or 2"),
        (("--milestone", "-1"), "--milestone: allowed: 0 to 99"),
        (("--milestone", "x"), "argument --milestone: invalid int value: 'x'"),
        (("--kind", "cases"), "--kind: found 'cases'; gates have structural"),
        (("--gates", "/gates"), "--gates: found '/gates'; allowed: a relative path"),
        (("--gates", "quality"), "--gates: found 'quality'; allowed: a relative path"),
        (("--fail",), "unrecognized arguments: --fail"),
        (("surplus",), "unrecognized arguments: surplus"),
    ],
)
def test_wrong_usage(workspace, options, said):
    done = workspace.report(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (workspace.fake / "calls").exists()


def test_a_malformed_registry_is_refused_with_all_its_problems(workspace):
    broken = REGISTRY.replace("kind: structural", "kind: structual")
    workspace.write("gates/tool.yaml", broken)
    workspace.write("gates/MILESTONE", "one\n")
    done = workspace.report()
    assert (done.returncode, done.stdout) == (4, "")
    assert "gates/MILESTONE:1:1: " in done.stderr
    assert "gates/tool.yaml:3:9: " in done.stderr
    assert "gates/tool.yaml:14:9: " in done.stderr
    plain = json.loads(workspace.report("--json").stdout)
    assert (plain["ok"], plain["complete"], plain["milestone"]) == (False, False, None)
    assert [one["place"] for one in plain["problems"]] == [
        "gates/MILESTONE:1:1",
        "gates/tool.yaml:3:9",
        "gates/tool.yaml:14:9",
    ]


def test_a_workspace_without_a_registry(workspace):
    (workspace.folder / "gates/MILESTONE").unlink()
    (workspace.folder / "gates/tool.yaml").unlink()
    done = workspace.report()
    assert done.returncode == 4
    assert "gates:1:1: registry_empty" in done.stderr


def test_a_registry_deeper_in_the_workspace(workspace):
    (workspace.folder / "team").mkdir()
    (workspace.folder / "gates").rename(workspace.folder / "team/gates")
    done = workspace.report("--gates", "team/gates")
    assert done.returncode == 1
    assert workspace.calls()[1].split()[-1] == "//team/gates/..."
    assert "//team/gates:tool/shape: no_target: " in done.stdout
    workspace.write("team/gates/MILESTONE", "one\n")
    done = workspace.report("--gates", "team/gates")
    assert done.returncode == 4
    assert "\nteam/gates/MILESTONE:1:1: " in f"\n{done.stderr}"


def test_outside_git_is_a_note_and_in_ci_a_problem(workspace):
    assert "note: ratchet: no earlier revision to compare the registry with: " in (
        workspace.report().stdout
    )
    done = workspace.report("--json", CI="true")
    assert done.returncode == 1
    assert [one["rule"] for one in json.loads(done.stdout)["problems"]] == ["ratchet_outside_git"]


def git(workspace: Workspace, *words: str) -> None:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com")
    command = ["git", "-C", str(workspace.folder), *identity, *words]
    subprocess.run(command, check=True, capture_output=True, env={"PATH": os.environ["PATH"]})


def test_a_registry_that_asks_for_less_than_before(workspace):
    workspace.write(".gitignore", "/fake\n")
    git(workspace, "init", "--quiet")
    new = workspace.report(CI="true")
    assert new.returncode == 0
    assert "note: ratchet: no earlier revision" in new.stdout
    git(workspace, "add", ".")
    git(workspace, "commit", "--quiet", "--message", "Add the registry")
    workspace.write("gates/tool.yaml", ENTRY.format(slug="shape", milestone=0))
    workspace.targets({SHAPE: 0, SHAPE + TWIN: 0})
    done = workspace.report()
    assert done.returncode == 1
    assert "gates/tool.yaml:1:1: ratchet_gate_removed: found no gate.tool.later" in done.stdout
    assert "note: ratchet: compared with revision " in done.stdout
    assert workspace.report("--base", "HEAD").returncode == 1
    unknown = workspace.report("--base", "nowhere", CI="true")
    assert "ratchet_git_failed: " in unknown.stdout
