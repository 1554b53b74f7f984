"""YAML files of gates/ and evals/ that no other reader of lint looks at, and names like theirs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import Tree
from hardgate.documents.wording import quoted
from hardgate.registry.allowances import ALLOWANCE_FILES, read_allowances
from hardgate.registry.loader import Registry
from hardgate.registry.quarantine import QUARANTINE, quarantine_problems

FOLDERS = ("gates", "evals")
# What a defect lays over the workspace is wrong on purpose.
_DEFECTS = "gates/defects/"
_SUFFIXES = (".yaml", ".yml")
_RULE = "yaml_file_name"


def other_yaml_problems(
    tree: Tree, registry: Registry | None, reported: Collection[str]
) -> Iterator[Problem]:
    """What is wrong with the quarantine, with allowances, and with the syntax of all the rest.

    Files in `reported` have problems that another reader has found.
    """
    yield from quarantine_problems(tree, registry)
    allowances = tree.glob(ALLOWANCE_FILES)
    for path in allowances:
        yield from read_allowances(tree, path)[1]
    seen = {QUARANTINE, *allowances, *reported}
    for folder in FOLDERS:
        for path in (*tree.glob(f"{folder}/**/*.yaml"), *tree.glob(f"{folder}/**/*.yml")):
            if path in seen or path.startswith(_DEFECTS):
                continue
            try:
                load(path, tree.read(path))
            except DefinitionError as error:
                yield from error.problems


def overlooked(root: Path) -> Iterator[Problem]:
    """What is named like a YAML file below the folders and is read by nobody.

    These are names in capitals, folders, pipes, and links that lead out of the workspace or
    nowhere.
    """
    top = os.path.realpath(root)
    for name in FOLDERS:
        for folder, folders, files in os.walk(root / name):
            place = Path(folder).relative_to(root).as_posix()
            if f"{place}/".startswith(_DEFECTS) and place.count("/") > 2:
                folders.clear()
                continue
            for one in sorted((*folders, *files)):
                found = _fault(Path(folder, one), top)
                if found and one.lower().endswith(_SUFFIXES):
                    yield Problem(f"{place}/{one}", 1, 1, _RULE, found)


def _fault(path: Path, top: str) -> str | None:
    """Why nobody reads a path that is named like a YAML file."""
    if path.is_symlink():
        real = os.path.realpath(path)
        if not os.path.exists(real):
            return "found a link that leads nowhere; allowed: a file"
        if not real.startswith(top + os.sep):
            return "found a link that leads out of the workspace; allowed: a file inside of it"
    if path.is_dir():
        return f"found a folder of the name {quoted(path.name)}; allowed: a file"
    if not path.is_file():
        return "found what is neither a file nor a folder; allowed: a file"
    if path.suffix not in _SUFFIXES:
        return f"found the file name {quoted(path.name)}; allowed: one that ends in .yaml"
    return None
