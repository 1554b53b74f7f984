"""Edits of files that the counterexamples of the area harness have in common."""

from __future__ import annotations

from collections.abc import Callable

from hardgate.documents.tree import DefectError
from hardgate.kinds.bench import Bench


def change(bench: Bench, path: str, rewrite: Callable[[str], str]) -> None:
    """Rewrites a file. Raises DefectError when the change finds nothing to change."""
    before = bench.tree.read(path).decode("utf-8")
    after = rewrite(before)
    if after == before:
        raise DefectError(f"{path} holds nothing to change")
    bench.tree.write(path, after)
