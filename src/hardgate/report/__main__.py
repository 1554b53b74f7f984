"""Runs the gates of a workspace and prints the report: `bazel run //gates:report`.

The report goes to stdout, Bazel's progress to stderr. Exit codes: 0 every selected gate holds or is
pending, 1 a gate failed or something else is not in order, 2 usage, 4 the registry or the build is
malformed, 5 no Bazel was found, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.tree import DirectoryTree
from hardgate.registry.loader import Registry, load_registry
from hardgate.registry.models import LARGEST_MILESTONE, Kind
from hardgate.registry.previous import WATCHED, Why
from hardgate.registry.ratchet import check_ratchet
from hardgate.report import kept
from hardgate.report.bazel import BUILD_FAILED, TESTS_FAILED, Bazel, BazelError, BazelMissingError
from hardgate.report.faults import Fault
from hardgate.report.render import to_json, to_text
from hardgate.report.rows import FAIL, Report, compare
from hardgate.report.selection import Selection

OK, FAILED, USAGE, REFUSED, UNREACHABLE, INTERRUPTED = 0, 1, 2, 4, 5, 130
FOLDER = "gates"
PROGRAM = "bazel run //gates:report --"
AGAIN = "try: bazel run //{}:report"


class UsageError(Exception):
    """An option asks for what there is not; str() names the option and what is allowed."""


def main(
    argv: Sequence[str] | None = None, program: str = PROGRAM, here: Path | None = None
) -> int:
    """The entry point; returns the exit code. `program` is how it was called, for its help, and
    `here` the folder of the caller, which `bazel run` tells in a variable."""
    options = _options(argv, program)
    here = here or Path(os.environ.get("BUILD_WORKING_DIRECTORY") or os.getcwd())
    try:
        report = _report(options, here)
    except UsageError as error:
        print(f"report: {error}", file=sys.stderr)
        return USAGE
    except DefinitionError as error:
        faults = [_fault(problem, options.gates) for problem in error.problems]
        print(*(fault.render() for fault in faults), sep="\n", file=sys.stderr)
        print("report: the registry is malformed; mend the lines above", file=sys.stderr)
        return _refuse(options, REFUSED, faults)
    except BazelError as error:
        print(f"report: {error}", file=sys.stderr)
        code = UNREACHABLE if isinstance(error, BazelMissingError) else REFUSED
        rule = "no_bazel" if isinstance(error, BazelMissingError) else "bazel_failed"
        return _refuse(options, code, [Fault("", rule, str(error))])
    except KeyboardInterrupt:
        print("report: interrupted", file=sys.stderr)
        return INTERRUPTED
    if options.json:
        _print(to_json(report, failed_only=options.failed))
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        _print(to_text(report, colour=colour, failed_only=options.failed))
    return OK if report.ok else FAILED


def _options(argv: Sequence[str] | None, program: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Runs the gates and compares what ran with the registry.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--gates", default=FOLDER, metavar="FOLDER", help=f"the registry (default: {FOLDER})")
    add("--milestone", type=int, metavar="N", help="only gates of this milestone")
    add("--area", metavar="A", help="only gates of this area")
    add("--kind", metavar="K", help=f"only gates of this kind: {', '.join(map(str, Kind))}")
    add("--failed", action="store_true", help="list failed gates only; counts stay complete")
    add("--json", action="store_true", help="print JSON")
    add("--no-run", action="store_true", help="take the results of the last complete run")
    add("--base", metavar="REVISION", help="the branch this work goes into, for the ratchet")
    add("--bazel", metavar="PROGRAM", help="default: ./bazelw, else bazel or bazelisk on PATH")
    add("--bazel-flag", action="append", default=[], metavar="FLAG", help="for bazel test; repeat")
    options = parser.parse_args(argv)
    if PurePosixPath(options.gates).name != FOLDER or options.gates.startswith("/"):
        parser.error(f"--gates: found {options.gates!r}; allowed: a relative path ending in gates")
    if options.milestone is not None and not 0 <= options.milestone <= LARGEST_MILESTONE:
        parser.error(f"--milestone: allowed: 0 to {LARGEST_MILESTONE}")
    return options


def _report(options: argparse.Namespace, here: Path) -> Report:
    """Raises UsageError, DefinitionError, BazelError and KeyboardInterrupt."""
    workspace = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or os.getcwd())
    package = PurePosixPath(options.gates)
    root = workspace / package.parent
    tree = DirectoryTree(root, WATCHED)
    registry = load_registry(tree)
    selection = Selection(options.milestone, options.area, options.kind)
    if not any(selection.has(gate) for gate in registry.gates):
        raise UsageError(selection.why_empty(registry.gates))
    bazel = Bazel.find(workspace, options.bazel, here)
    targets = bazel.gate_targets(str(package))
    notes: list[str] = []
    if options.no_run:
        run = _last_run(bazel, str(package), notes)
    else:
        tags = selection.tag_filter(registry.gates)
        run = bazel.run_tests(str(package), tags, options.bazel_flag)
        if not selection.plain():
            _keep(bazel, str(package), run, notes)
    rows, problems = compare(
        registry.gates, registry.milestone, str(package), targets, run.results, selection
    )
    report = Report(registry.milestone, rows, problems, selection, notes)
    problems += _unexplained(report, run, str(package), fresh=not options.no_run)
    problems += _ratchet(root, tree, registry, options, notes)
    return report


def _unexplained(report: Report, run: kept.Run, package: str, *, fresh: bool) -> list[Fault]:
    """A failure that Bazel speaks of and no gate shows, such as that of a target beside them."""
    if run.exit_code not in (BUILD_FAILED, TESTS_FAILED) or report.problems:
        return []
    if any(row.state == FAIL for row in report.rows) or not (fresh or report.complete):
        return []
    message = f"bazel test ended with code {run.exit_code}, but no gate failed; see its output"
    return [Fault(f"//{package}/...", "bazel_failed", message)]


def _keep(bazel: Bazel, package: str, run: kept.Run, notes: list[str]) -> None:
    try:
        kept.save(kept.file_in(bazel.output_base(), package), run)
    except OSError as error:
        notes.append(f"these results can't be kept for --no-run: {error}")


def _last_run(bazel: Bazel, package: str, notes: list[str]) -> kept.Run:
    again = AGAIN.format(package)
    try:
        run = kept.load(kept.file_in(bazel.output_base(), package))
    except FileNotFoundError:
        raise BazelError(f"there is no complete run to take results of; {again}") from None
    except (OSError, ValueError) as error:
        raise BazelError(f"the results of the last run can't be read: {error}; {again}") from None
    notes.append(f"nothing was run: these are the results of the complete run of {run.ended_at}")
    return run


def _ratchet(
    root: Path,
    tree: DirectoryTree,
    registry: Registry,
    options: argparse.Namespace,
    notes: list[str],
) -> list[Fault]:
    """What the registry asks less of than in the revision before. Where there is no such revision
    that is a note; in CI it is a fault unless the registry is new."""
    outcome = check_ratchet(root, tree, registry, options.base)
    notes += [f"in the older revision: {note.render()}" for note in outcome.notes]
    missing = outcome.unavailable
    if missing is None:
        notes.append(f"ratchet: compared with revision {outcome.compared_with}")
        return [_fault(problem, options.gates) for problem in outcome.problems]
    message = f"no earlier revision to compare the registry with: {missing.reason}"
    if os.environ.get("CI") and missing.why != Why.FIRST_REVISION:
        return [Fault("", f"ratchet_{missing.why}", message)]
    notes.append(f"ratchet: {message}")
    return []


def _fault(problem: Problem, registry: str) -> Fault:
    """A problem of a file, which is named relative to the folder that holds the registry's."""
    path = PurePosixPath(registry).parent / problem.path
    place = f"{path}:{problem.line}:{problem.column}"
    return Fault(place, problem.rule, problem.message)


def _refuse(options: argparse.Namespace, code: int, problems: list[Fault]) -> int:
    """Ends without a report: for machines, what kept it from being made is on stdout too."""
    if options.json:
        _print(to_json(Report(None, [], problems)))
    return code


def _print(text: str) -> None:
    """Writes to stdout; a reader that has had enough, such as head, is no error."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
