"""Judges the graph of imports by the rules in structure_rules.py.

grimp reads the graph from files, so the tree is written to a scratch folder and grimp is told where
each package lies: it would otherwise look for `hardgate` where this very process runs from.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import grimp
from grimp.application.config import settings
from grimp.application.ports.packagefinder import AbstractPackageFinder

from gates.checks.structure_rules import (
    EXCEPTIONS,
    HARNESS_ORDER,
    PACKAGES,
    RULES,
    RUNTIME_LAYERS,
    ImportException,
    ImportRule,
)
from hardgate.kinds.python_source import PythonFile, inside
from hardgate.verdicts.verdict import Finding

_PLACES = (
    ("agent_core", frozenset({*RUNTIME_LAYERS, "evals"})),
    ("hardgate", frozenset(name for names in HARNESS_ORDER for name in names)),
)
# Judged by gate.harness.evals_isolation, so that one import never turns two gates red.
_OWNED_ELSEWHERE = ("agent_core.evals", "hardgate")


@dataclass(frozen=True)
class Edge:
    """One import between two modules, with the lines at which it stands."""

    importer: str
    imported: str
    lines: tuple[int, ...]


class _Folders(AbstractPackageFinder):
    """Finds packages below one folder and nowhere else."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def determine_package_directories(self, package_name: str, file_system: object) -> set[str]:
        return {str(self._root.joinpath(*package_name.split(".")))}


def build_graph(files: Sequence[PythonFile], contents: dict[str, bytes]) -> grimp.ImportGraph:
    """The graph of all imports of the files, third-party and standard modules included."""
    packages = sorted({file.module.split(".")[0] for file in files})
    before = settings.PACKAGE_FINDER
    with tempfile.TemporaryDirectory(prefix="imports-") as folder:
        for file in files:
            name = file.module.replace(".", "/") + ("/__init__" if file.is_package else "")
            place = Path(folder, name + ".py")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(contents[file.path])
        settings.configure(PACKAGE_FINDER=_Folders(Path(folder)))
        try:
            return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)
        finally:
            settings.configure(PACKAGE_FINDER=before)


class ImportJudge:
    """Applies the rules to a graph. Findings stand at the line of the first import of a way."""

    def __init__(
        self,
        graph: grimp.ImportGraph,
        files: Sequence[PythonFile],
        rules: Sequence[ImportRule] = RULES,
        exceptions: Sequence[ImportException] = EXCEPTIONS,
    ) -> None:
        self.graph = graph
        self.files = {file.module: file for file in files}
        self.ours = {file.module.split(".")[0] for file in files}
        self.rules = rules
        self.exceptions = exceptions

    def edges(self) -> list[Edge]:
        """Every import of the graph, sorted."""
        found: list[Edge] = []
        for importer in sorted(self.files):
            if importer not in self.graph.modules:
                continue
            for imported in sorted(self.graph.find_modules_directly_imported_by(importer)):
                details = self.graph.get_import_details(importer=importer, imported=imported)
                lines = tuple(sorted({detail["line_number"] for detail in details}))
                found.append(Edge(importer, imported, lines))
        return found

    def findings(self) -> Iterator[Finding]:
        """Everything that breaks a rule, and everything that keeps a rule from being judged."""
        yield from self._unplaced()
        yield from self._named()
        edges = self.edges()
        used: set[ImportException] = set()
        for edge in edges:
            rule = self._broken(edge.importer, edge.imported)
            if rule is None:
                continue
            exception = self._exception(edge)
            if exception is not None:
                used.add(exception)
            else:
                yield from self._direct(edge, rule)
            self.graph.remove_import(importer=edge.importer, imported=edge.imported)
        for exception in self.exceptions:
            if exception not in used:
                pair = f"{exception.importer} -> {exception.imported}"
                message = f"the exception {pair} allows nothing that exists; remove it"
                yield Finding("", 0, "unused_exception", message)
        yield from self._chains(edges)

    def _unplaced(self) -> Iterator[Finding]:
        for module, file in sorted(self.files.items()):
            if module not in self.graph.modules:
                message = f"{module} is in no package, because a folder above it has no __init__.py"
                yield Finding(file.path, 1, "unplaced_module", message)
            for package, places in _PLACES:
                part = module.removeprefix(package + ".").split(".")[0]
                if module.startswith(package + ".") and part not in places:
                    message = f"{module} has no place in the order; allowed: {_listed(places)}"
                    yield Finding(file.path, 1, "unplaced_module", message)

    def _named(self) -> Iterator[Finding]:
        """Imports by a literal name, which the graph does not hold."""
        for module, file in sorted(self.files.items()):
            for one in file.named_imports:
                rule = self._broken(module, one.target)
                if rule is not None:
                    yield from self._direct(Edge(module, one.target, (one.line,)), rule)

    def _broken(self, importer: str, imported: str) -> ImportRule | None:
        third_party = self._is_third_party(imported)
        for rule in self.rules:
            if rule.covers(importer) and rule.forbids(imported, third_party=third_party):
                return rule
        return None

    def _is_third_party(self, module: str) -> bool:
        top = module.split(".")[0]
        return top not in self.ours and top not in sys.stdlib_module_names

    def _exception(self, edge: Edge) -> ImportException | None:
        for exception in self.exceptions:
            if (exception.importer, exception.imported) == (edge.importer, edge.imported):
                return exception
        return None

    def _direct(self, edge: Edge, rule: ImportRule) -> Iterator[Finding]:
        path = self.files[edge.importer].path
        for line in edge.lines:
            message = f"{edge.importer} imports {edge.imported}; {rule.statement}"
            yield Finding(path, line, rule.name, message)

    def _chains(self, edges: Sequence[Edge]) -> Iterator[Finding]:
        """Ways over several allowed imports. Direct breaches are out of the graph by now."""
        lines = {(edge.importer, edge.imported): edge.lines[0] for edge in edges}
        for edge in edges:
            runtime = inside(edge.importer, ("agent_core",))
            guarded = runtime and not inside(edge.importer, ("agent_core.evals",))
            if guarded and inside(edge.imported, _OWNED_ELSEWHERE):
                self._remove(edge)
        for rule in self.rules:
            if rule.chains:
                for importer in sorted(filter(rule.covers, self.files)):
                    yield from self._ways(rule, importer, lines)

    def _remove(self, edge: Edge) -> None:
        if self.graph.direct_import_exists(importer=edge.importer, imported=edge.imported):
            self.graph.remove_import(importer=edge.importer, imported=edge.imported)

    def _ways(
        self, rule: ImportRule, importer: str, lines: dict[tuple[str, str], int]
    ) -> Iterator[Finding]:
        if importer not in self.graph.modules:
            return
        for target in sorted(self.graph.find_upstream_modules(importer)):
            if not rule.forbids(target, third_party=self._is_third_party(target)):
                continue
            way = self.graph.find_shortest_chain(importer, target)
            # A way that goes on inside the sources is reported where it leaves them.
            if way is None or any(rule.covers(module) for module in way[1:-1]):
                continue
            hops = [
                f"{after} ({self._place(before)}:{lines[before, after]})"
                for before, after in pairwise(way[1:])
            ]
            message = f"{importer} imports {', which imports '.join([way[1], *hops])}"
            path, line = self._place(importer), lines[way[0], way[1]]
            yield Finding(path, line, rule.name, f"{message}; {rule.statement}")

    def _place(self, module: str) -> str:
        return self.files[module].path


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


def split_judged(files: Sequence[PythonFile]) -> tuple[list[PythonFile], list[Finding]]:
    """The files that the rules speak about, and a finding for every other one below src."""
    judged = [file for file in files if inside(file.module, (*PACKAGES, "tests.contract"))]
    findings = [
        Finding(
            file.path,
            1,
            "unplaced_module",
            f"{file.module} is in no package that the rules know; allowed: {', '.join(PACKAGES)}",
        )
        for file in files
        if file not in judged and file.path.startswith("src/")
    ]
    return judged, findings
