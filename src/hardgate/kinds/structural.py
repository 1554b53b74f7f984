"""Runs one structural check over its declared sources and writes the verdict.

A failing gate is a verdict, not an error of this program: it exits 0 then, and so it does for a
counterexample that was not rejected. It exits 1 when the check itself crashes, 2 on wrong usage
and 4 when a file of the workspace is malformed; no verdict is written then.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DefectError, ManifestTree, Tree
from hardgate.kinds.bench import Bench
from hardgate.kinds.context import (
    DeclaredCounterexample,
    Examination,
    GateEntry,
    StructuralContext,
)
from hardgate.kinds.twin import (
    Ending,
    TimeLimitReached,
    judge,
    not_in_place,
    one_line,
    run_with_limit,
    time_limit,
)
from hardgate.verdicts.verdict import FAIL, Counterexample, Finding, Verdict, conclude

CRASHED, USAGE, DEFINITION = 1, 2, 4
DEFAULT_LIMIT_SECONDS = 120.0
_CHECK_MISSING = "check_missing"

Check = Callable[[StructuralContext], Examination]
Defect = Callable[[Bench], None]


class UsageError(Exception):
    """The arguments or the files they name are not what this program needs."""


class MissingCodeError(Exception):
    """The code that the registry names does not exist; str() says where it was looked for."""


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point of the build action; returns the exit code."""
    arguments = _arguments(argv)
    try:
        entry = read_entry(arguments.entry)
        sources = ManifestTree(read_manifest(arguments.manifest))
        if arguments.counterexample is None:
            verdict = run_gate(entry, sources, arguments.limit_seconds)
        else:
            declared = _declared(entry, arguments.counterexample)
            verdict = run_counterexample(entry, declared, sources, arguments.limit_seconds)
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


def run_gate(entry: GateEntry, sources: Tree, limit_seconds: float) -> Verdict:
    """Runs the check of a gate over its sources.

    A gate whose check does not exist fails. Raises TimeLimitReached, DefinitionError, and whatever
    the check raises.
    """
    try:
        check = load_check(entry)
    except MissingCodeError as missing:
        finding = Finding(entry.path, entry.line, _CHECK_MISSING, str(missing))
        return _verdict(entry, Examination((finding,), 0, ""))
    with time_limit(limit_seconds):
        examination = check(StructuralContext(sources, entry))
    return _verdict(entry, _checked(examination))


def run_counterexample(
    entry: GateEntry, declared: DeclaredCounterexample, sources: Tree, limit_seconds: float
) -> Verdict:
    """Runs the check of a gate with one defect in place; passes if the defect was rejected."""
    with Bench(sources) as bench:
        try:
            put_in_place(entry, declared, bench)
        except (DefectError, MissingCodeError) as problem:
            result = not_in_place(declared.name, declared.reason, str(problem))
            return _verdict(entry, Examination((), 0, ""), result)
        done: list[Verdict] = []

        def run() -> None:
            examination = load_check(entry)(StructuralContext(bench.tree, entry))
            done.append(_verdict(entry, _checked(examination)))

        error, timed_out = run_with_limit(run, limit_seconds)
        verdict = done[0] if done else _verdict(entry, Examination((), 0, ""))
        ending = Ending(
            reached=bench.reached,
            failed=verdict.outcome == FAIL,
            reasons=[finding.rule for finding in verdict.findings],
            crash=error,
            timed_out=timed_out,
        )
    examination = Examination(verdict.findings if done else (), verdict.examined, verdict.unit)
    return _verdict(entry, examination, judge(declared.name, declared.reason, ending))


def _verdict(
    entry: GateEntry, examination: Examination, counterexample: Counterexample | None = None
) -> Verdict:
    return conclude(
        id=entry.id,
        kind=entry.kind,
        milestone=entry.milestone,
        findings=tuple(examination.findings),
        examined=examination.examined,
        unit=examination.unit,
        counterexample=counterexample,
    )


def _checked(examination: object) -> Examination:
    """Refuses what is no examination: a check that forgets to return one has a defect."""
    if not isinstance(examination, Examination):
        raise TypeError(f"a check returns an Examination, not {type(examination).__name__}")
    return examination


def put_in_place(entry: GateEntry, declared: DeclaredCounterexample, bench: Bench) -> None:
    """Puts a declared defect in place: a function of the area's module, or a tree of files.

    Raises DefectError when the place that the defect changes is gone, MissingCodeError when the
    defect itself does not exist.
    """
    if declared.tree is not None:
        bench.tree.lay_over(declared.tree)
    else:
        defect: Defect = load_defect(entry, declared.name)
        try:
            defect(bench)
        except DefectError:
            raise
        except Exception as error:
            raise DefectError(one_line(error)) from error
    bench.watch()


def load_check(entry: GateEntry) -> Check:
    """The function that `gates/checks/<area>.py::<function>` names. Raises MissingCodeError."""
    path, separator, function = (entry.check or "").partition("::")
    if not separator or not path.endswith(".py"):
        found = repr(entry.check) if entry.check else "no check"
        raise MissingCodeError(f"a structural gate names FILE.py::FUNCTION; found {found}")
    return _function(path, function)


def load_defect(entry: GateEntry, name: str) -> Defect:
    """The function of a counterexample in the module of its area. Raises MissingCodeError."""
    return _function(f"gates/defects/{entry.area}.py", name)


def _function(path: str, name: str) -> Callable[..., Any]:
    module_name = path.removesuffix(".py").replace("/", ".")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # Only the module itself or a package above it: an import that fails inside is a crash.
        if error.name and (module_name + ".").startswith(error.name + "."):
            raise MissingCodeError(f"there is no module {path}") from None
        raise
    function: Callable[..., Any] | None = vars(module).get(name)
    if not callable(function):
        raise MissingCodeError(f"{path} has no function {name!r}")
    return function


def read_entry(path: Path) -> GateEntry:
    """Reads the registry entry that the build wrote as JSON. Raises UsageError."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        counterexamples = tuple(
            DeclaredCounterexample(one["name"], one["reason"], one.get("tree"))
            for one in plain.get("counterexamples", [])
        )
        return GateEntry(
            id=plain["id"],
            area=plain["area"],
            slug=plain["slug"],
            kind=plain["kind"],
            milestone=plain["milestone"],
            check=plain.get("check"),
            counterexamples=counterexamples,
            path=plain["path"],
            line=plain["line"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: not a registry entry: {one_line(error)}") from None


def read_manifest(path: Path) -> dict[str, str]:
    """Reads lines `workspace/relative/path<TAB>real/path`. Raises UsageError naming every line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {one_line(error)}") from None
    files: dict[str, str] = {}
    wrong: list[str] = []
    for number, line in enumerate(lines, start=1):
        relative, separator, real = line.partition("\t")
        if relative and separator and real:
            files[relative] = real
        else:
            wrong.append(f"{path}:{number}: expected PATH<TAB>REAL_PATH")
    if wrong:
        raise UsageError("\n".join(wrong))
    return files


def _declared(entry: GateEntry, name: str) -> DeclaredCounterexample:
    for declared in entry.counterexamples:
        if declared.name == name:
            return declared
    known = ", ".join(one.name for one in entry.counterexamples) or "none"
    raise UsageError(f"{entry.id} has no counterexample {name!r}; it declares: {known}")


def _write(path: Path, text: str) -> None:
    """Writes the whole file or nothing."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


if __name__ == "__main__":
    sys.exit(main())
