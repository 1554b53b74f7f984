"""Whether the runtime stays free of what evaluates it, in every way in which Python can import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgate.kinds.python_source import PythonFile, inside
from hardgate.registry.check_options import ForbiddenImport
from hardgate.structural_checks.import_rules import judge_imports
from hardgate.verdicts.verdict import Finding

RUNTIME = "agent_core"
EVALS = "agent_core.evals"
EVALS_MISSING = "evals_missing"
_PLACE = ("gates/checks/harness_isolation.py", 1)

RULES = tuple(
    ForbiddenImport(
        rule=rule,
        reason="the runtime knows nothing of what evaluates it",
        importers=(RUNTIME,),
        importers_except=(EVALS,),
        forbidden=(forbidden,),
        dynamic_imports=True,
    )
    for rule, forbidden in (("imports_evals", EVALS), ("imports_hardgate", "hardgate"))
)


def isolation_findings(files: Sequence[PythonFile]) -> Iterator[Finding]:
    """Every way from a module of the runtime outside its evals package to evals or the harness."""
    if not any(inside(file.module, (EVALS,)) for file in files):
        message = f"there is no module {EVALS}: a renamed package would be guarded by nothing"
        yield Finding("", 0, EVALS_MISSING, message)
    yield from judge_imports(files, RULES, place=_PLACE).findings
