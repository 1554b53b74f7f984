"""Whether the runtime stays free of what evaluates it, in every way in which Python can import."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hardgate.kinds.python_source import Import, PythonFile, inside, literal_text
from hardgate.verdicts.verdict import Finding

RUNTIME = "agent_core"
EVALS = "agent_core.evals"
HARNESS = "hardgate"
IMPORTS_EVALS = "imports_evals"
IMPORTS_HARDGATE = "imports_hardgate"
DYNAMIC_IMPORT = "dynamic_import"
EVALS_MISSING = "evals_missing"

# What can import, run or look up a module under a name that is only known when it runs.
_DYNAMIC = (
    "__import__",
    "builtins.__import__",
    "builtins.eval",
    "builtins.exec",
    "compile",
    "eval",
    "exec",
    "importlib.__import__",
    "importlib.import_module",
    "importlib.machinery",
    "importlib.metadata.entry_points",
    "importlib.reload",
    "importlib.util",
    "pkgutil",
    "runpy",
    "sys.meta_path",
    "sys.modules",
    "sys.path",
    "sys.path_hooks",
    "zipimport",
)


def isolation_findings(files: Sequence[PythonFile]) -> Iterator[Finding]:
    """Every way from a module of the runtime outside its evals package to evals or the harness."""
    by_module = {file.module: file for file in files}
    guarded = [
        file
        for file in files
        if inside(file.module, (RUNTIME,)) and not inside(file.module, (EVALS,))
    ]
    if not any(inside(module, (EVALS,)) for module in by_module):
        message = f"there is no module {EVALS}: a renamed package would be guarded by nothing"
        yield Finding("", 0, EVALS_MISSING, message)
    for file in guarded:
        yield from _imported(file, by_module)
        yield from _used(file)
        yield from _dynamic(file)


def _rule_for(target: str) -> str | None:
    if inside(target, (EVALS,)):
        return IMPORTS_EVALS
    return IMPORTS_HARDGATE if inside(target, (HARNESS,)) else None


def _imported(file: PythonFile, by_module: Mapping[str, PythonFile]) -> Iterator[Finding]:
    for one in _with_star_imports(file.imports, by_module):
        if rule := _rule_for(one.target):
            message = f"{file.module} imports {one.target}"
            yield Finding(file.path, one.line, rule, message)
            continue
        chain = _chain(one.target, by_module)
        if chain:
            rule = _rule_for(chain[-1]) or IMPORTS_EVALS
            way = ", which imports ".join(chain)
            message = f"{file.module} imports {way}"
            yield Finding(file.path, one.line, rule, message)


def _with_star_imports(
    imports: Iterable[Import], by_module: Mapping[str, PythonFile]
) -> Iterator[Import]:
    """`from package import *` imports every submodule that `__all__` of the package names."""
    for one in imports:
        base, star, rest = one.target.rpartition(".*")
        if not star or rest or base not in by_module:
            yield one
            continue
        yield Import(one.importer, base, one.line)
        for name in _all_names(by_module[base]):
            yield Import(one.importer, f"{base}.{name}", one.line)


def _all_names(file: PythonFile) -> list[str]:
    names: list[str] = []
    for node in file.nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
                texts = (literal_text(item) for item in ast.walk(node.value or node))
                names += [text for text in texts if text]
    return names


def _chain(target: str, by_module: Mapping[str, PythonFile]) -> list[str]:
    """The shortest way from a module outside the runtime to evals or the harness, or nothing.

    Inside the runtime each module answers for its own imports, so the search ends there.
    """
    first = known_module(target, by_module)
    if first is None or inside(first, (RUNTIME,)):
        return []
    ways: list[list[str]] = [[first]]
    seen = {first}
    while ways:
        way = ways.pop(0)
        for one in _with_star_imports(by_module[way[-1]].imports, by_module):
            if _rule_for(one.target):
                return [*way, one.target]
            module = known_module(one.target, by_module)
            if module and module not in seen and not inside(module, (RUNTIME,)):
                seen.add(module)
                ways.append([*way, module])
    return []


def known_module(target: str, by_module: Mapping[str, PythonFile]) -> str | None:
    """The module that a dotted name belongs to: itself, or the longest known module above it."""
    while target:
        if target in by_module:
            return target
        target = target.rpartition(".")[0]
    return None


def _used(file: PythonFile) -> Iterator[Finding]:
    """`import agent_core` and then `agent_core.evals.x` needs no import statement of its own."""
    reported = [one.target for one in file.imports if _rule_for(one.target)]
    for node in file.nodes:
        if isinstance(node, ast.Attribute):
            for name in file.qualified(node):
                if inside(name, (EVALS,)) and not inside(name, reported):
                    message = f"{file.module} reaches {EVALS} through the package that holds it"
                    yield Finding(file.path, node.lineno, IMPORTS_EVALS, message)


def _dynamic(file: PythonFile) -> Iterator[Finding]:
    """Imports by a name handed to a function: no walk can follow them, so none is allowed."""
    inner = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
    for one in file.imports:
        if inside(one.target, _DYNAMIC):
            yield _not_followed(file, one.line, one.target)
    for node in file.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            for name in sorted(file.qualified(node)):
                if inside(name, _DYNAMIC):
                    yield _not_followed(file, node.lineno, name)
        text = literal_text(node)
        if text and inside(text, (EVALS,)):
            message = f"holds the name {text!r} as text, which something else could import"
            yield Finding(file.path, getattr(node, "lineno", 1), DYNAMIC_IMPORT, message)


def _not_followed(file: PythonFile, line: int, name: str) -> Finding:
    message = f"uses {name}: what it imports is only known when it runs; write an import statement"
    return Finding(file.path, line, DYNAMIC_IMPORT, message)
