"""Turns a case and what was observed of its run into checks, expected first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hardgate.cases.loader import LoadedCase
from hardgate.cases.record import Record
from hardgate.expectations.clip import clipped
from hardgate.expectations.effects import effects
from hardgate.expectations.implicit import fixture, implicit, record_complete
from hardgate.expectations.outcome import Keys, Outcome
from hardgate.expectations.run import event_order, maximum_steps, reason_codes, terminal_status
from hardgate.expectations.text import final_text_contains, final_text_matches
from hardgate.expectations.tools import forbidden_tool_calls, no_tools, tool_calls
from hardgate.verdicts.verdict import FAIL, PASS, CheckResult

Evaluator = Callable[[Any, Record, Keys], Iterator[Outcome]]

# One evaluator for each key of `expected` that may be left out; each key that is given is at least
# one check. `effects` and `implicit` are checked of every run, given or not.
EVALUATORS: Mapping[str, Evaluator] = {
    "terminal_status": terminal_status,
    "final_text_contains": final_text_contains,
    "final_text_matches": final_text_matches,
    "tool_calls": tool_calls,
    "forbidden_tool_calls": forbidden_tool_calls,
    "no_tools": no_tools,
    "maximum_steps": maximum_steps,
    "event_order": event_order,
    "reason_codes": reason_codes,
}


class Evaluation(NamedTuple):
    """The checks, and the events (indexes) around which the failed ones diverged."""

    checks: tuple[CheckResult, ...]
    around: tuple[int, ...]


def evaluate(loaded: LoadedCase, record: Record, files: Sequence[str] = ()) -> Evaluation:
    """Every check of one run. `files` are what it left in its workspace.

    On a record without a single event every check fails: nothing was observed, so nothing holds.
    """
    checks: list[CheckResult] = []
    around: set[int] = set()
    for outcome in _outcomes(loaded, record, files):
        if not record.events and outcome.passed:
            outcome = outcome._replace(passed=False, message="nothing was observed: no event")
        if not outcome.passed:
            around.update(outcome.around)
        checks.append(
            CheckResult(
                name=outcome.name,
                outcome=PASS if outcome.passed else FAIL,
                expected=clipped(outcome.expected),
                observed=clipped(outcome.observed),
                message=clipped(outcome.message),
                path=loaded.path,
                line=loaded.line(outcome.keys),
            )
        )
    return Evaluation(tuple(checks), tuple(sorted(around)))


def _outcomes(loaded: LoadedCase, record: Record, files: Sequence[str]) -> Iterator[Outcome]:
    expected = loaded.case.expected
    for name, evaluator in EVALUATORS.items():
        value = getattr(expected, name)
        if value is not None:
            yield from evaluator(value, record, ("expected", name))
    yield from effects(expected.effects, record, ("expected", "effects"), files)
    yield from implicit(expected, record, ("expected", "implicit"))
    yield from fixture(record)
    yield from record_complete(record)
