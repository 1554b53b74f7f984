"""Hardgate and four peers on the same work, side by side in one run.

`bazel run //benchmarks:peers -- [--rounds N] [--cases N ...] [--scratch DIR] [--json]`

In process: each tool runs suites of equal cases in a process that is warm, and that has seen before
that its checks are able to fail. Command line: one case, from start to exit. The tools take turns
in every round and a ratio compares two runs of one round; the tables have the medians. README.md
beside this file says what is compared and what is not.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench import progress, show
from benchmarks.peers.install import HERE, WORKSPACE, Installed, install, versions

OURS = "hardgate"
SUITES = {
    OURS: ("python", "hardgate_suite.py"),
    "inspect_ai": ("python", "inspect_ai_suite.py"),
    "pydantic-evals": ("python", "pydantic_evals_suite.py"),
    "deepeval": ("python", "deepeval_suite.py"),
    "promptfoo": ("node", "promptfoo_suite.mjs"),
}
# The command that runs one case of the work with a tool, and what it prints when that has passed.
COMMANDS = {
    OURS: ("python -m agent_cli eval run --milestone 1 --workspace", "OK: 1 pass, 0 fail"),
    "inspect_ai": (
        "inspect eval inspect_ai_suite.py@one_case --display plain --log-dir memory://logs",
        "accuracy           1.000",
    ),
    "pydantic-evals": ("python pydantic_evals_suite.py --one-case", "1 passed"),
    "deepeval": ("deepeval test run test_deepeval_one_case.py", "Passed: 1 | Failed: 0"),
    "promptfoo": (
        "promptfoo eval -c promptfoo_suite.mjs --no-cache --no-write --no-progress-bar --no-table",
        "1 passed (100%)",
    ),
}
LIMIT_SECONDS = 1800


Sample = Mapping[str, float]


class Done(NamedTuple):
    """What a process that ended well took, in seconds of wall and CPU time, and what it printed."""

    took: Sample
    output: str


def run_process(line: Sequence[str], installed: Installed, folder: Path) -> Done:
    """Runs a process to its end; ends the program where it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        line,
        cwd=folder,
        env=installed.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        said = done.stdout[-4000:] + done.stderr[-4000:]
        sys.exit(f"{' '.join(line)}\nended with {done.returncode}:\n{said}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Done({"wall": wall, "cpu": cpu}, done.stdout)


def in_turn(number: int) -> list[str]:
    """The tools in the order of one round; another one begins each time."""
    tools = list(SUITES)
    first = number % len(tools)
    return tools[first:] + tools[:first]


def median(samples: Sequence[Sample], column: str) -> float:
    """The median of one column."""
    return statistics.median(sample[column] for sample in samples)


def ratio(peer: Sequence[Sample], ours: Sequence[Sample], column: str) -> float:
    """The median of the ratios of the rounds, in one column."""
    pairs = zip(peer, ours, strict=True)
    return statistics.median(one[column] / other[column] for one, other in pairs)


def suite_milliseconds(tool: str, work: str, count: int, installed: Installed) -> Sample:
    """Milliseconds for each case of one suite in a new process, by step and clock."""
    program, file = SUITES[tool]
    line = [program, str(installed.suites / file), work, str(count)]
    done = run_process(line, installed, WORKSPACE)
    for left in installed.temporary.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    seconds = json.loads(done.output.splitlines()[-1])
    found = {name: value * 1000 / count for name, value in seconds.items()}
    return found | {"both_cpu": found["prepare_cpu"] + found["run_cpu"]}


def compare_suites(
    work: str, count: int, rounds: int, installed: Installed
) -> list[dict[str, object]]:
    """A row for each tool with one work and size."""
    samples: dict[str, list[Sample]] = {tool: [] for tool in SUITES}
    for number in range(rounds):
        for tool in in_turn(number):
            progress(f"{work}, {count} cases, round {number + 1} of {rounds}: {tool}")
            samples[tool].append(suite_milliseconds(tool, work, count, installed))
    ours = samples[OURS]
    return [
        {
            "tool": tool,
            "work": work,
            "cases": count,
            "CPU ms": median(found, "run_cpu"),
            "wall ms": median(found, "run_wall"),
            "prepare, CPU ms": median(found, "prepare_cpu"),
            "CPU ratio": ratio(found, ours, "run_cpu"),
            "wall ratio": ratio(found, ours, "run_wall"),
            "CPU ratio, both": ratio(found, ours, "both_cpu"),
        }
        for tool, found in samples.items()
    ]


def compare_commands(rounds: int, installed: Installed) -> list[dict[str, object]]:
    """A row for each tool's command. The first round fills caches and does not count."""
    samples: dict[str, list[Sample]] = {tool: [] for tool in SUITES}
    write = ["python", str(installed.suites / "hardgate_suite.py"), "--write"]
    workspace = run_process(write, installed, WORKSPACE).output.split()
    for number in range(-1, rounds):
        for tool in in_turn(number):
            progress(f"command line, round {number + 1} of {rounds}: {tool}")
            line, says = COMMANDS[tool]
            words = line.split() + (workspace if tool == OURS else [])
            done = run_process(words, installed, installed.suites)
            if says not in done.output:
                sys.exit(f"{tool} does not say that its case passed:\n{done.output[-4000:]}")
            if number >= 0:
                samples[tool].append(done.took)
    ours = samples[OURS]
    return [
        {
            "tool": tool,
            "CPU s": median(found, "cpu"),
            "wall s": median(found, "wall"),
            "CPU ratio": ratio(found, ours, "cpu"),
            "wall ratio": ratio(found, ours, "wall"),
        }
        for tool, found in samples.items()
    ]


def main() -> None:
    """Parses the options, installs what is missing, measures and prints."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    place = Path(cache) / "hardgate" / "benchmarks" / "peers"
    summary = __doc__.split("\n", 1)[0]
    parser = argparse.ArgumentParser(prog="peers", description=summary)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument(
        "--cases",
        type=int,
        nargs="+",
        default=[200, 2000],
        metavar="N",
        help="sizes of the suites (default 200 2000)",
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        default=place,
        help=f"where the peers are installed (default {place})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    if min(options.rounds, *options.cases) < 1:
        parser.error("--rounds and --cases: at least 1")
    installed = install(options.scratch.absolute())
    works = json.loads((HERE / "works.json").read_text(encoding="utf-8"))
    suites: list[dict[str, object]] = []
    for work in works:
        for count in options.cases:
            suites += compare_suites(work, count, options.rounds, installed)
    starts = compare_commands(options.rounds, installed)
    if options.json:
        print(json.dumps({"versions": versions(), "suites": suites, "commands": starts}, indent=1))
        return
    print(", ".join(f"{tool} {version}" for tool, version in versions().items()))
    print("\nSuites in process, for each case")
    show(suites, as_json=False)
    print("\nThe command line, one case")
    show(starts, as_json=False)


if __name__ == "__main__":
    main()
