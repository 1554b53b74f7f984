"""Calls Bazel: which one, the query for targets by their tags, and a run with its event stream.

What Bazel prints for people, progress and errors alike, goes to stderr as it comes.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hardgate.report.kept import Run
from hardgate.report.results import main_label, read_events
from hardgate.report.rows import Target

# Exit codes of `bazel test` after which the event stream says how each target ended.
BUILD_FAILED, TESTS_FAILED, NO_TESTS = 1, 3, 4
_STDERR = 2
# Set by `bazel run` and by the launcher for this program, not meant for a Bazel inside it.
_NOT_INHERITED = ("PYTHONPATH", "RUNFILES_DIR", "JAVA_RUNFILES", "RUNFILES_MANIFEST_FILE")


class BazelError(Exception):
    """Bazel could not do what was asked. str() says what, and a command that shows it again."""


class BazelMissingError(BazelError):
    """No Bazel was found."""


@dataclass(frozen=True)
class Bazel:
    """Bazel as started in one workspace."""

    program: str
    workspace: Path

    @classmethod
    def find(cls, workspace: Path, program: str | None, here: Path) -> Bazel:
        """The named program, else the workspace's bazelw, else bazel or bazelisk on PATH.

        A name with a slash is a path from `here`. Raises BazelMissingError.
        """
        if program is not None:
            found = shutil.which(here / program if os.path.dirname(program) else program)
            if found is None:
                raise BazelMissingError(f"--bazel: found no program {program}")
            return cls(os.path.abspath(found), workspace)
        wrapper = workspace / "bazelw"
        if wrapper.is_file() and os.access(wrapper, os.X_OK):
            return cls(str(wrapper), workspace)
        for name in ("bazel", "bazelisk"):
            found = shutil.which(name)
            if found:
                return cls(found, workspace)
        raise BazelMissingError(
            f"found no Bazel: no {wrapper}, and neither bazel nor bazelisk on PATH; "
            "install bazelisk, or name one with --bazel"
        )

    def gate_targets(self, package: str) -> list[Target]:
        """The test targets tagged `gate` in a package and below it, sorted by label.

        Raises BazelError.
        """
        # Anchored, since a tag may hold another one; Bazel shows the tags as [one, two].
        expression = f'attr(tags, "[\\[ ]gate[,\\]]", tests(//{package}/...))'
        options = ["--output=streamed_jsonproto", "--proto:output_rule_attrs=tags"]
        options += ["--noproto:rule_inputs_and_outputs", "--noproto:locations"]
        code, text = self._ask(["query", expression, *options, "--order_output=no"])
        if code:
            tried = f"bazel query {shlex.quote(expression)}"
            raise BazelError(f"the query for gates ended with code {code}; try: {tried}")
        targets = [_target(json.loads(line)) for line in text.splitlines() if line]
        return sorted((one for one in targets if one), key=lambda target: target.label)

    def run_tests(self, package: str, tag_filter: str, flags: Sequence[str]) -> Run:
        """Runs the tests of a package and below it that have one of the tags.

        `flags` are passed on after the report's own. Raises BazelError when Bazel ended without
        a statement on its tests.
        """
        pattern = f"//{package}/..."
        with tempfile.TemporaryDirectory(prefix="hardgate-report-") as scratch:
            events = Path(scratch) / "events.json"
            # Outputs as files of this machine, and fetched from a remote cache even where a
            # .bazelrc asks for the least.
            command = ["test", f"--build_event_json_file={events}"]
            command += ["--nobuild_event_json_file_path_conversion"]
            command += ["--remote_download_outputs=toplevel", "--keep_going"]
            command += ["--build_tests_only", f"--test_tag_filters={tag_filter}"]
            command += ["--test_summary=none", "--test_output=summary", *flags, "--", pattern]
            code = self._run(command)
            try:
                with events.open(encoding="utf-8", errors="replace") as lines:
                    results = read_events(lines)
            except FileNotFoundError:
                results = {}
        statement = code in (0, TESTS_FAILED, NO_TESTS) or (code == BUILD_FAILED and results)
        if not statement:
            tried = shlex.join(["bazel", "test", *flags, pattern])
            raise BazelError(f"bazel test ended with code {code}; try: {tried}")
        return Run.ended_now(results, code)

    def output_base(self) -> Path:
        """The folder of everything that Bazel keeps of this workspace. Raises BazelError."""
        code, text = self._ask(["info", "output_base"])
        if code or not text.strip():
            raise BazelError(f"bazel info ended with code {code}; try: bazel info output_base")
        return Path(text.strip())

    def _ask(self, command: Sequence[str]) -> tuple[int, str]:
        """(exit code, stdout) of a command that only looks."""
        arguments = [self.program, *command, "--ui_event_filters=-info"]
        with self._start(arguments, subprocess.PIPE) as process:
            text, _ = process.communicate()
        return process.returncode, text

    def _run(self, command: Sequence[str]) -> int:
        with self._start([self.program, *command], _STDERR) as process:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # Bazel got the signal too; it stops its tests before it ends.
                process.wait()
                raise

    def _start(self, arguments: Sequence[str], stdout: int) -> subprocess.Popen[str]:
        environment = {
            name: text for name, text in os.environ.items() if name not in _NOT_INHERITED
        }
        try:
            return subprocess.Popen(
                arguments,
                cwd=self.workspace,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                text=True,
            )
        except OSError as error:
            raise BazelMissingError(f"{self.program} can't be started: {error.strerror}") from None


def _target(line: dict[str, object]) -> Target | None:
    """A target of one line of the query's output; None for a line of another form."""
    rule = line.get("rule")
    if not isinstance(rule, dict):
        return None
    for attribute in rule.get("attribute", []):
        if attribute.get("name") == "tags":
            tags = frozenset(attribute.get("stringListValue", []))
            return Target(main_label(str(rule["name"])), tags)
    return None
