"""Reads the registry of a workspace: gates/<area>.yaml, gates/retired.yaml and gates/MILESTONE."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, Keys, load
from hardgate.documents.tree import MissingFile, Tree
from hardgate.documents.validation import validate_list
from hardgate.documents.wording import quoted
from hardgate.registry import rules
from hardgate.registry.models import LARGEST_MILESTONE, Gate, RetiredGate

MILESTONE_PATH = "gates/MILESTONE"
RETIRED_PATH = "gates/retired.yaml"
_AREA = re.compile(r"[a-z][a-z0-9_]*")
_MILESTONE = re.compile(r"(0|[1-9][0-9]?)\n?")


@dataclass(frozen=True)
class Registry:
    """All gates of a workspace, sorted by id, and where each of them is declared."""

    gates: tuple[Gate, ...]
    milestone: int
    retired: tuple[RetiredGate, ...] = ()
    declared_in: Mapping[str, tuple[Document, int]] = field(default_factory=dict, repr=False)

    @cached_property
    def by_id(self) -> dict[str, Gate]:
        """Each gate by its id."""
        return {gate.id: gate for gate in self.gates}

    def active(self, milestone: int | None = None) -> tuple[Gate, ...]:
        """The gates that have to hold at a milestone, by default the repository's."""
        reached = self.milestone if milestone is None else milestone
        return tuple(gate for gate in self.gates if gate.milestone <= reached)

    def pending(self, milestone: int | None = None) -> tuple[Gate, ...]:
        """The gates above a milestone, by default the repository's."""
        reached = self.milestone if milestone is None else milestone
        return tuple(gate for gate in self.gates if gate.milestone > reached)

    def place(self, gate_id: str, *keys: str | int) -> tuple[str, int, int]:
        """Path, line and column of an entry, or of a value in it. Raises KeyError."""
        document, index = self.declared_in[gate_id]
        return (document.path, *document.position((index, *keys)))

    def problem(self, gate_id: str, keys: Keys, rule: str, message: str) -> Problem:
        """A Problem at an entry, or at a value in it. Raises KeyError."""
        document, index = self.declared_in[gate_id]
        return document.problem((index, *keys), rule, message)


def load_registry(tree: Tree) -> Registry:
    """The registry of a workspace. Raises DefinitionError with the problems of all its files."""
    registry, problems = read_registry(tree)
    if problems:
        raise DefinitionError(problems)
    return registry


def read_registry(tree: Tree) -> tuple[Registry, list[Problem]]:
    """What can be read of a registry, and everything that is wrong with it.

    For those who look at a registry that may be broken, such as an older revision; everybody else
    calls `load_registry`.
    """
    problems: list[Problem] = []
    milestone = _read_milestone(tree, problems)
    entries: list[rules.Entry] = []
    identities: list[rules.Identity] = []
    for path in _area_files(tree, problems):
        document = _load(tree, path, problems)
        if document is None:
            continue
        gates, found = validate_list(document, Gate)
        problems.extend(found)
        if document.value == []:
            message = "found an empty list; allowed: a list of gate entries"
            problems.append(document.problem((), "registry_empty", message))
        identities.extend(rules.identities(document))
        entries.extend(rules.Entry(gate, document, index) for index, gate in gates.items())
    retired, retired_identities = _read_retired(tree, problems)
    problems.extend(rules.identity_problems(identities, retired_identities))
    for entry in entries:
        problems.extend(rules.entry_problems(entry, milestone))
    declared_in: dict[str, tuple[Document, int]] = {}
    gates_by_id: dict[str, Gate] = {}
    for entry in entries:
        declared_in.setdefault(entry.gate.id, (entry.document, entry.index))
        gates_by_id.setdefault(entry.gate.id, entry.gate)
    ordered = tuple(gates_by_id[gate_id] for gate_id in sorted(gates_by_id))
    return Registry(ordered, milestone, retired, declared_in), problems


def _area_files(tree: Tree, problems: list[Problem]) -> list[str]:
    """The files that hold gates; a file that looks like one but would be ignored is a problem."""
    files = []
    for path in tree.glob("gates/*"):
        stem, suffix = posixpath.splitext(posixpath.basename(path))
        if path == RETIRED_PATH or suffix.lower() not in (".yaml", ".yml"):
            continue
        if suffix == ".yaml" and _AREA.fullmatch(stem):
            files.append(path)
            continue
        message = f"found the file name {quoted(stem + suffix)}; allowed: <area>.yaml (a-z, 0-9, _)"
        problems.append(Problem(path, 1, 1, "registry_file_name", message))
    if not files:
        message = "found no file gates/<area>.yaml; allowed: at least one"
        problems.append(Problem("gates", 1, 1, "registry_empty", message))
    return files


def _load(tree: Tree, path: str, problems: list[Problem]) -> Document | None:
    try:
        return load(path, tree.read(path))
    except DefinitionError as error:
        problems.extend(error.problems)
        return None


def _read_milestone(tree: Tree, problems: list[Problem]) -> int:
    """The repository's milestone; 0 for one that has no such file yet, and after recording why the
    file cannot be read."""
    try:
        text = tree.read(MILESTONE_PATH).decode("utf-8", "replace")
    except MissingFile:
        return 0
    if _MILESTONE.fullmatch(text):
        return int(text)
    message = f"found {quoted(text)}; allowed: one whole number from 0 to {LARGEST_MILESTONE} on a line"
    problems.append(Problem(MILESTONE_PATH, 1, 1, "milestone_file", message))
    return 0


def _read_retired(
    tree: Tree, problems: list[Problem]
) -> tuple[tuple[RetiredGate, ...], list[rules.Identity]]:
    """The gates removed on purpose; a workspace without the file has none."""
    if not tree.exists(RETIRED_PATH):
        return (), []
    document = _load(tree, RETIRED_PATH, problems)
    if document is None:
        return (), []
    retired, found = validate_list(document, RetiredGate)
    problems.extend(found)
    return tuple(retired.values()), rules.identities(document)
