"""The report command from its options to its exit code, with a stand-in for Bazel on disk."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENTRY = """\
- id: gate.tool.{slug}
  milestone: {milestone}
  kind: structural
  spec: docs/specs/tool_system.md#hard-gates
  statement: Every outcome has one shape.
  check: gates/checks/tool.py::shape
  sources:
    - //src:sources
  counterexamples:
    - name: dropped
      reason: shape_lost
"""
REGISTRY = ENTRY.format(slug="shape", milestone=0) + ENTRY.format(slug="later", milestone=2)
SHAPE, LATER = "//gates:tool/shape", "//gates:tool/later"
TWIN = ".counterexample.dropped"

# Answers what the report asks of Bazel out of files beside it, and notes how it was called.
FAKE_BAZEL = """\
#!/bin/sh
here={here}
echo "$@" >> $here/calls
echo "this is progress" >&2
case $1 in
  query) cat $here/query.json; exit $(cat $here/query.code) ;;
  info) echo $here/output_base; exit $(cat $here/info.code) ;;
  test)
    if [ -e $here/wait ]; then
      trap 'echo stopped > $here/stopped; exit 8' INT
      : > $here/started
      sleep 60
    fi
    for word in "$@"; do
      case $word in --build_event_json_file=*) cp $here/events.json "${{word#*=}}" ;; esac
    done
    echo "this is what a test prints"
    exit $(cat $here/test.code) ;;
esac
"""
NETWORK = {
    "off": True,
    "ways_out": [],
    "attempts": dict.fromkeys(("dns", "tcp", "tcp_ipv6", "udp"), "ENETUNREACH"),
    "rule": "",
    "message": "",
}
VERDICT = {
    "id": "gate.tool.shape",
    "kind": "structural",
    "milestone": 0,
    "outcome": "pass",
    "checks": [],
    "findings": [],
    "examined": 61,
    "unit": "files",
    "trials": None,
    "seed": None,
    "network": NETWORK,
    "counterexample": None,
    "limits_hit": [],
    "subject": None,
    "harness": "0.1.0",
}
REJECTED = {
    "name": "dropped",
    "reason": "shape_lost",
    "rejected": True,
    "why": "rejected",
    "message": "",
}


class Workspace:
    """A workspace with a registry of two gates and a Bazel that answers from files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fake = folder / "fake"
        self.fake.mkdir(parents=True)
        self.bazel = self.fake / "bazel"
        self.bazel.write_text(FAKE_BAZEL.format(here=self.fake), encoding="utf-8")
        self.bazel.chmod(0o755)
        self.write("gates/MILESTONE", "0\n")
        self.write("gates/tool.yaml", REGISTRY)
        for command in ("query", "info", "test"):
            self.ends(command, 0)
        self.targets({SHAPE: 0, LATER: 2, SHAPE + TWIN: 0, LATER + TWIN: 2})
        self.events(self.passed(SHAPE), self.passed(SHAPE + TWIN, REJECTED), *self.pending())

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def ends(self, command: str, code: int) -> None:
        (self.fake / f"{command}.code").write_text(str(code), encoding="utf-8")

    def targets(self, milestones: dict[str, int]) -> None:
        """What the query answers: labels and their milestones."""
        lines = []
        for label, milestone in milestones.items():
            tags = ["area:tool", "gate", "kind:structural", f"milestone:{milestone}"]
            tags += ["counterexample"] if TWIN in label else []
            attribute = {"name": "tags", "stringListValue": tags}
            rule = {"name": label, "ruleClass": "gate_test", "attribute": [attribute]}
            lines.append(json.dumps({"type": "RULE", "rule": rule}))
        (self.fake / "query.json").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def events(self, *groups: list[dict]) -> None:
        lines = [json.dumps(event) for group in groups for event in group]
        (self.fake / "events.json").write_text("\n".join(lines), encoding="utf-8")

    def passed(self, label: str, counterexample: dict | None = None, **values) -> list[dict]:
        outputs = self.fake / "outputs" / label.replace("/", "_").replace(":", "_")
        outputs.mkdir(parents=True, exist_ok=True)
        made = VERDICT | {"counterexample": counterexample} | values
        (outputs / "verdict.json").write_text(json.dumps(made), encoding="utf-8")
        files = [{"name": "test.outputs", "uri": outputs.as_uri()}]
        result = {"status": "PASSED", "testActionOutput": files, "cachedLocally": True}
        summary = {"overallStatus": "PASSED"}
        return [
            {"id": {"testResult": {"label": label}}, "testResult": result},
            {"id": {"testSummary": {"label": label}}, "testSummary": summary},
        ]

    def pending(self) -> list[list[dict]]:
        about = ({"targetCompleted": {"label": label}} for label in (LATER, LATER + TWIN))
        return [[{"id": one, "aborted": {"reason": "SKIPPED"}} for one in about]]

    def calls(self) -> list[str]:
        """The commands that Bazel was given, one a line."""
        return (self.fake / "calls").read_text(encoding="utf-8").splitlines()

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "hardgate.report", "--bazel", str(self.bazel), *options]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        found = {"BUILD_WORKSPACE_DIRECTORY": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**kept, "PYTHONPATH": os.pathsep.join(sys.path), **found, **more}

    def report(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*options),
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            check=False,
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


def test_bazel_s_output_and_progress_are_on_stderr(workspace):
    done = workspace.report("--json")
    assert json.loads(done.stdout)["ok"] is True
    assert "this is what a test prints" in done.stderr
    assert "this is progress" in done.stderr


def test_what_bazel_is_asked(workspace):
    workspace.report("--bazel-flag=--config=ci", "--bazel-flag=--jobs=2")
    query, test, info = workspace.calls()
    assert query.startswith('query attr(tags, "[\\[ ]gate[,\\]]", tests(//gates/...)) ')
    words = test.split()
    assert words[0] == "test"
    assert "--test_tag_filters=gate" in words
    assert "--remote_download_outputs=toplevel" in words
    assert words[-4:] == ["--config=ci", "--jobs=2", "--", "//gates/..."]
    assert info.startswith("info output_base")


def test_bazel_does_not_inherit_the_import_path(workspace):
    workspace.bazel.write_text(
        f"#!/bin/sh\nenv > {workspace.fake}/environment\nexit 1\n", encoding="utf-8"
    )
    workspace.report(RUNFILES_DIR="/x", JAVA_RUNFILES="/x", KEPT="yes")
    names = (workspace.fake / "environment").read_text(encoding="utf-8")
    assert "KEPT=yes" in names
    assert "PYTHONPATH" not in names
    assert "RUNFILES" not in names


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
        (("--area", "tols"), "--area: found 'tols'; did you mean 'tool'?; gates have tool"),
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


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("query", 7, "the query for gates ended with code 7; try: bazel query "),
        ("test", 2, "bazel test ended with code 2; try: bazel test --x //gates/..."),
        ("test", 8, "bazel test ended with code 8; try: bazel test --x //gates/..."),
        ("test", 37, "bazel test ended with code 37; try: bazel test --x //gates/..."),
        ("info", 36, "bazel info ended with code 36; try: bazel info output_base"),
    ],
)
def test_bazel_could_not_do_it(workspace, command, code, said):
    workspace.ends(command, code)
    done = workspace.report("--bazel-flag=--x", "--json")
    assert done.returncode == 4
    assert said in done.stderr
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["rule"] == "bazel_failed"
    assert problem["message"].startswith(said)


def test_a_build_that_failed_before_it_spoke_of_a_target(workspace):
    workspace.events()
    workspace.ends("test", 1)
    done = workspace.report()
    assert done.returncode == 4
    assert "bazel test ended with code 1" in done.stderr


def test_no_bazel(workspace):
    done = workspace.report("--bazel", "/no/such/bazel", "--json")
    assert done.returncode == 5
    assert "report: --bazel: found no program /no/such/bazel" in done.stderr
    assert json.loads(done.stdout)["problems"][0]["rule"] == "no_bazel"


def test_a_named_bazel_is_found_from_the_folder_of_the_caller(workspace):
    def report(bazel, caller):
        command = [bazel if word == str(workspace.bazel) else word for word in workspace.command()]
        environment = workspace.environment(BUILD_WORKING_DIRECTORY=str(caller))
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )

    assert report("./bazel", workspace.fake).returncode == 0
    assert report("../fake/bazel", workspace.folder / "gates").returncode == 0
    missed = report("./bazel", workspace.folder)
    assert missed.returncode == 5
    assert "report: --bazel: found no program ./bazel" in missed.stderr


def test_the_workspace_s_own_bazelw_comes_first(workspace):
    workspace.bazel.rename(workspace.folder / "bazelw")
    command = [
        word for word in workspace.command() if word not in ("--bazel", str(workspace.bazel))
    ]
    done = subprocess.run(
        command, env=workspace.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    (workspace.folder / "bazelw").unlink()
    done = subprocess.run(
        command,
        env=workspace.environment(PATH="/none"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert f"found no Bazel: no {workspace.folder}/bazelw, and neither bazel" in done.stderr


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


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_on_a_terminal_only(workspace, no_color, coloured):
    leader, follower = os.openpty()
    environment = workspace.environment(NO_COLOR=no_color)
    subprocess.run(
        workspace.command(), env=environment, stdout=follower, stderr=subprocess.DEVNULL, check=True
    )
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert ("\x1b[32mpass\x1b[0m" in shown) is coloured


def test_a_reader_that_has_had_enough(workspace):
    process = subprocess.Popen(
        workspace.command(),
        env=workspace.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


def test_an_interrupt_waits_for_bazel_and_leaves_no_traceback(workspace):
    (workspace.fake / "wait").touch()
    process = subprocess.Popen(
        workspace.command(),
        env=workspace.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (workspace.fake / "started").exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=50)
    assert (process.returncode, out) == (130, "")
    assert errors.endswith("report: interrupted\n")
    assert "Traceback" not in errors
    assert (workspace.fake / "stopped").exists()
