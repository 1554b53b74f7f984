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


def lease_once(context: PropertyContext) -> None:
    """Claims queued runs from several sides at once, again and again."""
    from gates.checks import runtime_leases

    runtime_leases.check(context)


def fenced_no_write(context: PropertyContext) -> None:
    """Takes the run from a worker before each of its units of work."""
    from gates.checks import runtime_resumption

    runtime_resumption.check_fenced(context)


def resume_idempotent(context: PropertyContext) -> None:
    """Kills worker after worker of one run, behind its checkpoints and its other events."""
    from gates.checks import runtime_resumption

    runtime_resumption.check_resumption(context)


def _runtime(context: StructuralContext) -> tuple[list[PythonFile], list[Finding]]:
    return parse_files(context.tree, context.tree.glob(_RUNTIME))
