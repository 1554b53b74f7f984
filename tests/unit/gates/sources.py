"""Small trees of sources, and what a check says about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.entry import GateEntry
from hardgate.kinds.python_source import PythonFile, parse_files

Check = Callable[[StructuralContext], Examination]
GATE = GateEntry(
    id="gate.area.slug",
    area="area",
    slug="slug",
    kind="structural",
    milestone=0,
    path="gates/area.yaml",
    line=1,
)


def tree_of(files: Mapping[str, str | bytes]) -> OverlayTree:
    """A tree that holds these files; texts lose their common indentation."""
    tree = OverlayTree(ManifestTree({}))
    for path, content in files.items():
        tree.write(path, dedent(content) if isinstance(content, str) else content)
    return tree


def examine(check: Check, files: Mapping[str, str | bytes]) -> Examination:
    """Runs a check over a tree of these files."""
    return check(StructuralContext(tree_of(files), GATE))


def said(examination: Examination) -> list[str]:
    """The findings as `path:line: rule`, sorted, each once."""
    return sorted({f"{one.path}:{one.line}: {one.rule}" for one in examination.findings})


def parsed(files: Mapping[str, str]) -> list[PythonFile]:
    """The Python files of a tree; all of them must be Python."""
    tree = tree_of(files)
    found, findings = parse_files(tree, sorted(files))
    assert findings == []
    return found
