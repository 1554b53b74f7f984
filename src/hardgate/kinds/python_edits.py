"""Edits of Python sources for defects: what a careless commit adds to a module that exists.

Each finds its place in the source as it is now, so that a defect keeps working while the
repository grows. All raise DefectError when there is no such place.
"""

from __future__ import annotations

import ast

from hardgate.documents.tree import DefectError, MissingFile, OverlayTree


def first_module(tree: OverlayTree, folder: str) -> str:
    """The path of the first module in a folder or below it; a package's __init__ does not count."""
    for path in tree.glob(f"{folder}/**/*.py"):
        if not path.endswith("/__init__.py"):
            return path
    raise DefectError(f"there is no module below {folder}")


def dotted(path: str, root: str = "src") -> str:
    """The name under which the module at a path is imported."""
    module = path.removeprefix(f"{root}/").removesuffix(".py").removesuffix("/__init__")
    return module.replace("/", ".")


def add_import(tree: OverlayTree, path: str, statement: str) -> None:
    """Adds a statement before the first one of a module, after its docstring and __future__."""
    text, body = _parsed(tree, path)
    number = next((node.lineno for node in body.body if not _comes_first(node)), None)
    if number is None:
        tree.write(path, f"{text.rstrip()}\n\n{statement}\n")
    else:
        _insert(tree, path, text, number, statement)


def add_to_function(tree: OverlayTree, path: str, statement: str) -> None:
    """Adds a statement at the beginning of the first function of a module, methods included."""
    text, body = _parsed(tree, path)
    for node in ast.walk(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = [one for one in node.body if not _is_text(one)]
            if inside and inside[0].lineno > node.lineno:
                indent = " " * inside[0].col_offset
                lines = [indent + line for line in statement.splitlines()]
                _insert(tree, path, text, inside[0].lineno, "\n".join(lines))
                return
    raise DefectError(f"{path} has no function to add a statement to")


def rename(tree: OverlayTree, path: str, old: str, new: str) -> None:
    """Renames one function where it is defined, and nowhere else."""
    tree.edit(path, f"\ndef {old}(", f"\ndef {new}(")


def append(tree: OverlayTree, path: str, text: str) -> None:
    """Adds lines at the end of a file."""
    try:
        before = tree.read(path).decode("utf-8")
    except (MissingFile, UnicodeDecodeError) as error:
        raise DefectError(f"cannot add to {path}: {error}") from None
    tree.write(path, f"{before.rstrip()}\n{text.rstrip()}\n")


def _parsed(tree: OverlayTree, path: str) -> tuple[str, ast.Module]:
    try:
        text = tree.read(path).decode("utf-8")
        return text, ast.parse(text)
    except (MissingFile, UnicodeDecodeError, SyntaxError) as error:
        raise DefectError(f"cannot edit {path}: {error}") from None


def _comes_first(node: ast.stmt) -> bool:
    return _is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _insert(tree: OverlayTree, path: str, text: str, number: int, statement: str) -> None:
    """Inserts lines before the line of a number, counted from 1."""
    lines = text.split("\n")
    lines[number - 1 : number - 1] = statement.split("\n")
    tree.write(path, "\n".join(lines))
