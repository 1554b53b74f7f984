"""Runs the gates of a workspace and prints the report: `bazel run //gates:report`.

Results go to stdout, Bazel's progress to stderr. Exit codes: 0 every gate holds or is pending,
1 a gate failed or a result is missing, 2 usage, 4 the registry or the build is malformed,
5 no Bazel was found.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree
from hardgate.registry import ratchet
from hardgate.registry.loader import Registry, load_registry
from hardgate.registry.models import Kind
from hardgate.report import results as kept
from hardgate.report.bazel import Bazel, BazelError, BazelMissing
from hardgate.report.render import to_json, to_text
from hardgate.report.rows import Report, compare

OK, FAILED, USAGE, REFUSED, UNREACHABLE = 0, 1, 2, 4, 5
EVERYTHING = "all gates"


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit code."""
    options = _options(argv)
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or os.getcwd())
    try:
        registry = load_registry(DirectoryTree(root, [options.gates]))
        report = _report(options, root, registry)
    except DefinitionError as error:
        print(error, file=sys.stderr)
        print("The registry is malformed; mend the lines above and run again.", file=sys.stderr)
        return REFUSED
    except BazelMissing as error:
        print(error, file=sys.stderr)
        return UNREACHABLE
    except BazelError as error:
        print(error, file=sys.stderr)
        return REFUSED
    if options.json:
        sys.stdout.write(to_json(report))
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        sys.stdout.write(to_text(report, colour=colour, failed_only=options.failed))
    return OK if report.ok else FAILED


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bazel run //gates:report --", description="Runs the gates and prints the report."
    )
    parser.add_argument("--gates", default="gates", help=argparse.SUPPRESS)
    parser.add_argument("--no-run", action="store_true", help="print the results of the last run")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--milestone", type=int, metavar="N", help="only gates of one milestone")
    parser.add_argument("--area", metavar="A", help="only gates of one area")
    parser.add_argument("--kind", choices=[kind.value for kind in Kind], help="only one kind")
    parser.add_argument("--failed", action="store_true", help="print rows of failed gates only")
    parser.add_argument(
        "--bazel-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="passed on to bazel test, such as --config=ci; may be given again",
    )
    return parser.parse_args(argv)


def _selection(options: argparse.Namespace) -> dict[str, str]:
    chosen = {"milestone": options.milestone, "area": options.area, "kind": options.kind}
    return {key: str(value) for key, value in chosen.items() if value is not None}


def _report(options: argparse.Namespace, root: Path, registry: Registry) -> Report:
    selection = _selection(options)
    gates = [
        gate
        for gate in registry.gates
        if all(_value(gate, key) == value for key, value in selection.items())
    ]
    bazel = Bazel.find(root)
    targets = [
        target
        for target in bazel.gate_targets(options.gates)
        if all(target.tag(key) == value for key, value in selection.items())
    ]
    notes: list[str] = []
    if options.no_run:
        results = _last_results(bazel, notes)
    else:
        results = _fresh_results(options, bazel, selection)
    rows, problems = compare(gates, registry.milestone, options.gates, targets, results)
    if not rows:
        areas = ", ".join(sorted({gate.id.split(".")[1] for gate in registry.gates}))
        problems.append(f"no gate matches {_words(selection) or EVERYTHING}; areas: {areas}")
    if not selection:
        problems += _ratchet(root, registry, notes)
    return Report(registry.milestone, rows, problems, _words(selection), notes)


def _value(gate: object, key: str) -> str:
    if key == "area":
        return str(getattr(gate, "id")).split(".")[1]
    value = getattr(gate, key)
    return str(getattr(value, "value", value))


def _words(selection: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in selection.items())


def _fresh_results(
    options: argparse.Namespace, bazel: Bazel, selection: dict[str, str]
) -> dict[str, kept.TargetResult]:
    """Runs the selected targets. Bazel's tag filters are joined by OR, so only one is handed over
    and the rest is left out when rows are made."""
    key = next((one for one in ("area", "milestone", "kind") if one in selection), None)
    tag = f"{key}:{selection[key]}" if key else None
    results = bazel.run_tests([f"//{options.gates}/..."], tag, options.bazel_flag)
    kept.save(bazel.results_file(), _words(selection) or EVERYTHING, results)
    return results


def _last_results(bazel: Bazel, notes: list[str]) -> dict[str, kept.TargetResult]:
    path = bazel.results_file()
    try:
        selection, results = kept.load(path)
    except FileNotFoundError:
        raise BazelError("there is no earlier run; try: bazel run //gates:report") from None
    except (OSError, ValueError) as error:
        raise BazelError(f"{error}; try: bazel run //gates:report") from None
    notes.append(f"not run now: results of the last run, over {selection}")
    return results


def _ratchet(root: Path, registry: Registry, notes: list[str]) -> list[str]:
    """Compares with the previous revision. Where there is none to compare with, that is a note,
    and in CI a problem when the reason is that this is no git checkout."""
    raise NotImplementedError(ratchet)


if __name__ == "__main__":
    sys.exit(main())
