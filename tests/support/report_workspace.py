"""A workspace to report on, with a stand-in for Bazel on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
_FAKE_BAZEL = """\
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
_NETWORK = {
    "off": True,
    "ways_out": [],
    "attempts": dict.fromkeys(("dns", "tcp", "tcp_ipv6", "udp"), "ENETUNREACH"),
    "rule": "",
    "message": "",
}
_VERDICT = {
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
    "network": _NETWORK,
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
        self.bazel.write_text(_FAKE_BAZEL.format(here=self.fake), encoding="utf-8")
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
        made = _VERDICT | {"counterexample": counterexample} | values
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
        return [
            sys.executable,
            "-m",
            "hardgate.report",
            "--bazel",
            str(self.bazel),
            *options,
        ]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        found = {
            "BUILD_WORKSPACE_DIRECTORY": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return {**kept, "PYTHONPATH": os.pathsep.join(sys.path), **found, **more}

    def report(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*options),
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            check=False,
        )
