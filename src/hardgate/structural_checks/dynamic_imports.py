"""Imports by a name that is only known when the program runs: no graph can hold them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hardgate.kinds.python_source import PythonFile, inside, literal_text
from hardgate.structural_checks.modules import matches
from hardgate.verdicts.verdict import Finding

DYNAMIC_IMPORT = "dynamic_import"

# What can import, run or look up a module under such a name.
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


def dynamic_findings(file: PythonFile, forbidden: Sequence[str]) -> Iterator[Finding]:
    """Every use of what imports by name, and every text that names a forbidden submodule."""
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
        # A single word says too many other things.
        if text and "." in text and matches(text, forbidden):
            message = f"holds the name {text!r} as text, which something else could import"
            yield Finding(file.path, getattr(node, "lineno", 1), DYNAMIC_IMPORT, message)


def _not_followed(file: PythonFile, line: int, name: str) -> Finding:
    message = f"uses {name}: what it imports is only known when it runs; write an import statement"
    return Finding(file.path, line, DYNAMIC_IMPORT, message)
