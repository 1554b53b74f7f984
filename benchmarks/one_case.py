"""What one case costs in a process that is already warm, in CPU time.

`bazel run //benchmarks:one_case -- [--repeats N] [--json]`

The runtime, its policy, the event log, the expectations and the verdict, all in memory: what
`run_case` does with a case that has been read. Reading it, with its fixtures, is a row of its own.
After a warm-up the cases take turns, so that a change of the machine's pace meets them alike. Every
run has to pass its checks; the network is not looked at, which a process does once for all cases.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from agent_cli.subject import reference_subject
from benchmarks.bench import progress, show
from hardgate.kinds.case import collect, run_case
from hardgate.verdicts.verdict import Verdict

FIXTURES = "evals/fixtures"
CASES = {
    "direct answer": "evals/cases/01_direct_response.yaml",
    "one tool call": "evals/cases/02_calculator_tool.yaml",
    "two tool calls": "evals/cases/03_sequential_reads.yaml",
    "five model turns, four tool calls": "evals/cases/11_repeated_call.yaml",
}
WARM_UP = 50
TARGET_MILLISECONDS = 5.0
Result = TypeVar("Result")


def cpu_milliseconds(function: Callable[[], Result]) -> tuple[float, Result]:
    """The CPU time of one call, in this process, and what it returned."""
    start = time.process_time_ns()
    result = function()
    return (time.process_time_ns() - start) / 1e6, result


def must_pass(name: str, verdict: Verdict) -> None:
    """Ends the program for a case that fails, or that nothing was checked of."""
    wrong = [check.name for check in verdict.failed_checks()]
    wrong += [finding.rule for finding in verdict.findings]
    if not verdict.checks or not verdict.passed:
        sys.exit(f"the case '{name}' fails: {', '.join(wrong) or 'it has no checks'}")


def measure(repeats: int) -> list[dict[str, object]]:
    """A row for each case and step: medians over `repeats` runs."""
    subject = reference_subject()
    times: dict[tuple[str, str], list[float]] = {}
    checks: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as workspace:
        for number in range(-WARM_UP, repeats):
            for name, path in CASES.items():
                read, case = cpu_milliseconds(partial(collect, path, FIXTURES, subject))
                run, result = cpu_milliseconds(partial(run_case, case, subject, workspace, None))
                must_pass(name, result.verdict)
                checks[name] = len(result.verdict.checks)
                if number >= 0:
                    times.setdefault((name, "run and judge"), []).append(run)
                    times.setdefault((name, "read"), []).append(read)
            if number >= 0 and (number + 1) % 100 == 0:
                progress(f"repeat {number + 1} of {repeats}")
    return [
        {
            "case": name,
            "step": step,
            "checks": checks[name],
            "CPU ms": statistics.median(found),
            "9 of 10 below": statistics.quantiles(found, n=10)[-1],
            "target ms": TARGET_MILLISECONDS if step == "run and judge" else None,
        }
        for (name, step), found in times.items()
    ]


def main() -> None:
    """Parses the options, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=500, help="runs of each (default 500)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.repeats < 2:
        parser.error("--repeats: at least 2")
    os.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    show(measure(options.repeats), options.json)


if __name__ == "__main__":
    main()
