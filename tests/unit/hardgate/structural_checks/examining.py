"""Small trees of sources, and what a ready check says about them."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.entry import GateEntry, load_check

PLACE = "gates/area.yaml:7"


def tree_of(files: Mapping[str, str | bytes]) -> OverlayTree:
    """A tree that holds these files; texts lose their common indentation."""
    tree = OverlayTree(ManifestTree({}))
    for path, content in files.items():
        tree.write(path, dedent(content) if isinstance(content, str) else content)
    return tree


def examine(
    check: str, files: Mapping[str, str | bytes], options: Mapping[str, Any] | None = None
) -> Examination:
    """Runs the ready check of a name over a tree of these files."""
    gate = GateEntry(
        id="gate.area.slug",
        area="area",
        slug="slug",
        kind="structural",
        milestone=0,
        path="gates/area.yaml",
        line=7,
        check=f"hardgate:{check}",
        options=options,
    )
    return load_check(gate)(StructuralContext(tree_of(files), gate))


def said(examination: Examination) -> list[str]:
    """The findings as `path:line: rule`, sorted, each once."""
    return sorted({f"{one.path}:{one.line}: {one.rule}" for one in examination.findings})
