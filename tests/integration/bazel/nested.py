"""Starts Bazel inside a test, in a workspace of its own, and reads back what it did.

The network is off in there: modules come from the copy of this repository and from what the running
Bazel carries, wheels from folders. Output root, home and disk cache lie below the test's own
temporary folder, so nothing of the machine's builds is read or changed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlparse

# For a server that lives a minute: the quick compiler only, one collector, a bounded heap.
_SERVER_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx640m")
_COMMAND_SECONDS = 300

_CONSUMER_MODULE = """
module(name = "consumer")
bazel_dep(name = "hardgate", version = "0.1.0")
bazel_dep(name = "rules_python", version = "1.9.2")
local_path_override(module_name = "hardgate", path = "{hardgate}")
gates = use_extension("@hardgate//tools:extensions.bzl", "gates")
{declarations}
"""
_DECLARATION = """
gates.declare(name = "my_gates", root = "//:MODULE.bazel")
use_repo(gates, "my_gates")
"""


def copy_sources(folder: Path) -> Path:
    """Copies the declared sources that this test was given, and returns `folder`.

    They lie below the working directory, like what the build has made; that is left out.
    """
    top = Path.cwd()
    for where, folders, names in os.walk(top):
        if Path(where) == top and "external" in folders:
            folders.remove("external")
        for name in names:
            source = Path(where, name)
            if "bazel-out" in source.resolve().parts:
                continue
            target = folder / source.relative_to(top)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
    return folder


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Writes files, {path below the folder: text}."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def make_consumer(
    folder: Path, hardgate: Path, files: Mapping[str, str], declarations: str = _DECLARATION
) -> Path:
    """Writes a workspace that depends on the copy of this repository, and returns `folder`.

    `declarations` is its use of the extension; without one it has the usual folders gates and evals
    and the repository my_gates.
    """
    module = _CONSUMER_MODULE.format(hardgate=hardgate, declarations=declarations)
    settings = (hardgate / ".bazelrc").read_text(encoding="utf-8")
    write_files(folder, {"MODULE.bazel": module, "BUILD.bazel": "", ".bazelrc": settings, **files})
    return folder


@dataclass(frozen=True)
class Done:
    """A Bazel command that has ended.

    `statuses` maps the label of each test to PASSED, FAILED, SKIPPED, NO_STATUS or FAILED_TO_BUILD;
    `logs` those of the tests that ran to what they printed; `started` holds (mnemonic, label) of each process
    that was really started, so what came from a cache is not in it; `configured` holds the labels of
    all targets that Bazel took up.
    """

    code: int
    out: str
    err: str
    statuses: Mapping[str, str]
    logs: Mapping[str, str]
    started: frozenset[tuple[str, str]]
    configured: frozenset[str]

    @property
    def lines(self) -> list[str]:
        """What the command printed on standard output, by lines."""
        return self.out.splitlines()

    def tests_run(self) -> set[str]:
        """The labels of the tests that were really run."""
        return {label for mnemonic, label in self.started if mnemonic == "TestRunner"}


class NestedBazel:
    """A Bazel server of its own for one workspace; a context manager that shuts it down.

    `hardgate` is the copy of this repository that the workspace depends on or is; `modules` is false
    for a workspace without them.
    """

    def __init__(self, workspace: Path, hardgate: Path, *, modules: bool = True) -> None:
        self.workspace = workspace
        self._scratch = Path(os.environ["TEST_TMPDIR"]) / workspace.name
        self._scratch.mkdir(parents=True)
        wheels = " ".join(
            str(Path(folder).resolve()) for folder in os.environ["HARDGATE_WHEELS"].split()
        )
        self._options = [
            "--lockfile_mode=off",
            "--repo_env=PIP_NO_INDEX=1",
            f"--repo_env=PIP_FIND_LINKS={wheels}",
            f"--repo_env=HARDGATE_PYTHON={sys.executable}",
            f"--disk_cache={self._scratch / 'disk'}",
            "--noshow_progress",
            "--color=no",
        ]
        if modules:
            # Where there is no module registry, the running Bazel was given this module by a path
            # that must not be used here: the copy has its own.
            stand_in = hardgate / "third_party/rules_python_standin"
            self._options.append(f"--override_module=rules_python={stand_in}")
        self._startup = [str(Path(os.environ["HARDGATE_BAZEL"]).resolve())]
        self._startup += ["--nosystem_rc", "--nohome_rc", "--max_idle_secs=5"]
        self._startup += [f"--output_user_root={self._scratch / 'root'}"]
        self._startup += [f"--host_jvm_args={option}" for option in _SERVER_OPTIONS]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._start(["shutdown"])

    def _start(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._startup, *words],
            cwd=self.workspace,
            env={"PATH": os.environ["PATH"], "HOME": str(self._scratch), "USER": "tester"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )

    def write_launcher(self, path: Path) -> None:
        """Writes a program that starts this Bazel, for what calls Bazel itself."""
        startup, options = shlex.join(self._startup), shlex.join(self._options)
        path.write_text(
            f'#!/bin/sh\ncommand=$1\nshift\nexec {startup} "$command" {options} "$@"\n',
            encoding="utf-8",
        )
        path.chmod(0o755)

    def run(self, command: str, *words: str) -> Done:
        """Runs one command that builds nothing, such as a query."""
        done = self._start([command, *self._options, *words])
        return Done(done.returncode, done.stdout, done.stderr, {}, {}, frozenset(), frozenset())

    def build(self, command: str, *words: str) -> Done:
        """Runs `build` or `test` and reads what Bazel reports about each target and process."""
        events, spawns = self._scratch / "events.json", self._scratch / "spawns.json"
        for file in (events, spawns):
            file.unlink(missing_ok=True)
        options = [f"--build_event_json_file={events}", f"--execution_log_json_file={spawns}"]
        done = self._start([command, *self._options, *options, *words])
        seen = list(_json_values(events))
        statuses, logs = _tests(seen)
        configured = frozenset(
            _label(event["id"]["targetConfigured"]["label"])
            for event in seen
            if "configured" in event
        )
        started = frozenset(
            (spawn["mnemonic"], _label(spawn["targetLabel"]))
            for spawn in _json_values(spawns)
            if not spawn.get("cacheHit") and spawn.get("targetLabel")
        )
        output = (done.returncode, done.stdout, done.stderr)
        return Done(*output, statuses, logs, started, configured)


def _json_values(file: Path) -> Iterator[Any]:
    """The JSON values of a file that holds one after the other."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        while text[at : at + 1].isspace():
            at += 1


def _label(label: str) -> str:
    return label.removeprefix("@@")


def _tests(events: list[Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The status of each test in a stream of build events, and what each test printed."""
    statuses: dict[str, str] = {}
    logs: dict[str, str] = {}
    for event in events:
        identity = event["id"]
        if "aborted" in event and "targetCompleted" in identity:
            reason = event["aborted"]["reason"]
            statuses[_label(identity["targetCompleted"]["label"])] = reason
        elif "completed" in event and not event["completed"].get("success"):
            statuses.setdefault(_label(identity["targetCompleted"]["label"]), "FAILED_TO_BUILD")
        elif "testSummary" in event:
            label = _label(identity["testSummary"]["label"])
            statuses[label] = event["testSummary"]["overallStatus"]
        elif "testResult" in event:
            for output in event["testResult"]["testActionOutput"]:
                if output["name"] == "test.log":
                    path = Path(unquote(urlparse(output["uri"]).path))
                    label = _label(identity["testResult"]["label"])
                    logs[label] = path.read_text(encoding="utf-8", errors="replace")
    return statuses, logs
