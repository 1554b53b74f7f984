"""Compares what ran with the registry: a row per gate, totals per milestone, and what is wrong.

The registry is the authority. A gate at or below the repository's milestone needs a result that ran
(or was cached) with a verdict; a gate above it must have been skipped by Bazel; a target that no
registry entry asks for is a failure as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hardgate.report.bazel import Target
from hardgate.report.results import PASSED, SKIPPED, TargetResult
from hardgate.verdicts.verdict import Verdict, VerdictError

PASS, FAIL, PENDING = "pass", "fail", "pending"
EXCERPT_LINES = 12


class Gate(Protocol):
    """The part of a registry entry that the report needs."""

    id: str
    milestone: int
    kind: str
    counterexamples: Iterable[object]


@dataclass
class Row:
    """One gate in the report. `size` is trials or what was examined, such as "61 gates"."""

    id: str
    milestone: int
    kind: str
    state: str
    target: str
    size: str = ""
    rejected: int = 0
    counterexamples: int = 0
    cached: bool | None = None
    seconds: float | None = None
    reasons: list[str] = field(default_factory=list)

    @property
    def area(self) -> str:
        return self.id.split(".")[1]


@dataclass(frozen=True)
class Totals:
    """How many gates of one milestone are in each state."""

    milestone: int
    total: int
    passed: int
    failed: int
    pending: int


@dataclass
class Report:
    """Everything the report says. `selection` is empty for the complete report."""

    milestone: int
    rows: list[Row]
    problems: list[str]
    selection: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing failed and nothing was wrong."""
        return bool(self.rows) and not self.problems and all(row.state != FAIL for row in self.rows)

    def totals(self) -> list[Totals]:
        """Totals of each milestone that has a gate, in order."""
        by_milestone: dict[int, list[str]] = {}
        for row in self.rows:
            by_milestone.setdefault(row.milestone, []).append(row.state)
        return [
            Totals(number, len(states), *(states.count(one) for one in (PASS, FAIL, PENDING)))
            for number, states in sorted(by_milestone.items())
        ]


def compare(
    gates: Iterable[Gate],
    milestone: int,
    package: str,
    targets: Iterable[Target],
    results: Mapping[str, TargetResult],
) -> tuple[list[Row], list[str]]:
    """Rows for the given gates, and problems with targets that belong to no gate at all."""
    by_label = {target.label: target for target in targets}
    rows, expected = [], set()
    for gate in sorted(gates, key=lambda one: (one.milestone, one.id)):
        area, slug = gate.id.split(".")[1:]
        label = f"//{package}:{area}/{slug}"
        twins = {one.name: f"{label}.counterexample.{one.name}" for one in gate.counterexamples}
        active = gate.milestone <= milestone
        labels = [label, *(twins.values() if active else ())]
        expected.update([label, *twins.values()])
        row = Row(gate.id, gate.milestone, gate.kind, PASS if active else PENDING, label)
        row.reasons = [_target_fault(one, gate, by_label) for one in labels]
        row.reasons = [reason for reason in row.reasons if reason]
        if active:
            _judge_active(row, label, twins, results)
        else:
            _judge_pending(row, label, results)
        if row.reasons:
            row.state = FAIL
        rows.append(row)
    problems = [
        f"{label}: " + _stray(results.get(label)) for label in sorted(set(by_label) - expected)
    ]
    return rows, problems


def _target_fault(label: str, gate: Gate, by_label: Mapping[str, Target]) -> str:
    target = by_label.get(label)
    if target is None:
        return f"no target {label}; is the registry newer than what Bazel loaded?"
    if target.tag("milestone") != str(gate.milestone) or target.tag("kind") != gate.kind:
        return f"{label} is tagged {', '.join(sorted(target.tags))}, unlike its registry entry"
    return ""


def _stray(result: TargetResult | None) -> str:
    excerpt = _excerpt(result) if result is not None else ""
    return "a target tagged `gate` that no registry entry asks for" + (
        f"\n{excerpt}" if excerpt else ""
    )


def _judge_pending(row: Row, label: str, results: Mapping[str, TargetResult]) -> None:
    result = results.get(label)
    if result is None:
        row.reasons.append(f"{label}: no result, not even SKIPPED")
    elif result.status != SKIPPED:
        row.reasons.append(f"{label}: pending, yet Bazel ran it ({result.status})")


def _judge_active(
    row: Row, label: str, twins: Mapping[str, str], results: Mapping[str, TargetResult]
) -> None:
    row.counterexamples = len(twins)
    result = results.get(label)
    fault = _result_fault(label, result, row, twin=False)
    if fault:
        row.reasons.append(fault)
    if result is not None:
        row.cached, row.seconds = result.cached, result.seconds
        row.size = _size(result)
    for twin in twins.values():
        fault = _result_fault(twin, results.get(twin), row, twin=True)
        if fault:
            row.reasons.append(fault)
        else:
            row.rejected += 1
        other = results.get(twin)
        if other is not None and row.cached is not None and other.cached is not None:
            row.cached = row.cached and other.cached
            row.seconds = round((row.seconds or 0) + (other.seconds or 0), 3)


def _result_fault(label: str, result: TargetResult | None, row: Row, *, twin: bool) -> str:
    """Why a target's result does not count as a pass; empty when it does."""
    if result is None:
        return f"{label}: no result"
    if result.status == SKIPPED:
        return f"{label}: skipped, at milestone {row.milestone} it may not be"
    if result.status != PASSED:
        detail = f" ({result.detail})" if result.detail else ""
        excerpt = _excerpt(result)
        return f"{label}: failed{detail}" + (f"\n{excerpt}" if excerpt else "")
    try:
        verdict = result.read_verdict()
    except VerdictError as error:
        return f"{label}: its verdict can't be read: {error}"
    if verdict is None:
        return f"{label}: passed without a verdict"
    return _verdict_fault(label, verdict, row, twin=twin)


def _verdict_fault(label: str, verdict: Verdict, row: Row, *, twin: bool) -> str:
    if verdict.id != row.id:
        return f"{label}: its verdict speaks of {verdict.id}"
    if not verdict.passed:
        return f"{label}: Bazel counts a pass, its verdict does not"
    if verdict.network is None or not verdict.network.off:
        return f"{label}: its verdict holds no proof that the network was off"
    if twin and (verdict.counterexample is None or not verdict.counterexample.rejected):
        return f"{label}: its verdict rejects no counterexample"
    if not twin and verdict.counterexample is not None:
        return f"{label}: its verdict is that of a counterexample"
    return ""


def _size(result: TargetResult) -> str:
    plain = result.verdict or {}
    if plain.get("trials"):
        return f"{plain['trials']} trials"
    if plain.get("examined"):
        return f"{plain['examined']} {plain.get('unit', '')}".strip()
    checks = plain.get("checks") or []
    return f"{len(checks)} checks" if checks else ""


def _excerpt(result: TargetResult) -> str:
    """The first findings or failed checks of a verdict, for people."""
    try:
        verdict = result.read_verdict()
    except VerdictError:
        return ""
    if verdict is None:
        return ""
    lines = [finding.render() for finding in verdict.findings]
    lines += [
        f"{check.name}: expected {check.expected!r}, observed {check.observed!r} {check.message}"
        for check in verdict.failed_checks()
    ]
    if verdict.network is not None and not verdict.network.off:
        lines.append(f"{verdict.network.rule}: {verdict.network.message}")
    if verdict.counterexample is not None:
        example = verdict.counterexample
        lines = [f"{example.why}: must be rejected for {example.reason}. {example.message}", *lines]
    more = [f"... {len(lines) - EXCERPT_LINES} more"] if len(lines) > EXCERPT_LINES else []
    return "\n".join([*lines[:EXCERPT_LINES], *more])
