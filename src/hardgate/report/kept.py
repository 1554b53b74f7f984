"""Keeps the results of the last complete run, for a report that runs nothing.

Only a run over all gates is kept, so a look at one area never takes the place of the whole. The
file lies in Bazel's output base: whatever ends Bazel's own results ends it too.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hardgate.report.results import TargetResult

FORMAT = 1


@dataclass(frozen=True)
class Run:
    """The results by label of one `bazel test`, its exit code, and when it ended, in UTC."""

    results: dict[str, TargetResult]
    exit_code: int
    ended_at: str

    @classmethod
    def ended_now(cls, results: dict[str, TargetResult], exit_code: int) -> Run:
        """A run that has just ended."""
        now = datetime.now(UTC)
        return cls(results, exit_code, now.strftime("%Y-%m-%dT%H:%M:%SZ"))


def file_in(output_base: Path, package: str) -> Path:
    """Where the results of the gates of one package are kept."""
    return output_base.joinpath("hardgate", *package.split("/"), "last_run.json")


def save(path: Path, run: Run) -> None:
    """Writes the whole file or nothing. Raises OSError."""
    plain = {
        "format": FORMAT,
        "exit_code": run.exit_code,
        "ended_at": run.ended_at,
        "results": [vars(run.results[label]) for label in sorted(run.results)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(plain), encoding="utf-8")
    unfinished.replace(path)


def load(path: Path) -> Run:
    """The run that was kept. Raises OSError, or ValueError for a file that holds none."""
    plain = json.loads(path.read_text("utf-8"))
    try:
        if plain["format"] != FORMAT:
            raise ValueError(
                f"{path} has the format {plain['format']}; this version reads {FORMAT}"
            )
        results = [TargetResult(**one) for one in plain["results"]]
        by_label = {one.label: one for one in results}
        return Run(by_label, int(plain["exit_code"]), str(plain["ended_at"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no results: {error!r}") from None
