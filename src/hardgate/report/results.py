"""What Bazel says of each target, read from its build event stream.

The stream is the only source. Files below bazel-testlogs may be left over from a run that has
nothing to do with this one, so they are opened only where the stream names them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from hardgate.report.outputs import read_tail, read_verdict

PASSED = "passed"
FAILED = "failed"
FAILED_TO_BUILD = "failed_to_build"
SKIPPED = "skipped"
ABORTED = "aborted"

# The build actions that run the check of a structural gate (tools/private/structural.bzl).
CHECK_ACTIONS = ("GateCheck", "GateCounterexample")
# Reasons of an aborted target that speak of its definition, not of how the run went.
_BROKEN = ("ANALYSIS_FAILURE", "LOADING_FAILURE")


@dataclass(frozen=True)
class TargetResult:
    """One target's outcome.

    `status`: passed, failed, failed_to_build, skipped or aborted (Bazel ended before it had a
    result). `detail` says more where it is not passed. `cached`: None where nothing ran. `seconds`:
    wall time of the run that made the result. `verdict`: the text of verdict.json, or None, and
    then `no_verdict` says why. `output`: the end of what the process printed that failed.
    """

    label: str
    status: str
    detail: str = ""
    cached: bool | None = None
    seconds: float | None = None
    verdict: str | None = None
    no_verdict: str = ""
    output: str = ""


@dataclass(frozen=True)
class _Action:
    """A build action that failed."""

    label: str
    kind: str
    exit_code: int
    stderr: str


class Collector:
    """Gathers target results from the events of one Bazel invocation, in any order.

    Takes whatever JSON holds: an event of an unknown shape adds nothing, so it can only take
    results away, and a gate without a result is a failure.
    """

    def __init__(self) -> None:
        self._attempts: dict[str, list[TargetResult]] = {}
        self._summaries: dict[str, str] = {}
        self._unfinished: dict[str, TargetResult] = {}
        self._causes: dict[str, list[tuple[str, str]]] = {}
        self._actions: dict[tuple[str, str], _Action] = {}
        self._descriptions: dict[str, str] = {}
        self._takers = {
            "actionCompleted": self._action_completed,
            "configuredLabel": self._configured_label,
            "targetCompleted": self._target_completed,
            "targetConfigured": self._target_configured,
            "testResult": self._test_result,
            "testSummary": self._test_summary,
        }

    def add(self, event: object) -> None:
        """Takes one event of the stream, in its JSON form."""
        for name, about in _map(_map(event).get("id")).items():
            label = main_label(_text(_map(about).get("label")))
            if name in self._takers and label:
                self._takers[name](label, _map(event))

    def _test_result(self, label: str, event: dict[str, Any]) -> None:
        result = _map(event.get("testResult"))
        status = _text(result.get("status")) or "NO_STATUS"
        info = _map(result.get("executionInfo"))
        outputs = {
            _text(one.get("name")): _text(one.get("uri"))
            for one in map(_map, _list(result.get("testActionOutput")))
        }
        verdict, no_verdict = read_verdict(outputs)
        passed = status == "PASSED"
        attempt = TargetResult(
            label=label,
            status=PASSED if passed else FAILED,
            detail="" if status in ("PASSED", "FAILED") else status.lower(),
            cached=bool(
                result.get("cachedLocally")
                or info.get("cachedRemotely")
                or _text(info.get("strategy")).endswith("cache hit")
            ),
            seconds=_seconds(result.get("testAttemptDurationMillis")),
            verdict=verdict,
            no_verdict=no_verdict,
            output="" if passed else read_tail(outputs.get("test.log", "")),
        )
        self._attempts.setdefault(label, []).append(attempt)

    def _test_summary(self, label: str, event: dict[str, Any]) -> None:
        self._summaries[label] = _text(_map(event.get("testSummary")).get("overallStatus"))

    def _target_completed(self, label: str, event: dict[str, Any]) -> None:
        completed = _map(event.get("completed"))
        if "aborted" in event:
            self._abort(label, _map(event["aborted"]))
        elif completed.get("success") is not True:
            self._causes[label] = [
                (main_label(_text(cause.get("label"))), _text(cause.get("primaryOutput")))
                for child in map(_map, _list(event.get("children")))
                for cause in [_map(child.get("actionCompleted"))]
            ]
            message = _text(_map(completed.get("failureDetail")).get("message"))
            self._leave(label, FAILED_TO_BUILD, message.split("\n", 1)[0])

    def _target_configured(self, label: str, event: dict[str, Any]) -> None:
        if "aborted" in event:
            self._abort(label, _map(event["aborted"]))

    def _configured_label(self, label: str, event: dict[str, Any]) -> None:
        self._descriptions[label] = _text(_map(event.get("aborted")).get("description"))

    def _action_completed(self, label: str, event: dict[str, Any]) -> None:
        action = _map(event.get("action"))
        code = action.get("exitCode")
        about = _map(_map(event.get("id")).get("actionCompleted"))
        self._actions[label, _text(about.get("primaryOutput"))] = _Action(
            label=label,
            kind=_text(action.get("type")) or "an action",
            exit_code=code if isinstance(code, int) else 0,
            stderr=_text(_map(action.get("stderr")).get("uri")),
        )

    def _abort(self, label: str, aborted: dict[str, Any]) -> None:
        # JSON leaves out the enum's first value, so no reason at all means UNKNOWN: what Bazel
        # sends for announced targets when it ends early. Only SKIPPED is a skip.
        reason = _text(aborted.get("reason")) or "UNKNOWN"
        if reason == "SKIPPED":
            self._leave(label, SKIPPED, "")
        elif reason in _BROKEN:
            self._leave(label, FAILED_TO_BUILD, reason.lower().replace("_", " "))
        else:
            self._leave(label, ABORTED, reason.lower())

    def _leave(self, label: str, status: str, detail: str) -> None:
        """Notes that a target has no test run. The first reason stands, a skip gives way."""
        known = self._unfinished.get(label)
        if known is None or known.status == SKIPPED:
            self._unfinished[label] = TargetResult(label, status, detail)

    def results(self) -> dict[str, TargetResult]:
        """Results by label, for each test target that the stream says something decisive of."""
        found = {label: self._summed_up(label) for label in self._attempts}
        for label, result in self._unfinished.items():
            if result.status == FAILED_TO_BUILD:
                found[label] = self._build_failure(result)
            elif label in found:
                found[label] = replace(found[label], status=ABORTED, detail="run and not run")
            else:
                found[label] = result
        return found

    def _summed_up(self, label: str) -> TargetResult:
        """The attempt that decides: one that failed, else the last; passed only with a summary."""
        attempts = self._attempts[label]
        chosen = next((one for one in attempts if one.status != PASSED), attempts[-1])
        summary = self._summaries.get(label, "")
        if chosen.status == PASSED and summary != "PASSED":
            # A shard or run without a result, or a stream that was cut.
            return replace(chosen, status=ABORTED, detail=summary.lower() or "no summary")
        if any(one.verdict != chosen.verdict for one in attempts) and chosen.status == PASSED:
            # With --runs_per_test; a verdict is the same for the same inputs.
            return replace(chosen, status=ABORTED, detail="its runs wrote different verdicts")
        if summary == "FLAKY":
            return replace(chosen, detail="flaky")
        return chosen

    def _build_failure(self, result: TargetResult) -> TargetResult:
        """Says which action failed and how its error output ends."""
        for cause in self._causes.get(result.label, ()):
            action = self._actions.get(cause)
            if action is not None:
                crashed = "the check crashed: " if action.kind in CHECK_ACTIONS else ""
                ended = f"{action.kind} of {action.label} ended with exit code {action.exit_code}"
                output = read_tail(action.stderr) or result.detail
                return replace(result, detail=crashed + ended, output=output)
        return replace(result, output=self._descriptions.get(result.label, ""))


def read_events(lines: Iterable[str]) -> dict[str, TargetResult]:
    """Results by label from the lines of a build event JSON file; lines that are no JSON (a file
    that was cut) are passed over."""
    collector = Collector()
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        collector.add(event)
    return collector.results()


def main_label(label: str) -> str:
    """A label of the main repository without the prefix that some commands put before it."""
    return label.removeprefix("@@") if label.startswith("@@//") else label


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _seconds(milliseconds: object) -> float | None:
    """Bazel writes 64-bit integers as text."""
    try:
        return round(int(_text(milliseconds)) / 1000, 3)
    except (ValueError, OverflowError):
        return None
