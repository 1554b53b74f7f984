"""Finds what entries name: checks, counterexamples, cases and corpora. Nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Keys, load
from hardgate.documents.tree import MissingFile, Tree
from hardgate.documents.wording import LIKE_PATHS, choices, did_you_mean, quoted
from hardgate.registry.check_options import ready_check
from hardgate.registry.loader import Registry
from hardgate.registry.models import Counterexample, Gate

CASES = "evals/cases/*.yaml"
DEFECTS = "gates/defects/*.py"
_MOST_REEXPORTS = 8
_DEFECT_PARAMETER = "bench"


class Modules:
    """The functions of the Python files of a tree, found by parsing them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._parsed: dict[str, ast.Module] = {}

    def names(self, path: str) -> tuple[str, ...]:
        """The names of functions and of what is re-exported, sorted. Raises as `function`."""
        module = self._module(path)
        defined = {node.name for node in module.body if isinstance(node, _FUNCTIONS)}
        imported = {
            alias.asname or alias.name
            for node in module.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        return tuple(sorted(defined | imported))

    def function(self, path: str, name: str, hops: int = _MOST_REEXPORTS) -> _Function | None:
        """The top-level function `name` of a file, also one re-exported from a file of the tree.

        Raises MissingFile and SyntaxError (a file that is no UTF-8 included).
        """
        for node in reversed(self._module(path).body):  # a later definition replaces an earlier
            if isinstance(node, _FUNCTIONS) and node.name == name:
                return node
            if isinstance(node, ast.ImportFrom) and node.module and not node.level and hops:
                source = node.module.replace(".", "/") + ".py"
                original = {alias.asname or alias.name: alias.name for alias in node.names}
                if name in original and self._tree.exists(source):
                    return self.function(source, original[name], hops - 1)
        return None

    def functions(self, path: str) -> Iterator[_Function]:
        """The functions defined at the top level of a file. Raises as `function`."""
        yield from (node for node in self._module(path).body if isinstance(node, _FUNCTIONS))

    def _module(self, path: str) -> ast.Module:
        if path not in self._parsed:
            try:
                self._parsed[path] = ast.parse(self._tree.read(path), path)
            except ValueError as error:  # a NUL byte
                raise SyntaxError(str(error)) from None
        return self._parsed[path]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def check_problems(tree: Tree, registry: Registry) -> list[Problem]:
    """What active gates name as check or corpus and what is not there."""
    modules = Modules(tree)
    cases, problems = _case_names(tree)
    for gate in registry.active():
        if gate.check is None:
            continue  # the loader has refused it
        if gate.check.startswith("case:"):
            missing = _missing_case(gate.check.removeprefix("case:"), cases)
        elif ready_check(gate.check) is not None:
            missing = None  # Hardgate's own: the loader has refused a name that is none
        else:
            path, name = gate.check.split("::")
            missing = _missing_function(modules, tree, path, name)
        if missing:
            problems.append(registry.problem(gate.id, ("check",), "check_missing", missing))
        if gate.corpus is not None and not tree.glob(f"{gate.corpus}/**"):
            message = f"found the corpus '{gate.corpus}', which holds no file; allowed: a folder"
            message = f"{message} with at least {gate.minimum_members} members"
            problems.append(registry.problem(gate.id, ("corpus",), "corpus_missing", message))
    return problems


def counterexample_problems(tree: Tree, registry: Registry) -> list[Problem]:
    """What active gates name as counterexample and what is not there or says nothing of itself."""
    modules = Modules(tree)
    problems = []
    for gate in registry.active():
        for index, counterexample in enumerate(gate.counterexamples):
            fault = _counterexample_fault(modules, tree, gate, counterexample)
            if fault:
                key, rule, message = fault
                keys: Keys = ("counterexamples", index, key)
                problems.append(registry.problem(gate.id, keys, rule, message))
    return problems + _unused_defects(modules, tree, registry)


def _counterexample_fault(
    modules: Modules, tree: Tree, gate: Gate, counterexample: Counterexample
) -> tuple[str, str, str] | None:
    """Key, rule and message of what is wrong with where a counterexample leads."""
    if counterexample.edit is not None:
        return None  # the twin says whether the edit found its place
    folder, name = counterexample.tree, counterexample.name
    if counterexample.agent is not None:
        return None  # the build refuses one that it has no agent for
    if folder is not None:
        if tree.glob(f"{folder}/**"):
            return None
        message = f"found the folder '{folder}', which holds no file; allowed: files to lay over"
        return "tree", "counterexample_missing", message
    path = f"gates/defects/{gate.area}.py"
    missing = _missing_function(modules, tree, path, name)
    if missing:
        return "name", "counterexample_missing", missing
    function = modules.function(path, name)
    if function is None or ast.get_docstring(function):
        return None
    message = f"found the defect '{name}' without a docstring; allowed: one that says what is wrong"
    return "name", "counterexample_undocumented", message


def _missing_function(modules: Modules, tree: Tree, path: str, name: str) -> str | None:
    """Why `path::name` is no function, or None."""
    try:
        if modules.function(path, name) is not None:
            return None
        names = modules.names(path)
        known = tuple(one for one in names if modules.function(path, one) is not None)
    except MissingFile:
        folder = path.rsplit("/", 1)[0]
        known = tree.glob(f"{folder}/*.py")
        found = f"found {path}::{name}, but no file {path}"
        return f"{found}; allowed: a file of {folder}/{did_you_mean(path, known, LIKE_PATHS)}"
    except SyntaxError as error:
        found = f"found {path}::{name}, but line {error.lineno or 1} of it is no Python"
        return f"{found} ({error.msg}); allowed: a module that parses"
    found = f"found {path}::{name}, but no such function at the top of the file"
    return f"{found}; allowed: {choices(known)}{did_you_mean(name, known)}"


def _missing_case(name: str, cases: dict[str, str]) -> str | None:
    """Why there is no case of a name, or None."""
    if name in cases:
        return None
    return f"found no case {quoted(name)}; allowed: {choices(cases)}{did_you_mean(name, cases)}"


def _case_names(tree: Tree) -> tuple[dict[str, str], list[Problem]]:
    """The file of each case by the case's name, and the problems of files that cannot be read."""
    names: dict[str, str] = {}
    problems: list[Problem] = []
    for path in tree.glob(CASES):
        try:
            case = load(path, tree.read(path)).value
        except DefinitionError as error:
            problems.extend(error.problems)
            continue
        if isinstance(case, dict) and isinstance(case.get("name"), str):
            names[case["name"]] = path
    return names, problems


def _unused_defects(modules: Modules, tree: Tree, registry: Registry) -> list[Problem]:
    """Defects that no gate names: they look like proof and are never put in place."""
    named = {
        counterexample.name
        for gate in registry.gates
        for counterexample in gate.counterexamples
        if counterexample.tree is None and counterexample.edit is None
    }
    problems = []
    for path in tree.glob(DEFECTS):
        try:
            functions = list(modules.functions(path))
        except SyntaxError as error:
            message = f"found what is no Python ({error.msg}); allowed: a module that parses"
            problems.append(Problem(path, error.lineno or 1, 1, "defect_unreadable", message))
            continue
        for function in functions:
            parameters = [argument.arg for argument in function.args.args]
            if parameters != [_DEFECT_PARAMETER] or function.name.startswith("_"):
                continue
            if function.name not in named:
                message = f"found the defect '{function.name}', which no gate names"
                message = f"{message}; allowed: a counterexample of some gate"
                problems.append(Problem(path, function.lineno, 1, "defect_unused", message))
    return problems
