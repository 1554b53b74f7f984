"""What Bazel says of each target: read from its build event stream, kept for the next report.

The stream is the only source. Files below bazel-testlogs may be left over from a run that has
nothing to do with this one, so they are opened only where the stream names them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from hardgate.verdicts.verdict import Verdict, VerdictError, from_json

PASSED, FAILED, SKIPPED, NO_RESULT = "passed", "failed", "skipped", "no_result"
VERDICT_BYTES_MAX = 16 * 1024 * 1024


@dataclass(frozen=True)
class TargetResult:
    """One target's outcome.

    `status`: passed, failed, skipped or no_result. `detail` says more where it is not passed.
    `cached`: None where nothing ran. `seconds`: wall time of the run that made the result.
    `verdict`: the plain JSON object of verdict.json, None where the target wrote none.
    """

    label: str
    status: str
    detail: str = ""
    cached: bool | None = None
    seconds: float | None = None
    verdict: Mapping[str, object] | None = None

    def read_verdict(self) -> Verdict | None:
        """The verdict, or None. Raises VerdictError when it contradicts itself."""
        return None if self.verdict is None else from_json(json.dumps(self.verdict))


class Collector:
    """Gathers target results from the events of one Bazel invocation."""

    def __init__(self) -> None:
        self._results: dict[str, TargetResult] = {}
        self._summaries: dict[str, str] = {}
        self._completed: dict[str, str] = {}

    def add(self, event: Mapping[str, object]) -> None:
        """Takes one event of the stream, in its JSON form."""
        identity = event.get("id")
        if not isinstance(identity, dict):
            return
        if "testResult" in identity and "testResult" in event:
            self._test_result(identity["testResult"]["label"], event["testResult"])
        elif "testSummary" in identity and "testSummary" in event:
            label = identity["testSummary"]["label"]
            self._summaries[label] = event["testSummary"].get("overallStatus", "NO_STATUS")
        elif "targetCompleted" in identity:
            label = identity["targetCompleted"]["label"]
            if "aborted" in event:
                reason = event["aborted"].get("reason", "SKIPPED")
                self._completed[label] = SKIPPED if reason == "SKIPPED" else reason
            elif not event.get("completed", {}).get("success"):
                self._completed[label] = "FAILED_TO_BUILD"
        elif "targetConfigured" in identity and "aborted" in event:
            label = identity["targetConfigured"]["label"]
            self._completed[label] = event["aborted"].get("reason", "ANALYSIS_FAILURE")

    def _test_result(self, label: str, result: Mapping[str, object]) -> None:
        info = result.get("executionInfo") or {}
        outputs = {one["name"]: one.get("uri", "") for one in result.get("testActionOutput", [])}
        status = result.get("status", "NO_STATUS")
        self._results[label] = TargetResult(
            label=label,
            status=PASSED if status == "PASSED" else FAILED,
            detail="" if status in ("PASSED", "FAILED") else str(status).lower(),
            cached=bool(result.get("cachedLocally") or info.get("cachedRemotely")),
            seconds=round(int(result.get("testAttemptDurationMillis", 0)) / 1000, 3),
            verdict=read_verdict_output(outputs),
        )

    def results(self) -> dict[str, TargetResult]:
        """Results by label, for each target that the stream speaks of."""
        found = dict(self._results)
        for label, reason in self._completed.items():
            if reason == SKIPPED:
                found.setdefault(label, TargetResult(label, SKIPPED))
            else:
                found[label] = TargetResult(label, FAILED, detail=reason.lower())
        for label, status in self._summaries.items():
            if status != "PASSED" and label in found and found[label].status == PASSED:
                # One attempt passed and the target did not: FLAKY, or a shard or run that failed.
                found[label] = TargetResult(label, FAILED, detail=status.lower())
        return found


def read_verdict_output(outputs: Mapping[str, str]) -> Mapping[str, object] | None:
    """The verdict among a test's outputs: in the folder or in the archive that Bazel makes of it.

    None where there is none, where it is no JSON object, or where it lies on another machine.
    """
    for name in ("test.outputs", "test.outputs__outputs.zip"):
        address = urlparse(outputs.get(name, ""))
        if address.scheme != "file":
            continue
        path = Path(unquote(address.path))
        try:
            if path.is_dir():
                text = _limited(path / "verdict.json")
            else:
                with zipfile.ZipFile(path) as archive:
                    if archive.getinfo("verdict.json").file_size > VERDICT_BYTES_MAX:
                        return None
                    text = archive.read("verdict.json").decode("utf-8")
            plain = json.loads(text)
        except (OSError, KeyError, ValueError, zipfile.BadZipFile):
            return None
        return plain if isinstance(plain, dict) else None
    return None


def _limited(path: Path) -> str:
    if path.stat().st_size > VERDICT_BYTES_MAX:
        raise ValueError(f"{path} is larger than {VERDICT_BYTES_MAX} bytes")
    return path.read_text("utf-8")


def read_events(lines: Iterable[str]) -> dict[str, TargetResult]:
    """Results by label from the lines of a build event JSON file; a cut last line is ignored."""
    collector = Collector()
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            collector.add(event)
    return collector.results()


def save(path: Path, selection: str, results: Mapping[str, TargetResult]) -> None:
    """Keeps results for `--no-run`; the whole file or nothing."""
    plain = {"selection": selection, "results": [asdict(results[one]) for one in sorted(results)]}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(plain), encoding="utf-8")
    part.replace(path)


def load(path: Path) -> tuple[str, dict[str, TargetResult]]:
    """(selection, results by label) of the last run. Raises OSError, or ValueError when damaged."""
    try:
        plain = json.loads(path.read_text("utf-8"))
        results = [TargetResult(**one) for one in plain["results"]]
        return str(plain["selection"]), {one.label: one for one in results}
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no results: {error}") from None


__all__ = [
    "FAILED",
    "NO_RESULT",
    "PASSED",
    "SKIPPED",
    "Collector",
    "TargetResult",
    "VerdictError",
    "load",
    "read_events",
    "save",
]
