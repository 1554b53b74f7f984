"""`hardgate:one_caller_only`: functions and methods that only named callers use.

A function is known by its dotted name, through all aliases. What an object is cannot be known
without running the program: every attribute of a method's name counts as that method.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import PythonFile, inside, literal_text
from hardgate.registry.check_options import GuardedCallable, OneCallerOnlyOptions
from hardgate.structural_checks.modules import known_module, read_modules
from hardgate.structural_checks.name_uses import NameUses
from hardgate.verdicts.verdict import Finding

# What looks an attribute up by its name, and the place of that name among the arguments.
_LOOKUPS = {
    "getattr": 1,
    "builtins.getattr": 1,
    "operator.methodcaller": 0,
    "operator.attrgetter": 0,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Place = tuple[str, int]


def check(context: StructuralContext) -> Examination:
    """Looks for every use of the callables; counts the modules below the roots."""
    options = context.options(OneCallerOnlyOptions)
    place = (context.gate.path, context.gate.line)
    files, findings = read_modules(context.tree, options.roots, place)
    found = list(findings)
    uses = NameUses(files)
    for guarded in options.callables:
        found += _judged(guarded, files, uses, place)
    return Examination(found, len(files), "modules")


def _judged(
    guarded: GuardedCallable, files: Sequence[PythonFile], uses: NameUses, place: Place
) -> Iterator[Finding]:
    owner = known_module(guarded.name, uses.by_module)
    inner = guarded.name[len(owner) + 1 :].split(".") if owner else []
    if owner is None or not _defines(uses.by_module[owner].body, inner):
        message = f"{guarded.name} is neither a function nor a method below the roots"
        yield Finding(*place, "callable_missing", message)
        return
    is_method = len(inner) > 1
    seen: set[str] = set()
    for file in files:
        names = _names_of_scopes(file)
        used = [] if is_method else _function_uses(file, guarded.name, uses)
        used += _attribute_uses(file, inner[-1]) if is_method else []
        for node in used:
            caller = names.get(id(node), file.module)
            allowed = [one for one in guarded.callers if inside(caller, (one,))]
            seen.update(allowed)
            if not allowed:
                message = f"{caller} uses {guarded.name}; only {', '.join(guarded.callers)} may"
                line = getattr(node, "lineno", 1)
                yield Finding(file.path, line, "other_caller", message)
    for caller in guarded.callers:
        if caller not in seen:
            message = f"{caller} may use {guarded.name} and does not; remove it"
            yield Finding(*place, "unused_caller", message)


def _defines(body: ast.AST, parts: Sequence[str]) -> bool:
    """Whether a module defines a function or a class with a method of this name."""
    if not parts:
        return False
    for node in ast.walk(body):
        last = len(parts) == 1
        if last and isinstance(node, _FUNCTIONS) and node.name == parts[0]:
            return True
        if not last and isinstance(node, ast.ClassDef) and node.name == parts[0]:
            return _defines(node, parts[1:])
    return False


def _function_uses(file: PythonFile, name: str, uses: NameUses) -> list[ast.AST]:
    """Calls and other uses; an import alone uses nothing."""
    found: list[ast.AST] = []
    for use in uses.of(file, (name,)):
        if use.node is not file.body:
            found.append(use.node)
    # Inside its own module the plain name is the function.
    own = name.rpartition(".")
    if file.module == own[0]:
        found += [
            node
            for node in file.nodes
            if isinstance(node, ast.Name) and node.id == own[2] and isinstance(node.ctx, ast.Load)
        ]
    return found


def _attribute_uses(file: PythonFile, method: str) -> list[ast.AST]:
    found: list[ast.AST] = []
    for node in file.nodes:
        if isinstance(node, ast.Attribute) and node.attr == method:
            if isinstance(node.ctx, ast.Load):
                found.append(node)
        elif isinstance(node, ast.Call):
            for name in file.qualified(node.func) & set(_LOOKUPS):
                asked = node.args[_LOOKUPS[name] :]
                if asked and literal_text(asked[0]) == method:
                    found.append(node)
    return found


def _names_of_scopes(file: PythonFile) -> dict[int, str]:
    """The dotted name of the innermost function or class around each node, by the node's id."""
    names: dict[int, str] = {}
    waiting: list[tuple[ast.AST, str]] = [(file.body, file.module)]
    while waiting:
        node, scope = waiting.pop()
        names[id(node)] = scope
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            scope = f"{scope}.{node.name}"
        waiting += [(child, scope) for child in ast.iter_child_nodes(node)]
    return names
