"""The checks of the area structure; docs/specs/structure.md declares the gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import PythonFile, inside, parse_files
from hardgate.verdicts.verdict import Finding


def import_boundary(context: StructuralContext) -> Examination:
    """Judges every import of the judged packages by the table in structure_rules.py."""
    # grimp is imported by this check only: the others of the area must not pay for it.
    from gates.checks.structure_rules import (
        ELSEWHERE,
        JUDGED,
        PACKAGES,
        PLACES,
        RULES,
        SHIPPED,
    )
    from hardgate.structural_checks.import_layers import unplaced
    from hardgate.structural_checks.import_rules import judge_imports

    paths = [*context.tree.glob("src/**/*.py"), *context.tree.glob("tests/contract/**/*.py")]
    parsed, findings = parse_files(context.tree, paths)
    files = [file for file in parsed if inside(file.module, JUDGED)]
    findings += _outside(parsed, files, SHIPPED)
    findings += _without_package([file for file in files if inside(file.module, SHIPPED)])
    findings += unplaced(files, PACKAGES, PLACES)
    place = (context.gate.path, context.gate.line)
    judged = judge_imports(files, RULES, place=place, elsewhere=ELSEWHERE)
    return Examination([*findings, *judged.findings], judged.examined, "imports")


def _outside(
    parsed: Sequence[PythonFile], files: Sequence[PythonFile], packages: Sequence[str]
) -> Iterator[Finding]:
    """Files below src of which no rule speaks."""
    for file in parsed:
        if file not in files and file.path.startswith("src/"):
            allowed = ", ".join(packages)
            message = f"{file.module} is in no package that the rules know; allowed: {allowed}"
            yield Finding(file.path, 1, "unplaced_module", message)


def _without_package(files: Sequence[PythonFile]) -> Iterator[Finding]:
    """Modules in a folder that is no package, which not every program would find."""
    packages = {file.module for file in files if file.is_package}
    for file in files:
        above = file.module.rpartition(".")[0]
        if above and above not in packages:
            message = f"{file.module} is in no package, because {above} has no __init__.py"
            yield Finding(file.path, 1, "unplaced_module", message)


def txn_hygiene(context: StructuralContext) -> Examination:
    """Reads every await inside a unit of work, and asks a model and a tool while one is open."""
    from gates.checks.structure_open_units import assertion_findings
    from gates.checks.structure_transactions import TransactionJudge

    files, findings = _source(context)
    judge = TransactionJudge(files)
    findings += judge.findings()
    asserted, asked = assertion_findings()
    return Examination([*findings, *asserted], judge.examined + asked, "awaits")


def rows_ordered(context: StructuralContext) -> Examination:
    """Reads every query of the SQL adapter that can give several rows."""
    from gates.checks.structure_storage import order_findings

    files, findings = _source(context)
    found, examined = order_findings(files)
    return Examination([*findings, *found], examined, "queries")


def migration_graph(context: StructuralContext) -> Examination:
    """Reads the migrations, the list of them and the version that programs expect."""
    from gates.checks.structure_storage import migration_findings

    files, findings = _source(context)
    found, examined = migration_findings(files)
    return Examination([*findings, *found], examined, "migrations")


def orm_confined(context: StructuralContext) -> Examination:
    """Reads every import of the runtime, and what the SQL adapter shows to whoever uses it."""
    from gates.checks.structure_storage import CONFINED, shown_findings
    from hardgate.structural_checks.import_rules import judge_imports

    files, findings = _source(context)
    place = (context.gate.path, context.gate.line)
    judged = judge_imports(files, CONFINED, place=place)
    shown, signatures = shown_findings(files)
    return Examination(
        [*findings, *judged.findings, *shown],
        judged.examined + signatures,
        "imports and signatures",
    )


def _source(context: StructuralContext) -> tuple[list[PythonFile], list[Finding]]:
    return parse_files(context.tree, context.tree.glob("src/**/*.py"))
