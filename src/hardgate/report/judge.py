"""Decides whether what Bazel says of one target counts as a pass of an active gate.

Nothing is taken on trust: a pass needs a test that ran or was cached and a verdict that says so
itself, is about this gate or this counterexample, and proves that the network was off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardgate.report import results
from hardgate.report.faults import Fault
from hardgate.report.results import TargetResult
from hardgate.verdicts.verdict import Verdict, VerdictError, from_json

if TYPE_CHECKING:
    from hardgate.registry.models import Counterexample, Gate

DETAILS_MAX = 12


@dataclass(frozen=True)
class Judgement:
    """`fault`: why it counts as no pass, None when it does. `verdict`: what could be read."""

    fault: Fault | None
    verdict: Verdict | None = None


def judge(
    label: str, result: TargetResult | None, gate: Gate, twin: Counterexample | None = None
) -> Judgement:
    """Judges the target of a gate, or of one of its counterexamples when `twin` is given."""
    if result is None:
        message = "Bazel has no result for it; a flag or a filter may have left it out"
        return Judgement(Fault(label, "no_result", message))
    if result.status in _NOT_RUN:
        rule, message = _NOT_RUN[result.status]
        details = tuple(result.output.splitlines())
        return Judgement(Fault(label, rule, message.format(result.detail or "no reason"), details))
    verdict: Verdict | None = None
    problems: tuple[str, ...] = (result.no_verdict,)
    if result.verdict is not None:
        try:
            verdict = from_json(result.verdict)
        except VerdictError as error:
            problems = error.problems
    if result.status != results.PASSED:
        return Judgement(_failed(label, result, verdict), verdict)
    if verdict is None:
        rule = "no_verdict" if result.verdict is None else "verdict_unreadable"
        message = "Bazel counts it as passed, but there is no verdict to be read"
        return Judgement(Fault(label, rule, message, _cut(problems)))
    return Judgement(_doubt(label, verdict, gate, twin), verdict)


_NOT_RUN = {
    results.SKIPPED: (
        "skipped",
        "Bazel skipped it; a gate at or below the repository's milestone has to run",
    ),
    results.FAILED_TO_BUILD: ("failed_to_build", "FAILED TO BUILD: {}"),
    results.ABORTED: ("no_result", "Bazel ended without a result for it ({})"),
}


def _failed(label: str, result: TargetResult, verdict: Verdict | None) -> Fault:
    """A failed test, with the evidence of its verdict, or the end of its log without one."""
    status = f" ({result.detail})" if result.detail else ""
    if verdict is None or verdict.passed:
        state = "without a verdict" if verdict is None else "although its verdict passes"
        details = tuple(result.output.splitlines())
        return Fault(label, "failed", f"it failed{status} {state}", details)
    example = verdict.counterexample
    if example is not None:
        message = f"the counterexample was not rejected for {example.reason}: {example.why}{status}"
        details = (*example.message.splitlines(), *evidence(verdict))
        return Fault(label, "counterexample_not_rejected", message, _cut(details))
    return Fault(label, "failed", f"{_counted(verdict)}{status}", _cut(evidence(verdict)))


def _counted(verdict: Verdict) -> str:
    failed = len(verdict.failed_checks())
    parts = [f"{failed} of {len(verdict.checks)} checks failed"] if verdict.checks else []
    found = len(verdict.findings)
    parts += [f"{found} finding{'' if found == 1 else 's'}"] if found else []
    proof = verdict.network
    parts += ["the network was not off"] if proof is not None and not proof.off else []
    return ", ".join(parts) or "its verdict fails"


def evidence(verdict: Verdict) -> tuple[str, ...]:
    """Findings, failed checks and what is wrong with the network proof, a line each."""
    lines = [finding.render() for finding in verdict.findings]
    for check in verdict.failed_checks():
        place = f"{check.path}:{check.line}: " if check.path else ""
        values = f"expected {check.expected!r}, observed {check.observed!r}"
        lines.append(f"{place}{check.name}: {values}{'. ' if check.message else ''}{check.message}")
    if verdict.network is not None and not verdict.network.off:
        lines.append(f"{verdict.network.rule}: {verdict.network.message}")
    return tuple(lines)


def _doubt(label: str, verdict: Verdict, gate: Gate, twin: Counterexample | None) -> Fault | None:
    """Why the verdict of a passed test does not count as one for this gate or counterexample."""
    about = (verdict.id, verdict.kind, verdict.milestone)
    if about != (gate.id, str(gate.kind), gate.milestone):
        message = f"its verdict is about {verdict.id}, kind {verdict.kind}, milestone"
        return Fault(label, "verdict_of_another", f"{message} {verdict.milestone}")
    if not verdict.passed:
        message = "Bazel counts it as passed, its verdict does not"
        return Fault(label, "verdict_fails", message, _cut(evidence(verdict)))
    if verdict.network is None:
        message = "its verdict holds no proof that the network was off"
        return Fault(label, "network_unproven", message)
    example = verdict.counterexample
    found = None if example is None else (example.name, example.reason)
    wanted = None if twin is None else (twin.name, twin.reason)
    if found != wanted:
        message = f"its verdict is about {_example(found)}, not about {_example(wanted)}"
        return Fault(label, "verdict_of_another", message)
    return _too_little(label, verdict, gate) if twin is None else None


def _example(name_and_reason: tuple[str, str] | None) -> str:
    if name_and_reason is None:
        return "the gate itself"
    return "the counterexample {} ({})".format(*name_and_reason)


def _too_little(label: str, verdict: Verdict, gate: Gate) -> Fault | None:
    """A passed verdict that rests on fewer trials or members than the registry asks for."""
    trials = verdict.trials or 0
    if gate.trials is not None and trials < gate.trials:
        message = f"found {trials} trials; allowed: at least {gate.trials}"
        return Fault(label, "too_few_trials", message)
    if gate.minimum_members is not None and verdict.examined < gate.minimum_members:
        message = f"found {verdict.examined} members; allowed: at least {gate.minimum_members}"
        return Fault(label, "too_few_members", message)
    return None


def _cut(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The first lines, and how many were left out."""
    if len(lines) <= DETAILS_MAX:
        return lines
    return (*lines[:DETAILS_MAX], f"... and {len(lines) - DETAILS_MAX} more")
