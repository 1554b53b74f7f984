"""Python sources read without importing them: modules, imports, and what a name stands for.

A name is followed through `import a as b`, `from a import b as c`, plain assignments such as
`skip = pytest.skip`, `getattr(module, "name")` with a literal, and imports by a literal name.
Everything here over-approximates: a name bound twice stands for both things.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hardgate.documents.tree import Tree
from hardgate.verdicts.verdict import Finding

_TOP_GIVERS = frozenset({"importlib.__import__", "__import__", "builtins.__import__"})
_IMPORTERS = _TOP_GIVERS | {"importlib.import_module"}
# These return a module, or what is in one.
_GIVERS = _IMPORTERS | {"pkgutil.resolve_name", "sys.modules.get"}
# These run or find a module by its name as well, and do not return it.
_LOADERS = _IMPORTERS | {
    "importlib.util.find_spec",
    "pkgutil.resolve_name",
    "runpy.run_module",
}
_NAMES = ("name", "mod_name")
_MAX_ALIAS_ROUNDS = 8
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Import:
    """One imported name: `importer` needs `target`, a dotted name that may end in an attribute."""

    importer: str
    target: str
    line: int


@dataclass(frozen=True, eq=False)
class PythonFile:
    """One parsed source file; `module` is its dotted name on the import path."""

    path: str
    module: str
    body: ast.Module = field(repr=False)

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the file, in source order."""
        return tuple(ast.walk(self.body))

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every import statement of the file wherever it stands, conditional ones included."""
        found: list[Import] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [Import(self.module, name.name, node.lineno) for name in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = self.absolute(node)
                found += [
                    Import(self.module, join(base, name.name), node.lineno) for name in node.names
                ]
        return tuple(sorted(found))

    @cached_property
    def named_imports(self) -> tuple[Import, ...]:
        """Imports by a name that is given as a literal: to a function, or to `sys.modules`."""
        found: list[Import] = []
        for node in self.nodes:
            name = None
            if isinstance(node, ast.Call) and self.qualified(node.func) & _LOADERS:
                name = self._named_module(node)
            elif isinstance(node, ast.Subscript) and "sys.modules" in self.qualified(node.value):
                name = literal_text(node.slice)
            if name:
                found.append(Import(self.module, name, getattr(node, "lineno", 1)))
        return tuple(sorted(found))

    def _named_module(self, call: ast.Call) -> str | None:
        """The module that an import function is asked for, where literals say so."""
        given = {one.arg: one.value for one in call.keywords}
        positional = dict(zip(("name", "package"), call.args, strict=False))
        first = positional.get("name")
        named = next((given[key] for key in _NAMES if key in given), None)
        name = literal_text(first if first is not None else named)
        if name is None or not name.startswith("."):
            return name and name.partition(":")[0]
        package = literal_text(positional.get("package", given.get("package")))
        own = self.module if self.is_package else self.module.rpartition(".")[0]
        return resolved(name, own if package is None else package)

    @cached_property
    def origins(self) -> Mapping[str, frozenset[str]]:
        """What each plain name of the file may stand for, as dotted names."""
        known: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    bound = name.asname or name.name.partition(".")[0]
                    known.setdefault(bound, set()).add(name.name if name.asname else bound)
            elif isinstance(node, ast.ImportFrom):
                base = self.absolute(node)
                for name in node.names:
                    known.setdefault(name.asname or name.name, set()).add(join(base, name.name))
        self._follow_assignments(known)
        return {name: frozenset(targets) for name, targets in known.items()}

    def _follow_assignments(self, known: dict[str, set[str]]) -> None:
        pairs = [pair for node in self.nodes for pair in _assigned_names(node)]
        for _ in range(_MAX_ALIAS_ROUNDS):
            before = sum(map(len, known.values()))
            for name, value in pairs:
                targets = _qualified(value, known) - {name}
                if targets:
                    known.setdefault(name, set()).update(targets)
            if sum(map(len, known.values())) == before:
                return

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute dotted name that a `from` import reads from."""
        if not node.level:
            return node.module or ""
        package = self.module.split(".")
        climb = node.level - 1 if self.is_package else node.level
        kept = package[: max(len(package) - climb, 0)]
        return ".".join(kept + ([node.module] if node.module else []))

    def qualified(self, node: ast.AST) -> frozenset[str]:
        """The dotted names that an expression may stand for; empty where it is not a name."""
        return frozenset(_qualified(node, self.origins))


def resolved(name: str, package: str) -> str:
    """The absolute form of a relative dotted name, seen from a package."""
    level = len(name) - len(name.lstrip("."))
    parts = package.split(".")
    return join(".".join(parts[: max(len(parts) - level + 1, 0)]), name[level:])


def join(base: str, name: str) -> str:
    """Joins two dotted names, either of which may be empty."""
    return f"{base}.{name}" if base and name else base or name


def inside(module: str, packages: Sequence[str]) -> bool:
    """Whether a dotted name is one of the packages or lies below one."""
    return any(module == package or module.startswith(package + ".") for package in packages)


def literal_text(node: ast.AST | None) -> str | None:
    """The text of an expression made of literals only: plain, joined by + or by str.join."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _all_joined("", [node.left, node.right])
    if isinstance(node, ast.JoinedStr):
        return _all_joined("", node.values)
    if isinstance(node, ast.FormattedValue):
        return literal_text(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        separator = literal_text(node.func.value)
        if node.func.attr == "join" and separator is not None and len(node.args) == 1:
            items = node.args[0]
            if isinstance(items, ast.List | ast.Tuple):
                return _all_joined(separator, items.elts)
    return None


def _all_joined(separator: str, nodes: Sequence[ast.AST]) -> str | None:
    texts = [literal_text(node) for node in nodes]
    return None if None in texts else separator.join(text for text in texts if text is not None)


def _assigned_names(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _paired(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield from _paired(node.target, node.value)


def _paired(target: ast.AST, value: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _paired(one, other)


def _qualified(node: ast.AST, known: Mapping[str, object]) -> set[str]:
    if isinstance(node, ast.Name):
        targets = known.get(node.id)
        if isinstance(targets, set | frozenset):
            return set(targets)
        return {node.id} if hasattr(builtins, node.id) else set()
    if isinstance(node, ast.Attribute):
        return {f"{base}.{node.attr}" for base in _qualified(node.value, known)}
    if isinstance(node, ast.Subscript) and "sys.modules" in _qualified(node.value, known):
        name = literal_text(node.slice)
        return {name} if name else set()
    if isinstance(node, ast.Call):
        return _qualified_call(node, known)
    return set()


def _qualified_call(node: ast.Call, known: Mapping[str, object]) -> set[str]:
    """`getattr(x, "name")` and imports by a literal name; no other call is followed."""
    called = _qualified(node.func, known)
    if called & {"getattr", "builtins.getattr"} and len(node.args) >= 2:
        name = literal_text(node.args[1])
        return {f"{base}.{name}" for base in _qualified(node.args[0], known)} if name else set()
    if called & _GIVERS:
        given = {one.arg: one.value for one in node.keywords}
        name = literal_text(node.args[0] if node.args else given.get("name"))
        if not name:
            return set()
        # `__import__` alone returns the package at the top of the name, with a fromlist not.
        top = {name.partition(".")[0]} if called & _TOP_GIVERS else set()
        return {name.replace(":", "."), *top}
    return set()


def functions_of(body: Sequence[ast.stmt]) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions defined directly in a list of statements, conditional blocks included."""
    return [node for node in _statements(body) if isinstance(node, _FunctionNode)]


def classes_of(body: Sequence[ast.stmt]) -> list[ast.ClassDef]:
    """The classes defined directly in a list of statements, conditional blocks included."""
    return [node for node in _statements(body) if isinstance(node, ast.ClassDef)]


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for block in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, block, []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)


def module_name(path: str, roots: Sequence[str]) -> str:
    """The dotted name of a file below one of the import roots ("" is the workspace itself)."""
    for root in sorted(roots, key=len, reverse=True):
        prefix = root + "/" if root else ""
        if path.startswith(prefix):
            parts = path[len(prefix) :].removesuffix(".py").split("/")
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return path.removesuffix(".py").replace("/", ".")


def parse_files(
    tree: Tree, paths: Sequence[str], roots: Sequence[str] = ("src", "")
) -> tuple[list[PythonFile], list[Finding]]:
    """Parses the files at the paths.

    Returns the parsed files and a `syntax_error` finding for each one that is not Python: a file
    that cannot be read is never a file without findings.
    """
    files: list[PythonFile] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            body = ast.parse(tree.read(path), filename=path)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            # The parser gives up on what is nested too deeply, with either of the last two.
            reason = getattr(error, "msg", None) or str(error) or "nested too deeply"
            findings.append(Finding(path, line, "syntax_error", f"not valid Python: {reason}"))
            continue
        files.append(PythonFile(path, module_name(path, roots), body))
    return files, findings
