"""A counterexample that is one edit: declared in the registry, without any code."""

from __future__ import annotations

import importlib

from hardgate.documents.tree import DefectError
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited
from hardgate.kinds.entry import DeclaredEdit


def put_edit(edit: DeclaredEdit, bench: Bench) -> None:
    """Edits the file in the tree, or the function in this process.

    Raises DefectError where there is no such file or function, or the text does not occur in it
    exactly once.
    """
    if edit.path is not None:
        bench.tree.edit(edit.path, edit.old, edit.new)
        return
    owner, attribute = _owner(edit.function or "")
    bench.replace(owner, attribute, edited(edit.old, edit.new))


def _owner(dotted: str) -> tuple[object, str]:
    """The module or class that holds a function, and the function's name."""
    parts = dotted.split(".")
    for end in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:end])
        try:
            owner: object = importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Only the module itself or a package above it: an import that fails inside is told.
            if error.name and (name + ".").startswith(error.name + "."):
                continue
            raise
        for part in parts[end:-1]:
            owner = getattr(owner, part, None)
        if owner is None:
            break
        return owner, parts[-1]
    raise DefectError(f"cannot edit {dotted}: there is no such function")
