"""Compares what ran with the registry: a row per gate, totals per milestone, and what is wrong.

The registry is the authority, and sets are compared with sets. A gate at or below the repository's
milestone needs a result of its own and of each counterexample; a gate above it must have been
skipped by Bazel; a target that no registry entry asks for is a fault as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hardgate.report.faults import Fault
from hardgate.report.judge import evidence, judge
from hardgate.report.results import SKIPPED, TargetResult
from hardgate.report.selection import GATE_TAG, INVALID_TAG, Selection
from hardgate.verdicts.verdict import Verdict, VerdictError, from_json

if TYPE_CHECKING:
    from hardgate.registry.models import Counterexample, Gate

PASS, FAIL, PENDING = "pass", "fail", "pending"
_CASE = "case:"
_COUNTEREXAMPLE_TAG = "counterexample"


@dataclass(frozen=True)
class Target:
    """A generated target as Bazel's query sees it."""

    label: str
    tags: frozenset[str]


@dataclass
class Row:
    """One gate in the report.

    `case`: the case that backs a gate of kind case. `count` and `unit`: how much was run or looked
    at, such as 1000 trials. `rejected` of `counterexamples`: how many seeded defects the gate was
    shown to reject. `cached`: whether all results came from a cache, None where nothing ran.
    `seconds`: of the tests of the gate and its counterexamples together.
    """

    id: str
    area: str
    milestone: int
    kind: str
    state: str
    target: str
    case: str | None = None
    count: int | None = None
    unit: str = ""
    rejected: int = 0
    counterexamples: int = 0
    cached: bool | None = None
    seconds: float | None = None
    faults: list[Fault] = field(default_factory=list)


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
    """Everything the report says. `milestone` is None when the registry could not be read."""

    milestone: int | None
    rows: list[Row]
    problems: list[Fault]
    selection: Selection = field(default_factory=Selection)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether it is about every gate of the registry."""
        return self.milestone is not None and not self.selection.plain()

    @property
    def ok(self) -> bool:
        """Whether there is a gate, none failed, and nothing else was wrong."""
        return bool(self.rows) and not self.problems and all(row.state != FAIL for row in self.rows)

    def totals(self) -> list[Totals]:
        """Totals of each milestone that has a gate, in order; a complete report also has those of
        the repository's own milestone."""
        by_milestone: dict[int, list[str]] = {}
        if self.complete and self.milestone is not None:
            by_milestone[self.milestone] = []
        for row in self.rows:
            by_milestone.setdefault(row.milestone, []).append(row.state)
        return [
            Totals(number, len(states), *(states.count(one) for one in (PASS, FAIL, PENDING)))
            for number, states in sorted(by_milestone.items())
        ]

    def cases(self) -> dict[str, list[str]]:
        """The ids of the gates that each case backs, by the case's name, both sorted."""
        backed: dict[str, list[str]] = {}
        for row in self.rows:
            if row.case is not None:
                backed.setdefault(row.case, []).append(row.id)
        return {case: sorted(backed[case]) for case in sorted(backed)}


def compare(
    gates: Sequence[Gate],
    milestone: int,
    package: str,
    targets: Iterable[Target],
    results: Mapping[str, TargetResult],
    selection: Selection | None = None,
) -> tuple[list[Row], list[Fault]]:
    """Rows of the selected gates, and what is wrong with targets that belong to no gate.

    `gates` are all of the registry's, `milestone` the repository's, `package` the Bazel package of
    the registry's folder, `targets` all that are tagged `gate` there.
    """
    selection = selection or Selection()
    by_label = {target.label: target for target in targets}
    rows: list[Row] = []
    asked_for: set[str] = set()
    for gate in sorted(gates, key=lambda one: (one.milestone, one.id)):
        label = f"//{package}:{gate.area}/{gate.slug}"
        twins = {f"{label}.counterexample.{one.name}": one for one in gate.counterexamples}
        asked_for.update((label, *twins))
        if selection.has(gate):
            active = gate.milestone <= milestone
            row = _row(gate, label, PASS if active else PENDING)
            judged = _judge_active if active else _judge_pending
            judged(row, gate, by_label, results)
            if row.faults:
                row.state = FAIL
            rows.append(row)
    strays = [by_label[label] for label in sorted(set(by_label) - asked_for)]
    problems = [
        _stray(one, results.get(one.label)) for one in strays if selection.has_tags(one.tags)
    ]
    return rows, problems


def _row(gate: Gate, label: str, state: str) -> Row:
    check = gate.check or ""
    return Row(
        id=gate.id,
        area=gate.area,
        milestone=gate.milestone,
        kind=str(gate.kind),
        state=state,
        target=label,
        case=check[len(_CASE) :] if check.startswith(_CASE) else None,
        counterexamples=len(gate.counterexamples),
    )


def _judge_pending(
    row: Row, gate: Gate, targets: Mapping[str, Target], results: Mapping[str, TargetResult]
) -> None:
    """A pending gate has a target, and Bazel skips that and, where they exist, its twins."""
    prefix = f"{row.target}.counterexample."
    twins = [f"{prefix}{one.name}" for one in gate.counterexamples]
    for label in [row.target, *(twin for twin in twins if twin in targets)]:
        row.faults += _target_faults(label, gate, targets, twin=label != row.target)
        result = results.get(label)
        if label not in targets and result is None:
            continue
        if result is None or result.status != SKIPPED:
            found = "it has no result" if result is None else f"it is {result.status}"
            message = f"pending until milestone {gate.milestone}, so Bazel has to skip it; {found}"
            row.faults.append(Fault(label, "not_skipped", message))


def _judge_active(
    row: Row, gate: Gate, targets: Mapping[str, Target], results: Mapping[str, TargetResult]
) -> None:
    """An active gate passes, and so does the twin of each of its counterexamples."""
    row.faults, verdict = _faults(row.target, gate, targets, results)
    row.count, row.unit = _size(verdict)
    if not gate.counterexamples:
        message = "it has no counterexample, so nothing shows that it can fail"
        row.faults.append(Fault(row.target, "no_counterexample", message))
    labels = [row.target]
    for example in gate.counterexamples:
        label = f"{row.target}.counterexample.{example.name}"
        labels.append(label)
        faults, _ = _faults(label, gate, targets, results, example)
        row.rejected += not faults
        row.faults += faults
    ran = [one for one in map(results.get, labels) if one is not None and one.cached is not None]
    if ran:
        row.cached = all(one.cached for one in ran)
        row.seconds = round(sum(one.seconds or 0 for one in ran), 3)


def _faults(
    label: str,
    gate: Gate,
    targets: Mapping[str, Target],
    results: Mapping[str, TargetResult],
    example: Counterexample | None = None,
) -> tuple[list[Fault], Verdict | None]:
    """What is wrong with the target of an active gate or counterexample, and its verdict."""
    faults = _target_faults(label, gate, targets, twin=example is not None)
    if label not in targets and label not in results:
        return faults, None
    judged = judge(label, results.get(label), gate, example)
    return faults + ([judged.fault] if judged.fault else []), judged.verdict


def _target_faults(
    label: str, gate: Gate, targets: Mapping[str, Target], *, twin: bool
) -> list[Fault]:
    """What is wrong with a target that the registry asks for, before anything ran."""
    target = targets.get(label)
    if target is None:
        message = "no target tagged `gate` of this name; the registry and what Bazel loaded differ"
        return [Fault(label, "no_target", message)]
    wanted = {GATE_TAG, f"milestone:{gate.milestone}", f"kind:{gate.kind}", f"area:{gate.area}"}
    wanted |= {_COUNTEREXAMPLE_TAG} if twin else set()
    if wanted <= target.tags and twin == (_COUNTEREXAMPLE_TAG in target.tags):
        return []
    found, allowed = ", ".join(sorted(target.tags)), ", ".join(sorted(wanted))
    return [Fault(label, "wrong_tags", f"found the tags {found}; its entry asks for {allowed}")]


def _size(verdict: Verdict | None) -> tuple[int | None, str]:
    """How much a verdict rests on: (count, unit)."""
    if verdict is None:
        return None, ""
    if verdict.trials:
        return verdict.trials, "trials"
    if verdict.examined:
        return verdict.examined, verdict.unit
    return (len(verdict.checks), "checks") if verdict.checks else (None, "")


def _stray(target: Target, result: TargetResult | None) -> Fault:
    """A target that no registry entry asks for, or the entry that it could not be made of."""
    verdict = None
    if result is not None and result.verdict is not None:
        # The fault is the target itself; its verdict would only have explained it.
        with suppress(VerdictError):
            verdict = from_json(result.verdict)
    if INVALID_TAG not in target.tags:
        message = "a target tagged `gate` that no registry entry asks for"
        return Fault(target.label, "stray_target", message, evidence(verdict) if verdict else ())
    message = "an entry that can't be read; its findings are below"
    if verdict is None:
        message = f"an entry that can't be read; try: bazel test {target.label}"
    return Fault(target.label, "invalid_entry", message, evidence(verdict) if verdict else ())
