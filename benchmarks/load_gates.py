"""How the time from the registry to loaded and analysed targets grows with the number of gates.

`bazel run //benchmarks:load_gates -- [--gates N ...] [--json]`

A workspace that depends on Hardgate is generated for each size: structural gates with a check and a
counterexample, a hundred in a file. Measured are the index alone (the script that reads the YAML),
the first query of all targets and the same again, the first analysis, and a query after an edit of
one file. What is downloaded and installed is there before. The last column compares the cost of a
gate at this size with that at the size before: 1 is linear growth, less is better than that.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import yaml

from benchmarks.bench import Bazel, progress, scratch_folder, show

HARDGATE = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
GATES_IN_A_FILE = 100
REPEATS = 5
EVERYTHING = "kind(test, //gates:*)"
MODULE = """
module(name = "scale")
bazel_dep(name = "hardgate", version = "0.1.0")
local_path_override(module_name = "hardgate", path = "{hardgate}")
gates = use_extension("@hardgate//tools:extensions.bzl", "gates")
gates.declare(name = "scale_gates", root = "//:MODULE.bazel")
use_repo(gates, "scale_gates")
"""
BUILD = """
load("@scale_gates//:index.bzl", "INDEX")
load("@hardgate//tools:defs.bzl", "hardgate_gates")
hardgate_gates(name = "gates", index = INDEX)
filegroup(name = "sources", srcs = ["MILESTONE"])
"""
ENTRY = """
- id: gate.area{area}.gate{number}
  milestone: {milestone}
  kind: structural
  spec: docs/specs/area{area}.md#hard-gates
  statement: The promise number {number} of area {area} holds.
  check: gates/checks/area{area}.py::gate{number}
  sources: [//gates:sources]
  counterexamples:
    - name: broken
      reason: promise_broken
"""
STEPS = ("index", "first query", "next query", "first analysis", "query after an edit")


def write_gates(workspace: Path, count: int) -> None:
    """Writes a registry of `count` gates over ten milestones."""
    for start in range(0, count, GATES_IN_A_FILE):
        area = start // GATES_IN_A_FILE
        numbers = range(start, min(start + GATES_IN_A_FILE, count))
        entries = [ENTRY.format(area=area, number=one, milestone=one % 10) for one in numbers]
        file = workspace / "gates" / f"area{area}.yaml"
        file.write_text("".join(entries), encoding="utf-8")


def write_workspace(workspace: Path) -> None:
    """Writes a workspace with one gate, so that all that is installed once can be installed."""
    for folder in ("gates", "evals"):
        (workspace / folder).mkdir(parents=True)
    module = MODULE.format(hardgate=HARDGATE)
    (workspace / "MODULE.bazel").write_text(module, encoding="utf-8")
    (workspace / "BUILD.bazel").touch()
    shutil.copyfile(HARDGATE / ".bazelrc", workspace / ".bazelrc")
    (workspace / "gates" / "BUILD.bazel").write_text(BUILD, encoding="utf-8")
    (workspace / "gates" / "MILESTONE").write_text("9\n", encoding="utf-8")
    write_gates(workspace, 1)


def index_seconds(workspace: Path) -> float:
    """The script alone, started as the repository rule starts it."""
    options = [f"--source={HARDGATE / 'src'}", f"--yaml={Path(yaml.__file__).parents[1]}"]
    options += [f"--root={workspace}", "--gates=gates", "--evals=evals"]
    options.append(f"--out={workspace / 'index.bzl'}")
    script = HARDGATE / "tools/private/index.py"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-B", script, *options], check=True)
    return time.perf_counter() - start


def edited_query_seconds(bazel: Bazel, number: int) -> float:
    """A query after a change of one entry of the first file."""
    file = bazel.workspace / "gates" / "area0.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("holds.", f"holds, edit {number}.", 1), encoding="utf-8")
    return bazel.run("query", EVERYTHING)[0]


def measure(count: int) -> dict[str, float]:
    """Seconds of each step at one size, on a server and in a workspace of its own."""
    scratch = scratch_folder(f"load_{count}")
    workspace = scratch / "workspace"
    write_workspace(workspace)
    with Bazel(workspace, scratch) as bazel:
        bazel.run("build", "--nobuild", "//gates:all")
        write_gates(workspace, count)
        found = {"index": statistics.median(index_seconds(workspace) for _ in range(REPEATS))}
        found["first query"], targets = bazel.run("query", EVERYTHING)
        if len(targets.splitlines()) < 2 * count:
            sys.exit(f"{count} gates gave {len(targets.splitlines())} tests; expected two for each")
        again = [bazel.run("query", EVERYTHING)[0] for _ in range(REPEATS)]
        found["next query"] = statistics.median(again)
        found["first analysis"], _ = bazel.run("build", "--nobuild", "//gates/...")
        edits = [edited_query_seconds(bazel, number) for number in range(REPEATS)]
        found["query after an edit"] = statistics.median(edits)
    return found


def main() -> None:
    """Parses the options, measures each size and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    sizes = {"type": int, "nargs": "+", "default": [100, 1000, 10000], "metavar": "N"}
    parser.add_argument("--gates", help="numbers of gates (default 100 1000 10000)", **sizes)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    before: tuple[int, dict[str, float]] | None = None
    for count in options.gates:
        progress(f"measuring {count} gates")
        found = measure(count)
        for step in STEPS:
            row: dict[str, object] = {"gates": count, "step": step, "seconds": found[step]}
            growth = found[step] / before[1][step] / (count / before[0]) if before else None
            rows.append(row | {"growth per gate": growth})
        before = (count, found)
    show(rows, options.json)


if __name__ == "__main__":
    main()
