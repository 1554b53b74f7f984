"""The registry entry that a process is given, and the code that the entry names.

The build writes the entry as JSON and the files that it declares as a manifest.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


_READY, _READY_FOLDER = "hardgate:", "hardgate/structural_checks"


class UsageError(Exception):
    """The arguments or the files they name are not what a program of this package needs."""


class MissingCodeError(Exception):
    """The code that the registry names does not exist; str() says where it was looked for."""


@dataclass(frozen=True)
class DeclaredEdit:
    """A defect that is one edit, of the file `path` or of the function with a dotted name."""

    old: str
    new: str
    path: str | None = None
    function: str | None = None


@dataclass(frozen=True)
class DeclaredCounterexample:
    """One counterexample of a registry entry: `reason` is the rule that must reject it.

    With `agent`, the defect is in the agent that the case starts: the target gives it another one.
    """

    name: str
    reason: str
    tree: str | None = None
    edit: DeclaredEdit | None = None
    agent: str | None = None


@dataclass(frozen=True)
class GateEntry:
    """A gate as the registry declares it, and the place (`path`, `line`) of its entry."""

    id: str
    area: str
    slug: str
    kind: str
    milestone: int
    path: str
    line: int
    check: str | None = None
    trials: int | None = None
    corpus: str | None = None
    minimum_members: int | None = None
    options: Mapping[str, Any] | None = None
    counterexamples: tuple[DeclaredCounterexample, ...] = ()

    def declared(self, name: str) -> DeclaredCounterexample:
        """The counterexample of a name. Raises UsageError."""
        for declared in self.counterexamples:
            if declared.name == name:
                return declared
        known = ", ".join(one.name for one in self.counterexamples) or "none"
        raise UsageError(f"{self.id} has no counterexample {name!r}; it declares: {known}")


def read_entry(path: Path) -> GateEntry:
    """Reads the registry entry that the build wrote as JSON. Raises UsageError."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        counterexamples = tuple(
            DeclaredCounterexample(
                one["name"],
                one["reason"],
                one.get("tree"),
                DeclaredEdit(**one["edit"]) if one.get("edit") else None,
                one.get("agent"),
            )
            for one in plain.get("counterexamples", [])
        )
        return GateEntry(
            id=plain["id"],
            area=plain["area"],
            slug=plain["slug"],
            kind=plain["kind"],
            milestone=plain["milestone"],
            path=plain["path"],
            line=plain["line"],
            check=plain.get("check"),
            trials=plain.get("trials"),
            corpus=plain.get("corpus"),
            minimum_members=plain.get("minimum_members"),
            options=plain.get("options"),
            counterexamples=counterexamples,
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


def load_check(entry: GateEntry) -> Callable[..., Any]:
    """The function that the entry names; raises MissingCodeError.

    `gates/checks/<area>.py::<function>` is the workspace's own, `hardgate:<name>` the function
    `check` of a module of `hardgate.structural_checks`.
    """
    if entry.check and entry.check.startswith(_READY):
        return _function(f"{_READY_FOLDER}/{entry.check.removeprefix(_READY)}.py", "check")
    path, separator, function = (entry.check or "").partition("::")
    if not separator or not path.endswith(".py"):
        found = repr(entry.check) if entry.check else "no check"
        raise MissingCodeError(f"a {entry.kind} gate names FILE.py::FUNCTION; found {found}")
    return _function(path, function)


def load_defect(entry: GateEntry, name: str) -> Callable[..., Any]:
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


def one_line(error: BaseException) -> str:
    """`Type: message`, the first line only."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
