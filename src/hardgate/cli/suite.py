"""The suite as files: every case, every model script, and what is wrong between them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hardgate.cases.loader import LoadedCase, load_case
from hardgate.cases.rules import FILE_NAME, name_problems
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import Tree
from hardgate.documents.wording import choices, did_you_mean, quoted
from hardgate.fixtures.model_script import ModelScript, load_script, proposed_tools

if TYPE_CHECKING:
    from hardgate.subjects.port import Subject

CASES = "evals/cases"
FIXTURES = "evals/fixtures"
SCRIPTS = f"{FIXTURES}/models"


class Suite(NamedTuple):
    """What could be read of the suite, and every problem of it.

    `cases` and `scripts` are by path and by stem. `names` has the name of every case file, those
    that cannot be read included, by path.
    """

    cases: Mapping[str, LoadedCase]
    scripts: Mapping[str, ModelScript]
    names: Mapping[str, str]
    problems: tuple[Problem, ...]

    def problems_of(self, path: str) -> tuple[Problem, ...]:
        """The problems of one case: of its own file, and of the script that it names."""
        paths = {path}
        if path in self.cases:
            paths.add(script_path(self.cases[path].case.model_fixture))
        return tuple(problem for problem in self.problems if problem.path in paths)


def script_path(stem: str) -> str:
    """Where the model script of a stem stands."""
    return f"{SCRIPTS}/{stem}.yaml"


def read_suite(tree: Tree, subject: Subject | None = None) -> Suite:
    """Reads the suite of a workspace. With a subject, the names that it does not know are
    problems as well."""
    problems: list[Problem] = []
    cases: dict[str, LoadedCase] = {}
    scripts: dict[str, ModelScript] = {}
    case_paths, script_paths = tree.glob(f"{CASES}/*.yaml"), tree.glob(f"{SCRIPTS}/*.yaml")
    for path in case_paths:
        try:
            cases[path] = load_case(path, tree.read(path))
        except DefinitionError as error:
            problems += error.problems
    for path in script_paths:
        try:
            scripts[posixpath.basename(path)[: -len(".yaml")]] = load_script(path, tree.read(path))
        except DefinitionError as error:
            problems += error.problems
    problems += _left_out(tree)
    problems += _numbers_and_names(cases)
    problems += _scripts_named(tree, cases, script_paths)
    if subject is not None:
        vocabulary = subject.vocabulary()
        for loaded in cases.values():
            script = scripts.get(loaded.case.model_fixture)
            if script is not None:
                tools = proposed_tools(script)
                problems += name_problems(loaded.case, loaded.document, vocabulary, tools)
    names = {path: _name(path, cases) for path in case_paths}
    return Suite(cases, scripts, names, tuple(sorted(set(problems))))


def _name(path: str, cases: Mapping[str, LoadedCase]) -> str:
    if path in cases:
        return cases[path].case.name
    match = FILE_NAME.fullmatch(path)
    return match[2] if match else posixpath.basename(path)[: -len(".yaml")]


def _left_out(tree: Tree) -> Iterator[Problem]:
    """Files that look like cases or scripts and that no target would ever read."""
    for folder, rule, allowed in (
        (CASES, "case.file_name", f"{CASES}/NN_<name>.yaml"),
        (SCRIPTS, "script.file_name", f"{SCRIPTS}/<stem>.yaml"),
    ):
        for path in (*tree.glob(f"{folder}/**/*.yaml"), *tree.glob(f"{folder}/**/*.yml")):
            if posixpath.dirname(path) != folder or not path.endswith(".yaml"):
                message = f"found {quoted(path)}, which nothing reads; allowed: {allowed}"
                yield Problem(path, 1, 1, rule, message)


def _numbers_and_names(cases: Mapping[str, LoadedCase]) -> Iterator[Problem]:
    """Numbers and names that two cases share."""
    first_name: dict[str, str] = {}
    first_number: dict[int, str] = {}
    for path, loaded in cases.items():
        name, match = loaded.case.name, FILE_NAME.fullmatch(path)
        if name in first_name:
            message = f"found {quoted(name)} again, first in {first_name[name]}"
            message = f"{message}; allowed: each name once"
            yield loaded.document.problem(("name",), "case.duplicate_name", message)
        first_name.setdefault(name, path)
        number = int(match[1]) if match else 0
        if number in first_number:
            message = f"found the number {number} again, first in {first_number[number]}"
            message = f"{message}; allowed: each number once"
            yield Problem(path, 1, 1, "case.duplicate_number", message)
        first_number.setdefault(number, path)


def _scripts_named(
    tree: Tree, cases: Mapping[str, LoadedCase], paths: tuple[str, ...]
) -> Iterator[Problem]:
    """Scripts that a case names and that are not there, and scripts that no case names."""
    stems = [posixpath.basename(path)[: -len(".yaml")] for path in paths]
    for loaded in cases.values():
        stem = loaded.case.model_fixture
        if stem not in stems:
            message = f"found {quoted(stem)}, but there is no {script_path(stem)}; "
            message = f"{message}allowed: {choices(stems)}{did_you_mean(stem, stems)}"
            yield loaded.document.problem(("model_fixture",), "case.unknown_fixture", message)
    named = _stems_named(tree)
    if named is None:
        return  # a case that cannot be parsed may name any of them
    for path, stem in zip(paths, stems, strict=True):
        if stem not in named:
            message = f"found a script that no case names; allowed: one with model_fixture: {stem}"
            yield Problem(path, 1, 1, "script.unused", message)


def _stems_named(tree: Tree) -> set[str] | None:
    """The scripts that case files name, valid or not; None where a file is no YAML."""
    stems: set[str] = set()
    for path in tree.glob(f"{CASES}/*.yaml"):
        try:
            value = load(path, tree.read(path)).value
        except DefinitionError:
            return None
        stem = value.get("model_fixture") if isinstance(value, dict) else None
        if isinstance(stem, str):
            stems.add(stem)
    return stems
