"""The graph of all imports of some modules, whatever form an import has.

Statements count wherever they stand: in a function, behind a condition, under TYPE_CHECKING. So do
imports by a literal name, a star import of submodules, and the use of a module through the package
that holds it (`import pack` and then `pack.low.thing`, which needs no statement of its own).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import grimp

from hardgate.kinds.python_source import PythonFile, literal_text
from hardgate.structural_checks.modules import known_module, matched


class Edge(NamedTuple):
    """One import between two modules, with the lines at which it stands.

    `imported` is a module of the sources or the name of something else. `by_use` says that no
    statement imports it.
    """

    importer: str
    imported: str
    lines: tuple[int, ...]
    by_use: bool


class Imports(NamedTuple):
    """The graph, its edges in order, and the file of each module."""

    graph: grimp.ImportGraph
    edges: tuple[Edge, ...]
    files: Mapping[str, PythonFile]

    @property
    def examined(self) -> int:
        """How many modules are imported by statements, by each module anew."""
        return sum(not edge.by_use for edge in self.edges)

    @property
    def own_packages(self) -> frozenset[str]:
        """The top-level names of the sources."""
        return frozenset(module.partition(".")[0] for module in self.files)


def build_imports(files: Sequence[PythonFile], finer: Sequence[str] = ()) -> Imports:
    """Reads all imports of the files; each file is a module of its own.

    What is not of the sources is known by its top-level name, and by the patterns of `finer` where
    one of them stands for it: with `urllib.request`, that is another module than `urllib`.
    """
    by_module = {file.module: file for file in files}
    names = _Names(by_module, finer)
    edges = sorted(edge for file in files for edge in _edges_of(file, names))
    graph = grimp.ImportGraph()
    for module in by_module:
        graph.add_module(module)
    for edge in edges:
        graph.add_import(
            importer=edge.importer,
            imported=edge.imported,
            line_number=edge.lines[0],
            line_contents="",
        )
    return Imports(graph, tuple(edges), by_module)


class _Names(NamedTuple):
    """What the graph calls a dotted name."""

    by_module: Mapping[str, PythonFile]
    finer: Sequence[str]

    def of(self, target: str) -> str:
        own = known_module(target, self.by_module)
        return own or matched(target, self.finer) or target.partition(".")[0]


def _edges_of(file: PythonFile, names: _Names) -> Iterator[Edge]:
    imported: dict[str, set[int]] = {}
    for target, line in _targets(file, names.by_module):
        imported.setdefault(names.of(target), set()).add(line)
    used: dict[str, set[int]] = {}
    for target, line in _used(file):
        name = names.of(target)
        if name not in imported:
            used.setdefault(name, set()).add(line)
    for found, by_use in ((imported, False), (used, True)):
        for name, lines in found.items():
            if name and name != file.module:
                yield Edge(file.module, name, tuple(sorted(lines)), by_use)


def _targets(file: PythonFile, by_module: Mapping[str, PythonFile]) -> Iterator[tuple[str, int]]:
    for one in (*file.imports, *file.named_imports):
        yield one.target.removesuffix(".*"), one.line
        base, star, _ = one.target.rpartition(".*")
        if star and base in by_module:
            for name in exported_names(by_module[base]):
                yield f"{base}.{name}", one.line


def exported_names(file: PythonFile) -> list[str]:
    """The texts in `__all__` of a module; a star import takes them, submodules included."""
    names: list[str] = []
    for node in file.nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
                texts = (literal_text(item) for item in ast.walk(node.value or node))
                names += [text for text in texts if text]
    return names


def _used(file: PythonFile) -> Iterator[tuple[str, int]]:
    """What is reached through a name that an import bound, with all its attributes."""
    tops = {one.target.partition(".")[0] for one in (*file.imports, *file.named_imports)}
    inner = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
    for node in file.nodes:
        if isinstance(node, ast.Attribute | ast.Call) and id(node) not in inner:
            for name in file.qualified(node):
                top, dot, _ = name.partition(".")
                if dot and top in tops:
                    yield name, node.lineno
