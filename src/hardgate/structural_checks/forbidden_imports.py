"""`hardgate:forbidden_imports`: named modules reach no other named modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import PythonFile
from hardgate.registry.check_options import ForbiddenImport, ForbiddenImportsOptions
from hardgate.structural_checks.import_rules import judge_imports
from hardgate.structural_checks.modules import read_modules, unknown_modules
from hardgate.verdicts.verdict import Finding


def check(context: StructuralContext) -> Examination:
    """Judges every import below the roots; counts the imports."""
    options = context.options(ForbiddenImportsOptions)
    place = (context.gate.path, context.gate.line)
    files, findings = read_modules(context.tree, options.roots, place)
    judged = judge_imports(files, options.imports, options.exceptions, place=place)
    found = [*findings, *_unknown(place, options.imports, files), *judged.findings]
    return Examination(found, judged.examined, "imports")


def _unknown(
    place: tuple[str, int], rules: Sequence[ForbiddenImport], files: Sequence[PythonFile]
) -> Iterator[Finding]:
    """Patterns that stand for nothing. What is forbidden of a library need not be there."""
    own = {file.module.partition(".")[0] for file in files}
    for rule in rules:
        bound = [*rule.importers, *rule.importers_except]
        yield from unknown_modules(place, f"{rule.rule}: importers", bound, files)
        forbidden = [name for name in rule.forbidden if name.partition(".")[0] in own]
        yield from unknown_modules(place, f"{rule.rule}: forbidden", forbidden, files)
