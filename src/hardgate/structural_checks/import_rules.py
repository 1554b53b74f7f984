"""Judges a graph of imports by rules: which modules may not reach which others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from hardgate.kinds.python_source import PythonFile
from hardgate.registry.check_options import THIRD_PARTY, ForbiddenImport, ImportException
from hardgate.structural_checks.dynamic_imports import dynamic_findings
from hardgate.structural_checks.import_graph import Edge, Imports, build_imports
from hardgate.structural_checks.modules import matches
from hardgate.verdicts.verdict import Finding


class Judged(NamedTuple):
    """What was found, and how many imports were looked at."""

    findings: list[Finding]
    examined: int


def judge_imports(
    files: Sequence[PythonFile],
    rules: Sequence[ForbiddenImport],
    exceptions: Sequence[ImportException] = (),
    *,
    place: tuple[str, int],
    elsewhere: Sequence[ForbiddenImport] = (),
) -> Judged:
    """Builds the graph of the files and applies the rules to it; see ImportJudge."""
    named = [
        pattern
        for rule in (*rules, *elsewhere)
        for pattern in (*rule.forbidden, *rule.forbidden_except)
    ]
    named += [exception.imported for exception in exceptions]
    imports = build_imports(files, [name for name in named if "." in name])
    judge = ImportJudge(imports, rules, exceptions, place=place, elsewhere=elsewhere)
    findings = [*judge.findings()]
    for rule in rules:
        if rule.dynamic_imports:
            for file in files:
                if covers(rule, file.module):
                    findings += dynamic_findings(file, rule.forbidden)
    return Judged(findings, imports.examined)


class ImportJudge:
    """Applies rules to a graph. Findings stand at the line of the first import of a way.

    Rules are tried in their order, and an import is reported once, under the first that it breaks.
    `place` is where the rules are declared. Imports that break a rule of `elsewhere` are another
    gate's business: they are neither reported nor followed.
    """

    def __init__(
        self,
        imports: Imports,
        rules: Sequence[ForbiddenImport],
        exceptions: Sequence[ImportException] = (),
        *,
        place: tuple[str, int],
        elsewhere: Sequence[ForbiddenImport] = (),
    ) -> None:
        self._imports = imports
        self._own = imports.own_packages
        self._rules = rules
        self._exceptions = exceptions
        self._place = place
        self._elsewhere = elsewhere

    def findings(self) -> Iterator[Finding]:
        """Everything that breaks a rule, and every exception that is not needed."""
        used: set[ImportException] = set()
        broken: dict[str, list[str]] = {}
        # What a statement imports comes first: its uses need no finding of their own.
        for edge in sorted(self._imports.edges, key=lambda edge: edge.by_use):
            rule = self._broken(edge, self._rules)
            if rule is not None and not (
                edge.by_use and matches(edge.imported, broken.get(edge.importer, ()))
            ):
                exception = self._exception(edge)
                if exception is not None:
                    used.add(exception)
                else:
                    broken.setdefault(edge.importer, []).append(edge.imported)
                    yield from self._direct(edge, rule)
            if rule is not None or self._broken(edge, self._elsewhere) is not None:
                self._remove(edge)
        for exception in self._exceptions:
            if exception not in used:
                pair = f"{exception.importer} -> {exception.imported}"
                message = f"the exception {pair} allows nothing that exists; remove it"
                yield Finding(*self._place, "unused_exception", message)
        yield from self._chains()

    def _broken(self, edge: Edge, rules: Sequence[ForbiddenImport]) -> ForbiddenImport | None:
        for rule in rules:
            if covers(rule, edge.importer) and self._forbids(rule, edge.imported):
                return rule
        return None

    def _forbids(self, rule: ForbiddenImport, module: str) -> bool:
        named = matches(module, [one for one in rule.forbidden if one != THIRD_PARTY])
        library = THIRD_PARTY in rule.forbidden and self._is_third_party(module)
        return (named or library) and not matches(module, rule.forbidden_except)

    def _is_third_party(self, module: str) -> bool:
        top = module.partition(".")[0]
        return top not in self._own and top not in sys.stdlib_module_names

    def _exception(self, edge: Edge) -> ImportException | None:
        for exception in self._exceptions:
            if (exception.importer, exception.imported) == (edge.importer, edge.imported):
                return exception
        return None

    def _direct(self, edge: Edge, rule: ForbiddenImport) -> Iterator[Finding]:
        verb = "uses" if edge.by_use else "imports"
        for line in edge.lines:
            message = f"{edge.importer} {verb} {edge.imported}; {rule.reason}"
            yield Finding(self._path(edge.importer), line, rule.rule, message)

    def _remove(self, edge: Edge) -> None:
        self._imports.graph.remove_import(importer=edge.importer, imported=edge.imported)

    def _chains(self) -> Iterator[Finding]:
        """Ways over several allowed imports. Direct breaches are out of the graph by now."""
        lines = {(edge.importer, edge.imported): edge.lines[0] for edge in self._imports.edges}
        modules = self._imports.graph.modules
        targets = [
            (rule, {module for module in modules if self._forbids(rule, module)})
            for rule in self._rules
            if rule.through_others
        ]
        for importer in sorted(self._imports.files):
            binding = [(rule, found) for rule, found in targets if covers(rule, importer)]
            forbidden = {module for _, found in binding for module in found}
            for rule, found in binding:
                yield from self._ways(rule, importer, found, forbidden, lines)

    def _ways(
        self,
        rule: ForbiddenImport,
        importer: str,
        targets: set[str],
        forbidden: set[str],
        lines: Mapping[tuple[str, str], int],
    ) -> Iterator[Finding]:
        graph = self._imports.graph
        for target in sorted(targets & graph.find_upstream_modules(importer)):
            way = graph.find_shortest_chain(importer, target)
            # A way that goes on inside the importers is reported where it leaves them, and one
            # over another forbidden module as the way to that one.
            if way is None or any(
                covers(rule, module) or module in forbidden for module in way[1:-1]
            ):
                continue
            hops = [
                f"{after} ({self._path(before)}:{lines[before, after]})"
                for before, after in pairwise(way[1:])
            ]
            message = f"{importer} imports {', which imports '.join([way[1], *hops])}"
            line = lines[way[0], way[1]]
            yield Finding(self._path(importer), line, rule.rule, f"{message}; {rule.reason}")

    def _path(self, module: str) -> str:
        return self._imports.files[module].path


def covers(rule: ForbiddenImport, module: str) -> bool:
    """Whether a rule binds a module."""
    return matches(module, rule.importers) and not matches(module, rule.importers_except)
