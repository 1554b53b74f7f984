"""What a counterexample proves: whether a check rejected a seeded defect, and if not, why not.

The twin of a gate passes only if the check ran to its end, objected, gave the reason that the
defect declares, and the changed code or file was really reached. Everything else has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from hardgate.documents.tree import DefectError, Tree
from hardgate.kinds.bench import Bench
from hardgate.kinds.declared_edit import put_edit
from hardgate.kinds.entry import (
    DeclaredCounterexample,
    GateEntry,
    MissingCodeError,
    load_defect,
    one_line,
)
from hardgate.verdicts.time_limit import TimeLimitReached, time_limit
from hardgate.verdicts.verdict import (
    CRASHED,
    NOT_REACHED,
    NOT_REJECTED,
    OTHER_REASON,
    REJECTED,
    TIMED_OUT,
    Counterexample,
    Verdict,
    conclude,
)


@dataclass(frozen=True)
class Ending:
    """How a check ended with a defect in place.

    `reasons` are the rules of its findings or the names of its failed checks; `failed` is whether
    its verdict was a failure; `crash` is the error in one line when it did not run to its end.
    """

    reached: bool
    failed: bool = False
    reasons: Collection[str] = ()
    crash: str = ""
    timed_out: bool = False


def judge(name: str, reason: str, ending: Ending) -> Counterexample:
    """Decides what became of the defect `name`, which must be rejected for `reason`."""
    why, message = _decide(reason, ending)
    return Counterexample(
        name=name, reason=reason, rejected=why == REJECTED, why=why, message=message
    )


def _decide(reason: str, ending: Ending) -> tuple[str, str]:
    if ending.timed_out:
        return TIMED_OUT, f"the check did not end in time with the defect in place{_colon(ending)}"
    if ending.crash:
        return CRASHED, f"the check did not run to its end: {ending.crash}"
    if not ending.reached:
        return NOT_REACHED, "the check ended without looking at what the defect changed"
    if not ending.failed:
        return NOT_REJECTED, "the check passes with the defect in place"
    if reason not in ending.reasons:
        given = ", ".join(sorted(set(ending.reasons))) or "no reason at all"
        return OTHER_REASON, f"expected the reason {reason}, found {given}"
    return REJECTED, f"rejected for {reason}"


def _colon(ending: Ending) -> str:
    return f": {ending.crash}" if ending.crash else ""


def run_twin(
    entry: GateEntry,
    declared: DeclaredCounterexample,
    sources: Tree,
    run: Callable[[Tree], Verdict],
    limit_seconds: float,
) -> Verdict:
    """Runs a check with one defect in place; the verdict passes if the defect was rejected.

    `run` judges the tree it is given, as it does for the gate itself. The verdict keeps what it
    found.
    """
    with Bench(sources) as bench:
        try:
            put_in_place(entry, declared, bench)
        except (DefectError, MissingCodeError) as problem:
            message = f"the defect could not be put in place: {problem}"
            return _concluded(
                entry,
                Counterexample(
                    declared.name, declared.reason, rejected=False, why=NOT_REACHED, message=message
                ),
            )
        verdict, crash, timed_out = _run(lambda: run(bench.tree), limit_seconds)
        ending = Ending(
            reached=bench.reached or _started_agent(declared, verdict),
            failed=verdict is not None and not verdict.passed,
            reasons=() if verdict is None else reasons_of(verdict),
            crash=crash,
            timed_out=timed_out,
        )
    result = judge(declared.name, declared.reason, ending)
    return _concluded(entry, result, verdict)


def put_in_place(entry: GateEntry, declared: DeclaredCounterexample, bench: Bench) -> None:
    """Puts a declared defect in place: a function of the area's module, a tree, or one edit.

    An agent with a defect is in place already: it is the one that this process was given. Raises
    DefectError when the place that the defect changes is gone, MissingCodeError when the
    defect itself does not exist.
    """
    if declared.agent is not None:
        pass
    elif declared.tree is not None:
        bench.tree.lay_over(declared.tree)
    elif declared.edit is not None:
        put_edit(declared.edit, bench)
    else:
        defect = load_defect(entry, declared.name)
        try:
            defect(bench)
        except DefectError:
            raise
        except Exception as error:
            raise DefectError(one_line(error)) from error
    bench.watch()


def _started_agent(declared: DeclaredCounterexample, verdict: Verdict | None) -> bool:
    """Whether an agent with a defect ran: one that was not started left nothing to examine."""
    return declared.agent is not None and verdict is not None and bool(verdict.examined)


def reasons_of(verdict: Verdict) -> list[str]:
    """Why a verdict is a failure: the rules of its findings and the names of its failed checks."""
    findings = [finding.rule for finding in verdict.findings]
    return findings + [check.name for check in verdict.failed_checks()]


def _run(run: Callable[[], Verdict], seconds: float) -> tuple[Verdict | None, str, bool]:
    """The verdict or None, the error in one line or "", and whether the time limit was reached.

    SystemExit counts as a crash: a check that leaves the process has not run to its end.
    """
    try:
        with time_limit(seconds):
            return run(), "", False
    except TimeLimitReached as limit:
        return None, str(limit), True
    except (Exception, SystemExit) as error:
        return None, one_line(error), False


def _concluded(entry: GateEntry, result: Counterexample, verdict: Verdict | None = None) -> Verdict:
    """The verdict of the twin, with what the check of the gate found, as far as it got."""
    if verdict is None:
        return conclude(
            id=entry.id, kind=entry.kind, milestone=entry.milestone, counterexample=result
        )
    return conclude(
        id=verdict.id,
        kind=verdict.kind,
        milestone=verdict.milestone,
        checks=verdict.checks,
        findings=verdict.findings,
        examined=verdict.examined,
        unit=verdict.unit,
        trials=verdict.trials,
        seed=verdict.seed,
        limits_hit=verdict.limits_hit,
        subject=verdict.subject,
        counterexample=result,
    )
