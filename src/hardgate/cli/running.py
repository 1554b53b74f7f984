"""Runs one case or gate in this process: once, or several times to see that nothing differs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hardgate.cases.record import ObservedEvent, Record
from hardgate.cases.volatile import VolatileFields
from hardgate.cli.selection import Item
from hardgate.cli.suite import FIXTURES, Suite
from hardgate.documents.tree import Tree
from hardgate.expectations.volatile import log_differences
from hardgate.kinds.case_run import RanRun, run_case, temporary_workspace
from hardgate.kinds.entry import GateEntry
from hardgate.kinds.in_process import Options, judge
from hardgate.registry.loader import Registry
from hardgate.registry.models import Kind
from hardgate.subjects.collection import RunnableCase, collect
from hardgate.subjects.port import Subject
from hardgate.verdicts.network import NetworkProof
from hardgate.verdicts.verdict import Finding, Verdict, conclude, with_network

NOT_DETERMINISTIC = "not_deterministic"


class Ran(NamedTuple):
    """What came of one item.

    `verdict` is judged by its checks alone; `published` is the same with the proof that the network
    is off, and fails where it is not. `times` counts how often it ran. For a case, `runnable` is
    the case with its fixtures, and `runs` are its runs of the first time.
    """

    item: Item
    verdict: Verdict
    published: Verdict
    seconds: float
    times: int
    runnable: RunnableCase | None = None
    runs: tuple[RanRun, ...] = ()


class Once(NamedTuple):
    """What came of running an item one time."""

    verdict: Verdict
    runs: tuple[RanRun, ...] = ()


def run_case_item(
    item: Item,
    suite: Suite,
    tree: Tree,
    subject: Subject,
    network: NetworkProof,
    *,
    times: int = 1,
) -> Ran:
    """Runs a case, from the workspace's root as working directory, whatever its milestone is.

    Raises DefinitionError for what the subject does not know or cannot do.
    """
    runnable = collect(tree, suite.cases[item.path], FIXTURES, subject)

    def once() -> Once:
        with temporary_workspace() as folder:
            result = run_case(runnable, subject, folder, network)
        return Once(_by_checks(result.verdict), result.runs)

    ran = _repeated(item, once, times, network, suite.volatile)
    return ran._replace(runnable=runnable)


def run_gate_item(
    item: Item,
    registry: Registry,
    tree: Tree,
    network: NetworkProof,
    *,
    times: int = 1,
    seed: int | None = None,
) -> Ran:
    """Runs the check of a gate of the kind property or corpus; `tree` is all of the workspace.

    What its test target would be given is less: the files that the entry declares. Raises
    DefinitionError.
    """
    runner = _runner(item.kind)
    options = Options(_entry(registry, item.name), tree, "", None, seed)
    return _repeated(item, lambda: Once(judge(options, runner)), times, network)


def import_from(root: Path) -> None:
    """Lets the modules of gates/checks be imported from a workspace."""
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))


def _runner(kind: str) -> Callable[..., Verdict]:
    # Hypothesis and the corpora are needed only by those who run such a gate.
    if kind == Kind.PROPERTY:
        from hardgate.kinds.property import run_property

        return run_property
    from hardgate.kinds.corpus import run_corpus

    return run_corpus


def _entry(registry: Registry, gate_id: str) -> GateEntry:
    gate = registry.by_id[gate_id]
    path, line, _ = registry.place(gate_id)
    return GateEntry(
        id=gate.id,
        area=gate.area,
        slug=gate.slug,
        kind=str(gate.kind),
        milestone=gate.milestone,
        path=path,
        line=line,
        check=gate.check,
        trials=gate.trials,
        corpus=gate.corpus,
        minimum_members=gate.minimum_members,
    )


def _repeated(
    item: Item,
    once: Callable[[], Once],
    times: int,
    network: NetworkProof,
    volatile: VolatileFields = (),
) -> Ran:
    """Runs it `times` times; where a later time differs from the first, the verdict fails."""
    began = time.monotonic()
    first = once()
    verdict = first.verdict
    for number in range(2, times + 1):
        difference = _difference(first, once(), volatile)
        if difference:
            message = f"time {number} of {times} differs from the first: {difference}"
            finding = Finding("", 0, NOT_DETERMINISTIC, message)
            verdict = _concluded_again(verdict, (*verdict.findings, finding))
            times = number
            break
    seconds = time.monotonic() - began
    return Ran(item, verdict, with_network(verdict, network), seconds, times, None, first.runs)


def _difference(first: Once, other: Once, volatile: VolatileFields) -> str:
    """The first thing that two times of one item do not have in common; empty for nothing."""
    for before, after in zip(first.runs, other.runs, strict=True):
        for difference in log_differences(_events(before), _events(after), volatile):
            return difference
        if _without_events(before) != _without_events(after):
            return "the records differ, but not in an event"
    return "" if first.verdict == other.verdict else "the verdicts differ, and the records do not"


def _events(run: RanRun) -> tuple[ObservedEvent, ...]:
    return () if run.record is None else run.record.events


def _without_events(run: RanRun) -> Record | None:
    return None if run.record is None else run.record._replace(events=())


def _by_checks(verdict: Verdict) -> Verdict:
    """The same verdict, judged without a look at the network."""
    return _concluded_again(verdict, verdict.findings)


def _concluded_again(verdict: Verdict, findings: tuple[Finding, ...]) -> Verdict:
    return conclude(
        id=verdict.id,
        kind=verdict.kind,
        milestone=verdict.milestone,
        checks=verdict.checks,
        findings=findings,
        examined=verdict.examined,
        unit=verdict.unit,
        trials=verdict.trials,
        seed=verdict.seed,
        limits_hit=verdict.limits_hit,
        subject=verdict.subject,
    )
