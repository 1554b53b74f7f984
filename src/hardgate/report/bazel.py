"""Calls Bazel: which one, the query for targets by their tags, and a run with its event stream."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hardgate.report.results import TargetResult, read_events

# Exit codes of `bazel test`: tests failed, and no test found (a selection of pending gates only).
TESTS_FAILED, NO_TESTS = 3, 4


class BazelError(Exception):
    """Bazel could not do what was asked. str() says what and the command to try."""


class BazelMissing(BazelError):
    """No Bazel was found."""


@dataclass(frozen=True)
class Target:
    """A generated target as the query sees it."""

    label: str
    tags: frozenset[str]

    def tag(self, key: str) -> str | None:
        """The value of the tag `key:value`, or None."""
        for tag in self.tags:
            name, colon, value = tag.partition(":")
            if colon and name == key:
                return value
        return None


@dataclass(frozen=True)
class Bazel:
    """Bazel as started in one workspace."""

    program: str
    workspace: Path

    @classmethod
    def find(cls, workspace: Path) -> Bazel:
        """The workspace's own bazelw, else bazel or bazelisk on PATH. Raises BazelMissing."""
        wrapper = workspace / "bazelw"
        if os.access(wrapper, os.X_OK):
            return cls(str(wrapper), workspace)
        for name in ("bazel", "bazelisk"):
            found = shutil.which(name)
            if found:
                return cls(found, workspace)
        raise BazelMissing(
            f"no Bazel found: neither {wrapper} nor bazel or bazelisk on PATH; install bazelisk"
        )

    def _environment(self) -> dict[str, str]:
        # What `bazel run` and our launcher set would be inherited by the inner Bazel.
        dropped = ("PYTHONPATH", "RUNFILES_DIR", "JAVA_RUNFILES", "RUNFILES_MANIFEST_FILE")
        return {name: value for name, value in os.environ.items() if name not in dropped}

    def gate_targets(self, package: str) -> list[Target]:
        """The targets tagged `gate` in a package, sorted by label. Raises BazelError."""
        expression = f'attr(tags, "[\\[ ]gate[,\\]]", //{package}/...)'
        command = [self.program, "query", expression, "--output=streamed_jsonproto"]
        command += ["--noshow_progress", "--ui_event_filters=-info", "--order_output=no"]
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            tried = f"bazel query '{expression}'"
            raise BazelError(f"the query for gates failed; try: {tried}\n{done.stderr.strip()}")
        targets = [_target(json.loads(line)) for line in done.stdout.splitlines() if line]
        return sorted((one for one in targets if one), key=lambda target: target.label)

    def run_tests(
        self, patterns: Sequence[str], tag_filter: str | None, flags: Sequence[str]
    ) -> dict[str, TargetResult]:
        """Runs tests and returns their results by label; Bazel's own output goes to stderr.

        Raises BazelError when Bazel ended without a statement on its tests.
        """
        with tempfile.TemporaryDirectory(prefix="hardgate-report-") as scratch:
            events = Path(scratch) / "events.json"
            command = [self.program, "test", "--keep_going", f"--build_event_json_file={events}"]
            command += ["--build_event_json_file_path_conversion=true"]
            command += [f"--test_tag_filters={tag_filter}"] if tag_filter else []
            command += ["--test_summary=none", "--test_output=summary", *flags, "--", *patterns]
            done = subprocess.run(
                command,
                cwd=self.workspace,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                check=False,
            )
            try:
                with events.open(encoding="utf-8") as lines:
                    results = read_events(lines)
            except OSError:
                results = {}
        # 1 is a build failure: with --keep_going the event stream says of which targets.
        if done.returncode not in (0, 1, TESTS_FAILED, NO_TESTS) or not results:
            tried = "bazel test " + " ".join(patterns)
            raise BazelError(f"Bazel ended with code {done.returncode}; try: {tried}")
        return results

    def results_file(self) -> Path:
        """Where the last results are kept: in Bazel's own output base, so `clean --expunge` ends
        them too. Raises BazelError."""
        done = subprocess.run(
            [self.program, "info", "output_base", "--noshow_progress", "--ui_event_filters=-info"],
            cwd=self.workspace,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not done.stdout.strip():
            raise BazelError(f"try: bazel info output_base\n{done.stderr.strip()}")
        return Path(done.stdout.strip()) / "hardgate" / "gates.json"


def _target(line: dict[str, object]) -> Target | None:
    """A target of one line of the query's output; None for what is no test."""
    rule = line.get("rule")
    if not isinstance(rule, dict) or not str(rule.get("ruleClass", "")).endswith("_test"):
        return None
    for attribute in rule.get("attribute", []):
        if attribute.get("name") == "tags":
            return Target(str(rule["name"]), frozenset(attribute.get("stringListValue", [])))
    return None
