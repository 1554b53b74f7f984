"""Runs a collected case with a subject, in a folder, and judges it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hardgate.cases.planned import PlannedRun
from hardgate.cases.record import Record
from hardgate.expectations.evaluate import Evaluation, Evidence, as_checks, evaluate
from hardgate.fixtures.workspaces import write_workspace
from hardgate.kinds.case_files import file_changes, remove_folder
from hardgate.subjects.collection import RunnableCase, RunnableRun
from hardgate.subjects.port import Subject, SubjectError
from hardgate.verdicts.network import NetworkProof
from hardgate.verdicts.verdict import CheckResult, Finding, Verdict, conclude

SUBJECT_CRASHED = "subject.crashed"


class Identity(NamedTuple):
    """What a verdict says it is about: the case itself, or the gate behind which it stands."""

    id: str
    kind: str
    milestone: int


class RanRun(NamedTuple):
    """One run of a case: its record, None where the subject gave none, and the events around which
    its failed checks diverged."""

    planned: PlannedRun
    record: Record | None
    around: tuple[int, ...] = ()


class CaseResult(NamedTuple):
    """A verdict, and the runs behind it."""

    verdict: Verdict
    runs: tuple[RanRun, ...]


def run_case(
    runnable: RunnableCase,
    subject: Subject,
    workspace: str,
    network: NetworkProof | None,
    identity: Identity | None = None,
    *,
    crash_is_finding: bool = True,
) -> CaseResult:
    """Run a case in the empty folder `workspace` and judge it.

    Each arm of a case has a folder of its own in it. What goes wrong in the subject is a finding of
    a failing verdict: the rule that it names where it says so itself (`subject.error`), and
    `subject.crashed`, with the traceback on stderr, for anything else; without `crash_is_finding`,
    that is raised on.
    """
    case = runnable.loaded.case
    checks: list[CheckResult] = []
    findings: list[Finding] = []
    limits: list[str] = []
    ran: list[RanRun] = []
    for run in runnable.runs:
        arm = run.planned.arm
        folder = workspace if arm is None else os.path.join(workspace, arm)
        record = _recorded(runnable, run, subject, folder, crash_is_finding=crash_is_finding)
        if isinstance(record, Finding):
            findings.append(record)
            ran.append(RanRun(run.planned, None))
            continue
        evaluation, cut = _judged(runnable, run, record, folder, network)
        checks += evaluation.checks
        limits += record.limits_hit + (("workspace_files",) if cut else ())
        ran.append(RanRun(run.planned, record, evaluation.around))
    checks += _compared(runnable, ran)
    identity = identity or Identity(f"case.{case.name}", "case", case.milestone)
    verdict = conclude(
        id=identity.id,
        kind=identity.kind,
        milestone=identity.milestone,
        checks=tuple(checks),
        findings=tuple(findings),
        examined=sum(len(one.record.events) for one in ran if one.record is not None),
        unit="events",
        seed=case.name,
        network=network,
        limits_hit=tuple(dict.fromkeys(limits)),
        subject=f"{subject.name} {subject.version}",
    )
    return CaseResult(verdict, tuple(ran))


def _recorded(
    runnable: RunnableCase,
    run: RunnableRun,
    subject: Subject,
    folder: str,
    *,
    crash_is_finding: bool,
) -> Record | Finding:
    """The record of one run in a new folder, or what went wrong in the subject."""
    os.makedirs(folder, exist_ok=True)
    write_workspace(run.files, folder)
    try:
        return subject.run(run.planned.case, run.script, folder, run.tool_results, run.mcp_servers)
    except SubjectError as error:
        return _finding(runnable, error.rule, run, str(error))
    except Exception as error:
        if not crash_is_finding:
            raise
        _print_traceback()
        return _finding(runnable, SUBJECT_CRASHED, run, type(error).__name__)


def _judged(
    runnable: RunnableCase,
    run: RunnableRun,
    record: Record,
    folder: str,
    network: NetworkProof | None,
) -> tuple[Evaluation, bool]:
    """The checks of one run, and whether the list of its changed files was cut."""
    changes, cut = file_changes(run.files, folder)
    verification = None
    if run.planned.expected.verify is not None:
        from hardgate.kinds.verification import run_verification

        verification = run_verification(run.planned.expected.verify, folder, network)
    evidence = Evidence(record, changes, verification, run.judge)
    return evaluate(runnable.loaded, run.planned, evidence), cut


def _compared(runnable: RunnableCase, ran: list[RanRun]) -> tuple[CheckResult, ...]:
    """The checks of `delta`, where both arms have a record."""
    expected = runnable.loaded.case.delta
    records = [one.record for one in ran if one.record is not None]
    if expected is None or len(records) < len(runnable.runs):
        return ()
    from hardgate.expectations.delta import delta

    return as_checks(runnable.loaded, delta(expected, *records))


def _finding(runnable: RunnableCase, rule: str, run: RunnableRun, message: str) -> Finding:
    where = "" if run.planned.arm is None else f"in the arm {run.planned.arm}: "
    return Finding(runnable.loaded.path, 1, rule, where + message)


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()


def event_excerpt(result: CaseResult) -> str:
    """The piece of the event log that shows why a case failed; empty for one that passed.

    Of a case with arms it is the whole log of each arm, as far as that is of a readable length.
    """
    if result.verdict.passed:
        return ""
    from hardgate.expectations.excerpt import excerpt

    parts: list[str] = []
    for one in result.runs:
        if one.record is None:
            continue
        if one.planned.arm is None:
            return excerpt(one.record, one.around)
        events = excerpt(one.record, range(len(one.record.events)))
        parts.append(f"in the arm {one.planned.arm}:\n{events}")
    return "\n".join(parts)


@contextmanager
def temporary_workspace() -> Iterator[str]:
    """An empty folder, gone afterwards: below the test's own where Bazel names one."""
    parent = os.environ.get("TEST_TMPDIR")
    if not parent:
        import tempfile  # dear to import, and a test target never comes here

        parent = tempfile.gettempdir()
    folder = os.path.join(parent, f"case-{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(folder, 0o700)
    try:
        yield folder
    finally:
        remove_folder(folder)
