"""The suite as files: every case, every fixture, and what is wrong between them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hardgate.cases.loader import LoadedCase, load_case
from hardgate.cases.rules import FILE_NAME
from hardgate.cases.vocabulary import Vocabulary
from hardgate.cases.volatile import VolatileFields, load_volatile_fields
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import Tree
from hardgate.documents.wording import quoted
from hardgate.fixtures.judge import load_judge
from hardgate.fixtures.mcp_server import load_mcp_server
from hardgate.fixtures.model_script import load_script
from hardgate.fixtures.tool_results import load_tool_results
from hardgate.subjects.collection import (
    JUDGES,
    MCP_SERVERS,
    MODELS,
    TOOL_RESULTS,
    WORKSPACES,
    fixture_paths,
    load_fixtures,
    subject_problems,
)

if TYPE_CHECKING:
    from hardgate.subjects.port import Subject

CASES = "evals/cases"
FIXTURES = "evals/fixtures"
SCRIPTS = f"{FIXTURES}/{MODELS}"
VOLATILE = "evals/volatile_fields.yaml"


class _Kind(NamedTuple):
    """A kind of fixture: its folder, the keys of a case that name one, and what reads its file.

    With `many` a case names a list of them.
    """

    folder: str
    keys: tuple[str, ...]
    load: Callable[[str, bytes], object] | None
    many: bool = False


_KINDS = (
    _Kind(MODELS, ("model_fixture",), load_script),
    _Kind(TOOL_RESULTS, ("fixtures", "tool_results"), load_tool_results),
    _Kind(JUDGES, ("fixtures", "judge"), load_judge),
    _Kind(MCP_SERVERS, ("fixtures", "mcp_servers"), load_mcp_server, many=True),
    _Kind(WORKSPACES, ("fixtures", "workspace"), None),  # folders of any files
)


class Suite(NamedTuple):
    """What could be read of the suite, and every problem of it.

    `cases` are by path. `names` has the name of every case file, by path, those that cannot be read
    included. `fixtures` counts the fixtures: files, and folders of workspaces. `volatile` is what
    two runs of a case may differ in.
    """

    cases: Mapping[str, LoadedCase]
    names: Mapping[str, str]
    fixtures: int
    volatile: VolatileFields
    problems: tuple[Problem, ...]

    def problems_of(self, path: str) -> tuple[Problem, ...]:
        """The problems of one case: of its own file, and of the fixtures that it names."""
        paths = {path}
        if path in self.cases:
            paths.update(fixture_paths(self.cases[path], FIXTURES))
        return tuple(problem for problem in self.problems if problem.path in paths)


def read_suite(tree: Tree, subject: Subject | None = None, milestone: int | None = None) -> Suite:
    """Reads the suite of a workspace.

    With a subject, names that it does not know are problems as well, and so is what it cannot do.
    What belongs to a later milestone than the given one may be ahead of it; None is no bound.
    """
    problems: list[Problem] = []
    cases: dict[str, LoadedCase] = {}
    paths = tree.glob(f"{CASES}/*.yaml")
    for path in paths:
        try:
            cases[path] = load_case(path, tree.read(path))
        except DefinitionError as error:
            problems += error.problems
    problems += _left_out(tree)
    problems += _numbers_and_names(cases)
    fixtures = {kind: _fixtures_of(tree, kind) for kind in _KINDS}
    problems += _fixture_problems(tree, fixtures)
    problems += _unused(tree, fixtures)
    vocabulary = None
    try:
        vocabulary = None if subject is None else subject.vocabulary()
    except DefinitionError as error:  # files of the workspace that the subject itself reads
        problems += error.problems
    volatile = _volatile(tree, vocabulary, problems)
    for loaded in cases.values():
        runs, found = load_fixtures(tree, loaded, FIXTURES)
        problems += found
        if vocabulary is not None or loaded.case.subject is not None:
            runs_now = milestone is None or loaded.case.milestone <= milestone
            problems += subject_problems(loaded, runs, vocabulary, runs_now=runs_now)
    names = {path: _name(path, cases) for path in paths}
    count = sum(map(len, fixtures.values()))
    return Suite(cases, names, count, volatile, tuple(sorted(set(problems))))


def _volatile(tree: Tree, vocabulary: Vocabulary | None, problems: list[Problem]) -> VolatileFields:
    """The list of volatile fields; a workspace without the file has none."""
    if not tree.exists(VOLATILE):
        return ()
    event_types = None if vocabulary is None else vocabulary.event_types
    try:
        return load_volatile_fields(VOLATILE, tree.read(VOLATILE), event_types)
    except DefinitionError as error:
        problems += error.problems
        return ()


def _name(path: str, cases: Mapping[str, LoadedCase]) -> str:
    if path in cases:
        return cases[path].case.name
    match = FILE_NAME.fullmatch(path)
    return match[2] if match else posixpath.basename(path)[: -len(".yaml")]


def _left_out(tree: Tree) -> Iterator[Problem]:
    """Files that look like cases or fixtures and that nothing would ever read."""
    folders = [(CASES, "case.file_name", "NN_<name>")]
    folders += [
        (f"{FIXTURES}/{kind.folder}", "fixture.file_name", "<stem>") for kind in _KINDS if kind.load
    ]
    for folder, rule, name in folders:
        for path in (*tree.glob(f"{folder}/**/*.yaml"), *tree.glob(f"{folder}/**/*.yml")):
            if posixpath.dirname(path) != folder or not path.endswith(".yaml"):
                message = f"found {quoted(path)}, which nothing reads; allowed: "
                yield Problem(path, 1, 1, rule, f"{message}{folder}/{name}.yaml")


def _numbers_and_names(cases: Mapping[str, LoadedCase]) -> Iterator[Problem]:
    """Numbers and names that two cases share."""
    first_name: dict[str, str] = {}
    first_number: dict[str, str] = {}
    for path, loaded in cases.items():
        name, match = loaded.case.name, FILE_NAME.fullmatch(path)
        if name in first_name:
            message = f"found {quoted(name)} again, first in {first_name[name]}"
            message = f"{message}; allowed: each name once"
            yield loaded.document.problem(("name",), "case.duplicate_name", message)
        first_name.setdefault(name, path)
        number = match[1].lstrip("0") if match else ""
        if number in first_number:
            message = f"found the number {number} again, first in {first_number[number]}"
            message = f"{message}; allowed: each number once"
            yield Problem(path, 1, 1, "case.duplicate_number", message)
        first_number.setdefault(number, path)


def _fixtures_of(tree: Tree, kind: _Kind) -> dict[str, str]:
    """The path of each fixture of a kind, by its stem."""
    folder = f"{FIXTURES}/{kind.folder}"
    if kind.load is not None:
        paths = tree.glob(f"{folder}/*.yaml")
        return {posixpath.basename(path)[: -len(".yaml")]: path for path in paths}
    stems = {path.split("/")[3] for path in tree.glob(f"{folder}/*/**")}
    return {stem: f"{folder}/{stem}" for stem in sorted(stems)}


def _fixture_problems(tree: Tree, fixtures: Mapping[_Kind, Mapping[str, str]]) -> Iterator[Problem]:
    """The problems of all fixture files, named by a case or not."""
    for kind, paths in fixtures.items():
        if kind.load is None:
            continue
        for path in paths.values():
            try:
                kind.load(path, tree.read(path))
            except DefinitionError as error:
                yield from error.problems


def _unused(tree: Tree, fixtures: Mapping[_Kind, Mapping[str, str]]) -> Iterator[Problem]:
    """Fixtures that no case names."""
    named = _stems_named(tree)
    if named is None:
        return  # a case that cannot be parsed may name any of them
    for kind, paths in fixtures.items():
        for stem, path in paths.items():
            if stem not in named[kind]:
                named_as = f"[{stem}]" if kind.many else stem
                wanted = f"{'.'.join(kind.keys)}: {named_as}"
                message = f"found a fixture that no case names; allowed: one with {wanted}"
                yield Problem(path, 1, 1, "fixture.unused", message)


def _stems_named(tree: Tree) -> dict[_Kind, set[str]] | None:
    """What case files name, valid or not; None where a file is no YAML."""
    named: dict[_Kind, set[str]] = {kind: set() for kind in _KINDS}
    for path in tree.glob(f"{CASES}/*.yaml"):
        try:
            value = load(path, tree.read(path)).value
        except DefinitionError:
            return None
        arms = value.get("arms") if isinstance(value, dict) else None
        for one in (value, *(arms if isinstance(arms, list) else ())):
            for kind in _KINDS:
                stems = _below(one, kind.keys)
                for stem in stems if kind.many and isinstance(stems, list) else [stems]:
                    if isinstance(stem, str):
                        named[kind].add(stem)
    return named


def _below(value: Any, keys: tuple[str, ...]) -> Any:
    """The value under some keys of nested maps; None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
