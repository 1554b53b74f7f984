"""Where modules use what a dotted name stands for: called, handed on, or imported.

A name is followed through aliases, from-imports, assignments, `getattr` with a literal and imports
by a literal name, and through other modules of the sources that import it themselves.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hardgate.kinds.python_source import PythonFile, inside
from hardgate.structural_checks.modules import known_module

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Use(NamedTuple):
    """A use of `name`, which is written in full, at a line of a file."""

    file: PythonFile
    line: int
    name: str
    node: ast.AST


class NameUses:
    """Finds uses in some modules, which may hand names on to each other."""

    def __init__(self, files: Sequence[PythonFile]) -> None:
        self.by_module = {file.module: file for file in files}

    def of(self, file: PythonFile, names: Sequence[str]) -> Iterator[Use]:
        """Every use in a file of one of the names, or of what is below one.

        Builtins are written without `builtins.`. A plain import of a module takes nothing yet.
        """
        yield from self._imported(file, names)
        inner = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
        own = _own_names(file)
        for node in file.nodes:
            if isinstance(node, ast.Name | ast.Attribute):
                # A field or a variable of such a name takes nothing, and the whole of
                # `a.b.c` is looked at, not each part.
                if not isinstance(node.ctx, ast.Load) or id(node) in inner:
                    continue
            elif not isinstance(node, ast.Call | ast.Subscript):
                continue
            if id(_root(node)) not in own:
                yield from self._used(file, node, names)

    def _used(self, file: PythonFile, node: ast.expr, names: Sequence[str]) -> Iterator[Use]:
        written = file.qualified(node) or self._by_star(file, node)
        meant = {one for name in written for one in self.meanings(name)}
        for name in sorted(meant):
            if inside(name, names):
                yield Use(file, node.lineno, name, node)

    def _imported(self, file: PythonFile, names: Sequence[str]) -> Iterator[Use]:
        for one in file.imports:
            module, star, _ = one.target.rpartition(".*")
            if star:
                # What comes from a module of the sources is found where it is used.
                foreign = module not in self.by_module
                if foreign and any(inside(name, (module,)) for name in names):
                    yield Use(file, one.line, one.target, file.body)
            # `import time` alone takes nothing: what is used of it is found where it is used.
            elif "." in one.target:
                for name in sorted(self.meanings(one.target)):
                    if inside(name, names):
                        yield Use(file, one.line, name, file.body)

    def meanings(self, name: str) -> frozenset[str]:
        """A dotted name, and what the modules that hand it on call it themselves."""
        seen: set[str] = set()
        waiting = [name.removeprefix("builtins.")]
        while waiting:
            one = waiting.pop().removeprefix("builtins.")
            if one not in seen:
                seen.add(one)
                waiting += self._handed_on(one)
        return frozenset(seen)

    def _handed_on(self, name: str) -> list[str]:
        """What a module of the sources imported under a name, if it did."""
        module = known_module(name, self.by_module)
        if module is None or module == name:
            return []
        file = self.by_module[module]
        first, dot, rest = name[len(module) + 1 :].partition(".")
        origins = file.origins.get(first) or [f"{base}.{first}" for base in self._stars(file)]
        return [origin + dot + rest for origin in origins]

    def _stars(self, file: PythonFile) -> list[str]:
        """The modules of the sources of which a file imports every name."""
        stars = [one.target[:-2] for one in file.imports if one.target.endswith(".*")]
        return [module for module in stars if module in self.by_module]

    def _by_star(self, file: PythonFile, node: ast.expr) -> list[str]:
        """What a name stands for that nothing binds, where a star may have bound it."""
        root = _root(node)
        if not isinstance(root, ast.Name) or root.id in file.origins:
            return []
        return [f"{base}.{ast.unparse(node)}" for base in self._stars(file)]


def _root(node: ast.AST) -> ast.AST:
    """The name at the beginning of `a.b.c`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _own_names(file: PythonFile) -> set[int]:
    """Which name nodes stand for something that the file binds itself.

    These are parameters without a default, since one with a default may be just an alias, and names
    of builtins that a function or the module binds to something of its own.
    """
    found: set[int] = set()
    top = _bound(file.body) - set(file.origins)
    for node in file.nodes:
        if isinstance(node, ast.Name) and node.id in top and hasattr(builtins, node.id):
            found.add(id(node))
        if isinstance(node, _SCOPES):
            assigned, imported = _bound(node), _imported_in(node)
            bound = _parameters(node) - assigned
            bound |= {name for name in assigned - set(file.origins) if hasattr(builtins, name)}
            bound -= imported
            body = node.body if isinstance(node.body, list) else [node.body]
            for statement in body:
                for inner in ast.walk(statement):
                    if isinstance(inner, ast.Name) and inner.id in bound:
                        found.add(id(inner))
    return found


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    arguments = node.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    required = ordered[: len(ordered) - len(arguments.defaults)]
    required += [
        one
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    return {one.arg for one in required}


def _imported_in(scope: ast.AST) -> set[str]:
    imports = (node for node in ast.walk(scope) if isinstance(node, ast.Import | ast.ImportFrom))
    return {name.asname or name.name.partition(".")[0] for node in imports for name in node.names}


def _bound(scope: ast.AST) -> set[str]:
    """The names that the body of a module or function binds directly."""
    names: set[str] = set()
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        elif isinstance(node, ast.Lambda):
            continue
        waiting += ast.iter_child_nodes(node)
    return names
