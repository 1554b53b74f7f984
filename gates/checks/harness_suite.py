"""The cases of the suite: each is valid, each name in it is known, and each is in it once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from agent_cli.case_store import SqliteStore
from agent_core.bootstrap import build_pinned_runtime, load_identity
from agent_core.domain.deployment import DeploymentMode
from agent_core.evals.subject import ReferenceSubject
from hardgate.cases.loader import LoadedCase
from hardgate.cases.rules import FILE_NAME
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.tree import Tree
from hardgate.subjects import collection
from hardgate.subjects.collection import RunnableCase
from hardgate.verdicts.verdict import Finding

CASES = "evals/cases"
FIXTURES = "evals/fixtures"
IDENTITY = "evals/identity"
MILESTONE = "gates/MILESTONE"


class Suite:
    """The files below evals/cases, read once: what is wrong with them, and what can run.

    `least_milestone` counts as reached, also where the repository's milestone is lower: a gate that
    is run ahead of time judges the cases of its own milestone.
    """

    def __init__(self, tree: Tree, subject: ReferenceSubject, least_milestone: int) -> None:
        self.paths = tree.glob(f"{CASES}/**")
        self.findings: list[Finding] = []
        self.runnable: list[RunnableCase] = []
        reached = max(least_milestone, int(tree.read(MILESTONE)))
        loaded = [one for one in map(partial(self._loaded, tree), self.paths) if one is not None]
        self.findings += _used_twice(loaded)
        for one in loaded:
            runs_now = one.case.milestone <= reached
            try:
                case = collection.collect(tree, one, FIXTURES, subject, runs_now=runs_now)
            except DefinitionError as error:
                self.findings += map(_finding, error.problems)
            else:
                self.runnable += [case] if runs_now else []

    def _loaded(self, tree: Tree, path: str) -> LoadedCase | None:
        try:
            return collection.load(tree, path)
        except DefinitionError as error:
            self.findings += map(_finding, error.problems)
            return None


@contextmanager
def subject_of(tree: Tree) -> Iterator[ReferenceSubject]:
    """The reference runtime as a subject, with the identity files of the tree."""
    with tempfile.TemporaryDirectory() as scratch:
        for path in tree.glob(f"{IDENTITY}/**"):
            place = Path(scratch, path.removeprefix(f"{IDENTITY}/"))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(tree.read(path))
        identity = partial(load_identity, scratch, DeploymentMode.DEVELOPMENT)
        yield ReferenceSubject(build_pinned_runtime, identity, partial(SqliteStore, scratch))


def _used_twice(cases: list[LoadedCase]) -> Iterator[Finding]:
    names: dict[str, str] = {}
    numbers: dict[str, str] = {}
    for one in cases:
        first = names.setdefault(one.case.name, one.path)
        if first != one.path:
            message = f"the name {one.case.name} is used by {first}; each name is used once"
            yield Finding(one.path, one.line(("name",)), "case_name_repeated", message)
        match = FILE_NAME.fullmatch(one.path)
        number = match[1].lstrip("0") if match else ""
        first = numbers.setdefault(number, one.path)
        if first != one.path:
            message = f"the number {number} is used by {first}; a number is never used again"
            yield Finding(one.path, 1, "case_number_repeated", message)


def _finding(problem: Problem) -> Finding:
    return Finding(problem.path, problem.line, problem.rule, problem.message)
