"""Turns a case and what was observed of its run into checks, expected first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hardgate.cases.loader import LoadedCase
from hardgate.cases.planned import PlannedRun
from hardgate.cases.record import FileChanges, Record
from hardgate.expectations import conversation, run, text, tools
from hardgate.expectations.arguments import args
from hardgate.expectations.clip import clipped
from hardgate.expectations.effects import effects, workspace
from hardgate.expectations.events import event_order
from hardgate.expectations.implicit import (
    faults,
    fixture,
    implicit,
    messages,
    record_complete,
    tool_results,
)
from hardgate.expectations.judging import Verification, judge, verify
from hardgate.expectations.outcome import Keys, Outcome
from hardgate.expectations.tool_calls import tool_calls
from hardgate.verdicts.verdict import FAIL, PASS, CheckResult

if TYPE_CHECKING:
    from hardgate.fixtures.judge import ScriptedJudge

Evaluator = Callable[[Any, Record, Keys], Iterator[Outcome]]

# One evaluator for each key of `expected` that the record alone decides; each key that is given is
# at least one check.
EVALUATORS: Mapping[str, Evaluator] = {
    "terminal_status": run.terminal_status,
    "failure_reason": run.failure_reason,
    "stop_cause": run.stop_cause,
    "final_text": text.final_text,
    "final_text_contains": text.final_text_contains,
    "final_text_not_contains": text.final_text_not_contains,
    "final_text_contains_any": text.final_text_contains_any,
    "final_text_matches": text.final_text_matches,
    "tools": tools.tools,
    "tools_in_order": tools.tools_in_order,
    "tool_calls": tool_calls,
    "args": args,
    "forbidden_tool_calls": tools.forbidden_tool_calls,
    "no_tools": tools.no_tools,
    "tool_started_count": tools.tool_started_count,
    "ended_on_failed_call": tools.ended_on_failed_call,
    "maximum_steps": run.maximum_steps,
    "maximum_model_calls": run.maximum_model_calls,
    "maximum_tool_calls": run.maximum_tool_calls,
    "model_calls": run.model_calls,
    "event_order": event_order,
    "reason_codes": run.reason_codes,
    "approval_requested": conversation.approval_requested,
    "pending_approvals": conversation.pending_approvals,
    "blocked_sends": conversation.blocked_sends,
    "taint": conversation.taint,
    "trust": conversation.trust,
    "distinct_prefixes": conversation.distinct_prefixes,
    "minimum_compactions": conversation.minimum_compactions,
    "metrics": conversation.metrics,
    "absent_strings": text.absent_strings,
}


class Evidence(NamedTuple):
    """What one run left to look at: its record, its workspace, and who judges it."""

    record: Record
    changes: FileChanges = FileChanges()
    verification: Verification | None = None
    judge: ScriptedJudge | None = None


class Evaluation(NamedTuple):
    """The checks, and the events (indexes) around which the failed ones diverged."""

    checks: tuple[CheckResult, ...]
    around: tuple[int, ...]


def evaluate(loaded: LoadedCase, planned: PlannedRun, evidence: Evidence) -> Evaluation:
    """Every check of one run of a case; a failed check of an arm names the arm.

    On a record without a single event every check fails: nothing was observed, so nothing holds.
    """
    checks: list[CheckResult] = []
    around: set[int] = set()
    for outcome in _outcomes(planned, evidence):
        if not evidence.record.events and outcome.passed:
            outcome = outcome._replace(passed=False, message="nothing was observed: no event")
        if not outcome.passed:
            around.update(outcome.around)
        if outcome.message and planned.arm is not None:
            outcome = outcome._replace(message=f"in the arm {planned.arm}: {outcome.message}")
        place = planned.keys(loaded.document, outcome.keys)
        checks.append(_as_check(loaded, outcome._replace(keys=place)))
    return Evaluation(tuple(checks), tuple(sorted(around)))


def as_checks(loaded: LoadedCase, outcomes: Iterable[Outcome]) -> tuple[CheckResult, ...]:
    """Outcomes whose keys lead from the top of the case file, as checks of a verdict."""
    return tuple(_as_check(loaded, outcome) for outcome in outcomes)


def _as_check(loaded: LoadedCase, outcome: Outcome) -> CheckResult:
    return CheckResult(
        name=outcome.name,
        outcome=PASS if outcome.passed else FAIL,
        expected=clipped(outcome.expected),
        observed=clipped(outcome.observed),
        message=clipped(outcome.message),
        path=loaded.path,
        line=loaded.line(outcome.keys),
    )


def _outcomes(planned: PlannedRun, evidence: Evidence) -> Iterator[Outcome]:
    expected, record = planned.expected, evidence.record
    for name, evaluator in EVALUATORS.items():
        value = getattr(expected, name)
        if value is not None:
            yield from evaluator(value, record, ("expected", name))
    if expected.judge is not None:
        yield from judge(expected.judge, evidence.judge, record, ("expected", "judge"))
    if expected.verify is not None:
        yield from verify(expected.verify, evidence.verification, record, ("expected", "verify"))
    if expected.artifacts is not None:
        keys = ("expected", "artifacts")
        yield Outcome("artifacts", keys, False, None, None, "no subject shows artifacts yet")
    yield from effects(expected.effects, record, ("expected", "effects"))
    yield from workspace(expected.workspace, evidence.changes, record, ("expected", "workspace"))
    yield from implicit(expected, record, ("expected", "implicit"))
    if record.faults is not None:
        yield from faults(record.faults, record)
    yield from fixture(record)
    if planned.case.fixtures.tool_results is not None or record.missing_tool_results:
        yield from tool_results(record)
    if planned.case.input is not None and planned.case.input.turns is not None:
        yield from messages(len(planned.case.input.turns), record)
    if planned.case.interventions:
        # Imported here: most cases have none.
        from hardgate.expectations.interventions import interventions

        yield from interventions(planned.case.interventions, record)
    yield from record_complete(record)
