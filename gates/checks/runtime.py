"""The checks of the area runtime; docs/specs/run_loop.md declares the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import PythonFile, parse_files
from hardgate.verdicts.verdict import Finding

if TYPE_CHECKING:
    from hardgate.kinds.property import PropertyContext

_RUNTIME = "src/agent_core/**/*.py"


def one_terminal_writer(context: StructuralContext) -> Examination:
    """Reads every module of the runtime for a second place where a run could end."""
    from gates.checks.runtime_terminal import second_writers, writer_faults

    files, findings = _runtime(context)
    findings += [finding for file in files for finding in second_writers(file)]
    findings += writer_faults(files)
    return Examination(findings, len(files), "modules")


def budget_stops(context: PropertyContext) -> None:
    """Plays generated scripts under one narrow limit, and keeps an account of its own."""
    from gates.checks import runtime_budgets

    runtime_budgets.check(context)


def step_identity(context: PropertyContext) -> None:
    """Plays generated scripts and compares numbers, ids and keys with the script."""
    from gates.checks import runtime_identity

    runtime_identity.check(context)


def _runtime(context: StructuralContext) -> tuple[list[PythonFile], list[Finding]]:
    return parse_files(context.tree, context.tree.glob(_RUNTIME))
