"""Runs one structural check over its declared sources and writes the verdict.

A failing gate is a verdict, not an error of this program: it exits 0 then, and so it does for a
counterexample that was not rejected. It exits 1 when the check itself crashes, 2 on wrong usage
and 4 when a file of the workspace is malformed; no verdict is written then.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import ManifestTree, Tree
from hardgate.kinds.context import Examination, OptionsError, StructuralContext
from hardgate.kinds.entry import (
    GateEntry,
    MissingCodeError,
    UsageError,
    load_check,
    read_entry,
    read_manifest,
)
from hardgate.kinds.twin import run_twin
from hardgate.verdicts.time_limit import TimeLimitReached, time_limit
from hardgate.verdicts.verdict import Finding, Verdict, conclude

CRASHED, USAGE, DEFINITION = 1, 2, 4
DEFAULT_LIMIT_SECONDS = 120.0
_CHECK_MISSING = "check_missing"


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point of the build action; returns the exit code."""
    arguments = _arguments(argv)
    try:
        entry = read_entry(arguments.entry)
        sources = ManifestTree(read_manifest(arguments.manifest))
        verdict = _verdict_of(entry, sources, arguments.counterexample, arguments.limit_seconds)
    except UsageError as error:
        print(error, file=sys.stderr)
        return USAGE
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return DEFINITION
    except TimeLimitReached as limit:
        print(f"{entry.id}: the check took {limit}", file=sys.stderr)
        return CRASHED
    except Exception:
        print(f"{entry.id}: the check crashed; this is no verdict", file=sys.stderr)
        traceback.print_exc()
        return CRASHED
    _write(Path(arguments.out), verdict.to_json())
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hardgate.kinds.structural", description=__doc__)
    parser.add_argument("--entry", required=True, type=Path, help="the registry entry, as JSON")
    parser.add_argument("--manifest", required=True, type=Path, help="lines PATH<TAB>REAL_PATH")
    parser.add_argument("--out", required=True, help="where to write the verdict")
    parser.add_argument("--counterexample", metavar="NAME", help="the defect to put in place")
    parser.add_argument("--limit-seconds", type=float, default=DEFAULT_LIMIT_SECONDS)
    return parser.parse_args(argv)


def _verdict_of(
    entry: GateEntry, sources: Tree, counterexample: str | None, limit_seconds: float
) -> Verdict:
    if counterexample is not None:
        declared = entry.declared(counterexample)
        return run_twin(entry, declared, sources, lambda tree: run(entry, tree), limit_seconds)
    try:
        with time_limit(limit_seconds):
            return run(entry, sources)
    except MissingCodeError as missing:
        finding = Finding(entry.path, entry.line, _CHECK_MISSING, str(missing))
        return _verdict(entry, Examination((finding,), 0, ""))
    except OptionsError as error:
        findings = [Finding(entry.path, entry.line, one.rule, one.message) for one in error.problems]
        return _verdict(entry, Examination(findings, 0, ""))


def run(entry: GateEntry, tree: Tree) -> Verdict:
    """The verdict of a gate's check over a tree.

    Raises MissingCodeError where the check does not exist, OptionsError, TypeError where it returns no
    examination, and whatever the check raises.
    """
    examination = load_check(entry)(StructuralContext(tree, entry))
    if not isinstance(examination, Examination):
        raise TypeError(f"a check returns an Examination, not {type(examination).__name__}")
    return _verdict(entry, examination)


def _verdict(entry: GateEntry, examination: Examination) -> Verdict:
    return conclude(
        id=entry.id,
        kind=entry.kind,
        milestone=entry.milestone,
        findings=tuple(examination.findings),
        examined=examination.examined,
        unit=examination.unit,
    )


def _write(path: Path, text: str) -> None:
    """Writes the whole file or nothing."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


if __name__ == "__main__":
    sys.exit(main())
