"""The process of a gate that runs in its own test: property and corpus gates, and gates of cases.

It runs the check, or the check with one defect in place, proves that the network is off, and
publishes the verdict. Exit codes: 0 the verdict passes, 1 it fails or the check crashed, 2 usage,
4 a file of the workspace is malformed.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import ManifestTree, Tree
from hardgate.kinds.entry import (
    GateEntry,
    MissingCodeError,
    UsageError,
    one_line,
    read_entry,
    read_manifest,
)
from hardgate.kinds.twin import run_twin
from hardgate.verdicts.network import prove
from hardgate.verdicts.output import Start, publish
from hardgate.verdicts.time_limit import TimeLimitReached, time_limit
from hardgate.verdicts.verdict import Finding, Verdict, conclude, with_network

FAILED, USAGE, DEFINITION = 1, 2, 4
CHECK_CRASHED = "check_crashed"
CHECK_MISSING = "check_missing"
TIME_LIMIT = "time_limit_seconds"
DEFAULT_LIMIT_SECONDS = 240.0


@dataclass(frozen=True)
class Options:
    """What the command line says. `seed` is None where the gate's own seed is to be used."""

    entry: GateEntry
    tree: Tree
    repeat: str
    counterexample: str | None
    seed: int | None


Runner = Callable[[GateEntry, Tree, Options], Verdict]


def run_process(
    program: str,
    runner: Runner,
    argv: Sequence[str] | None = None,
    excerpt: Callable[[], str] = str,
) -> int:
    """The whole life of one test process; returns the exit code.

    `excerpt` gives, once the check has run, the piece of a log that shows why it failed.
    """
    start = Start.now()
    try:
        options = _options(program, sys.argv[1:] if argv is None else argv)
        verdict = judge(options, runner)
    except UsageError as error:
        print(error, file=sys.stderr)
        return USAGE
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return DEFINITION
    verdict = with_network(verdict, prove())
    return publish(verdict, repeat=options.repeat, start=start, excerpt=excerpt())


def judge(options: Options, runner: Runner) -> Verdict:
    """The verdict of the gate, or of the counterexample that the options name."""
    entry = options.entry
    if options.counterexample is not None:
        declared = entry.declared(options.counterexample)
        return run_twin(
            entry,
            declared,
            options.tree,
            lambda tree: runner(entry, tree, options),
            DEFAULT_LIMIT_SECONDS,
        )
    try:
        with time_limit(DEFAULT_LIMIT_SECONDS):
            return runner(entry, options.tree, options)
    except DefinitionError:
        raise
    except MissingCodeError as error:
        return _broken(entry, CHECK_MISSING, str(error))
    except TimeLimitReached as limit:
        return _broken(entry, TIME_LIMIT, str(limit))
    except Exception as error:
        # The traceback is for whoever mends the check; the verdict says in one line that it broke.
        traceback.print_exc()
        return _broken(entry, CHECK_CRASHED, one_line(error))


def _broken(entry: GateEntry, rule: str, message: str) -> Verdict:
    """The verdict of a check that did not run to its end."""
    return conclude(
        id=entry.id,
        kind=entry.kind,
        milestone=entry.milestone,
        findings=(Finding(entry.path, entry.line, rule, message),),
        examined=1,
        unit="checks",
    )


def _options(program: str, argv: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog=f"hardgate.kinds.{program}")
    parser.add_argument("--entry", required=True, type=Path, help="the registry entry, as JSON")
    parser.add_argument("--manifest", required=True, type=Path, help="lines PATH<TAB>REAL_PATH")
    parser.add_argument("--repeat", required=True, help="the command that repeats this test")
    parser.add_argument("--counterexample", metavar="NAME", help="the defect to put in place")
    parser.add_argument("--seed", type=int, help="an integer, instead of the gate's own seed")
    values = parser.parse_args(argv)
    return Options(
        entry=read_entry(values.entry),
        tree=ManifestTree(read_manifest(values.manifest)),
        repeat=values.repeat,
        counterexample=values.counterexample,
        seed=values.seed,
    )
