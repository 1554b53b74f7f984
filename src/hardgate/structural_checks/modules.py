"""The Python modules below the import roots of a check, and patterns of their names."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from hardgate.documents.tree import Tree
from hardgate.kinds.python_source import PythonFile, parse_files
from hardgate.verdicts.verdict import Finding

# What a counterexample lays over the sources is wrong on purpose, and no module where it lies.
_DEFECT_TREES = re.compile(r"gates/defects/[^/]+/[^/]+/")


class Modules(NamedTuple):
    """The parsed files below the roots, sorted by path, and what keeps others from being read."""

    files: tuple[PythonFile, ...]
    findings: tuple[Finding, ...]


def read_modules(tree: Tree, roots: Sequence[str], place: tuple[str, int]) -> Modules:
    """Parses every Python file below the roots, which are declared at `place`.

    "." is the workspace. A root without a Python file is a finding, and so is a file that is not
    Python, and a second file for one module: nothing of it is examined.
    """
    below = {root: _python_files(tree, root) for root in roots}
    parsed, findings = parse_files(
        tree, sorted({*chain(*below.values())}), ["" if root == "." else root for root in roots]
    )
    for root, paths in below.items():
        if not paths:
            message = f"found no Python file of the sources below the root {root}"
            findings.append(Finding(*place, "unknown_root", message))
    first: dict[str, PythonFile] = {}
    for file in parsed:
        known = first.setdefault(file.module, file)
        if known is not file:
            message = f"is the module {file.module}, as {known.path} is; only one of them is read"
            findings.append(Finding(file.path, 1, "module_twice", message))
    return Modules(tuple(first.values()), tuple(findings))


def _python_files(tree: Tree, root: str) -> list[str]:
    found = tree.glob("**/*.py" if root == "." else f"{root}/**/*.py")
    return [path for path in found if not _DEFECT_TREES.match(path)]


def matches(module: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern stands for a dotted name: the same, or one above it; `*` is one part."""
    return bool(patterns) and _matcher(tuple(patterns)).match(module) is not None


@lru_cache(maxsize=1024)
def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    names = (
        r"\.".join("[^.]+" if part == "*" else re.escape(part) for part in pattern.split("."))
        for pattern in patterns
    )
    return re.compile(rf"({'|'.join(names)})(?:\.|$)")


def matched(module: str, patterns: Sequence[str]) -> str | None:
    """The part of a dotted name that the longest of the patterns stands for."""
    if not patterns:
        return None
    longest_first = sorted(patterns, key=lambda pattern: -pattern.count("."))
    found = _matcher(tuple(longest_first)).match(module)
    return found and found.group(1)


def unknown_modules(
    place: tuple[str, int], key: str, patterns: Sequence[str], files: Sequence[PythonFile]
) -> Iterator[Finding]:
    """A finding for each pattern that stands for no module: it would bind or free nothing."""
    for pattern in dict.fromkeys(patterns):
        if not any(matches(file.module, (pattern,)) for file in files):
            message = f"{key} names {pattern}, and no module below the roots is called so"
            yield Finding(*place, "unknown_module", message)


def known_module(target: str, known: Container[str]) -> str | None:
    """The module that a dotted name belongs to: itself, or the longest known one above it."""
    while target and target not in known:
        target = target.rpartition(".")[0]
    return target or None
