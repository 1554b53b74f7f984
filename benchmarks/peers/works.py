"""The works that all tools do, and how one of them is measured in this process.

Imported by the suites only: each is the same works in the words of one tool, and is started as

    python3 NAME_suite.py WORK CASES

It prints one line of JSON with seconds of wall and CPU time, CPU being that of all threads.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

WARM_UP_CASES = 20
WRONG = "no answer has this"


class Work(NamedTuple):
    """One scripted conversation and what is expected of it.

    `expression` is what the scripted model gives to the calculator before it answers; None where it
    answers at once. Each expectation that is not None is one check.
    """

    name: str
    question: str
    expression: str | None
    answer: str
    expected_text: str
    expected_expression: str | None


def works() -> dict[str, Work]:
    """The works by name."""
    file = Path(__file__).with_name("works.json")
    values = json.loads(file.read_text(encoding="utf-8"))
    return {name: Work(name=name, **value) for name, value in values.items()}


def calculate(expression: str) -> str:
    """Multiplies two whole numbers.

    Args:
        expression: Two whole numbers with a * between them.
    """
    left, _, right = expression.partition("*")
    return str(int(left) * int(right))


def wrong_works(work: Work) -> dict[str, Work]:
    """The same work with one expectation each that does not hold."""
    wrong = {"expected_text": work._replace(expected_text=WRONG)}
    if work.expected_expression is not None:
        wrong["expected_expression"] = work._replace(expected_expression=WRONG)
    return wrong


class Runner(NamedTuple):
    """How one tool does a work.

    `prepare` makes a suite of so many cases, in the form that the tool runs; `run` runs it and
    returns how many of its cases passed all their checks. `write_files` is called before, for a
    tool that reads its cases.
    """

    prepare: Callable[[Work, int], Any]
    run: Callable[[Any], int]
    write_files: Callable[[Work, int], None] = lambda work, count: None


def main(runner: Runner) -> None:
    """Measures what the command line names."""
    name, count = sys.argv[1], int(sys.argv[2])
    with redirect_stdout(sys.stderr):  # some of the tools talk
        found = measure(works()[name], count, runner)
    print(json.dumps(found))


def passed_cases(runner: Runner, work: Work, count: int) -> int:
    """How many cases of a small suite pass, without a look at the time."""
    runner.write_files(work, count)
    return runner.run(runner.prepare(work, count))


def measure(work: Work, count: int, runner: Runner) -> dict[str, float]:
    """Seconds of `count` cases after a warm-up. Exits where a check is not able to fail."""
    for expectation, wrong in wrong_works(work).items():
        passed = passed_cases(runner, wrong, WARM_UP_CASES)
        if passed:
            sys.exit(f"{passed} of {WARM_UP_CASES} cases passed with a wrong {expectation}")
    passed_cases(runner, work, WARM_UP_CASES)
    runner.write_files(work, count)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    suite = runner.prepare(work, count)
    prepared_wall, prepared_cpu = time.perf_counter(), time.process_time()
    passed = runner.run(suite)
    done_wall, done_cpu = time.perf_counter(), time.process_time()
    if passed != count:
        sys.exit(f"{passed} of {count} cases passed")
    return {
        "prepare_wall": prepared_wall - wall,
        "prepare_cpu": prepared_cpu - cpu,
        "run_wall": done_wall - prepared_wall,
        "run_cpu": done_cpu - prepared_cpu,
    }
