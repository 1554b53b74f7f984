"""What one cold target costs, beside an empty sandboxed target, in the same run.

`bazel run //benchmarks:cold_target -- [--rounds N] [--json]`

In each round every target runs once, one after the other and none from a cache: an empty test that
imports pydantic and yaml (started the lean way, and by py_test), a case, a structural gate with its
build action. The time of a target is that of its actions in Bazel's profile: the sandbox, the
process, and what Bazel does with the result; loading and analysis are not in it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bazel, progress, scratch_folder, show

EMPTY = "//benchmarks:empty"
CASE = "//evals:cases/calculator_tool"
GATE = "//gates:harness/id_grammar"
NAMES = {
    EMPTY: "empty target",
    "//benchmarks:empty_py_test": "empty target, by py_test",
    CASE: "case",
    GATE: "structural gate, action and test",
    f"{GATE} test": "structural gate, its test alone",
}
TESTS = [label for label in NAMES if " " not in label]
RUN = ["--nocache_test_results", "--jobs=1", "--//gates:milestone=1"]


def actions(profile: Path) -> Iterator[tuple[str, str, float, float]]:
    """The test and gate actions of a Bazel profile: mnemonic, label, seconds, seconds of processes."""
    with gzip.open(profile, "rt", encoding="utf-8") as file:
        events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    processes = [event for event in events if event["name"] == "subprocess.run"]
    for event in events:
        mnemonic = event.get("args", {}).get("mnemonic", "")
        if event["cat"] != "action processing" or mnemonic not in ("GateCheck", "TestRunner"):
            continue
        end = event["ts"] + event["dur"]
        inside = [one["dur"] for one in processes if event["ts"] <= one["ts"] < end]
        label = event["name"].partition(" ")[2]
        yield mnemonic, label, event["dur"] / 1e6, sum(inside) / 1e6


def one_round(bazel: Bazel, profile: Path) -> dict[str, list[float]]:
    """Runs every target once; returns {target: [seconds, seconds of its processes]}."""
    verdict = bazel.output(f"{GATE}.verdict.json")
    verdict.unlink()  # so that the action has to run again
    bazel.run("test", *RUN, f"--profile={profile}", *TESTS)
    found: dict[str, list[float]] = {target: [0.0, 0.0] for target in NAMES}
    for mnemonic, label, total, process in actions(profile):
        targets = [label.removesuffix(".verdict")]
        if label == GATE and mnemonic == "TestRunner":
            targets.append(f"{GATE} test")
        for target in targets:
            found[target][0] += total
            found[target][1] += process
    absent = [target for target, (total, _) in found.items() if not total]
    if absent:
        raise SystemExit(f"Bazel's profile has no action of {', '.join(absent)}")
    return found


def measure(rounds: int) -> list[dict[str, object]]:
    """A row for each target: medians, and the ratio to the empty target's."""
    scratch = scratch_folder("cold_target")
    samples: dict[str, list[list[float]]] = {target: [] for target in NAMES}
    with Bazel(Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]), scratch) as bazel:
        progress("building the targets")
        bazel.run("test", *RUN, *TESTS)
        for number in range(rounds):
            for target, times in one_round(bazel, scratch / "profile.gz").items():
                samples[target].append(times)
            progress(f"round {number + 1} of {rounds}")
    rows = []
    for target, name in NAMES.items():
        totals = [total for total, _ in samples[target]]
        ratios = [total / empty[0] for total, empty in zip(totals, samples[EMPTY], strict=True)]
        rows.append(
            {
                "target": name,
                "seconds": statistics.median(totals),
                "least": min(totals),
                "most": max(totals),
                "in processes": statistics.median(process for _, process in samples[target]),
                "times the empty one": statistics.median(ratios),
            }
        )
    return rows


def main() -> None:
    """Parses the options, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=15, help="runs of each target (default 15)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    show(measure(options.rounds), options.json)


if __name__ == "__main__":
    main()
