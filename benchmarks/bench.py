"""What the benchmarks share: a Bazel server of their own, and tables of medians."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self


class Bazel:
    """A server with its own output root below a scratch folder; both are gone at the end.

    `workspace` is where the commands run; the Bazel is the one that the repository's bazelw finds.
    """

    def __init__(self, workspace: Path, scratch: Path) -> None:
        self.workspace = workspace
        self._scratch = scratch
        program = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "bazelw"
        self._start = [str(program), f"--output_user_root={scratch / 'root'}"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        subprocess.run([*self._start, "shutdown"], cwd=self.workspace, check=False)
        for folder, _, _ in os.walk(self._scratch):
            os.chmod(folder, 0o755)  # Bazel makes some of its folders read-only
        shutil.rmtree(self._scratch)

    def run(self, command: str, *words: str, accept: Sequence[int] = (0,)) -> tuple[float, str]:
        """Runs a command; returns its wall time in seconds and its standard output."""
        options = ["--noshow_progress", "--color=no", "--disk_cache="]
        if command != "query":
            options.append(f"--symlink_prefix={self._scratch}/bazel-")
        line = [*self._start, command, *options, *words]
        start = time.perf_counter()
        done = subprocess.run(line, cwd=self.workspace, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if done.returncode not in accept:
            said = done.stdout[-4000:] + done.stderr[-4000:]
            sys.exit(f"{' '.join(line)}\nended with {done.returncode}:\n{said}")
        return seconds, done.stdout

    def output(self, label: str) -> Path:
        """Where the file that a label of this workspace names is put when it is built."""
        return self._scratch / "bazel-bin" / label.removeprefix("//").replace(":", "/")


def scratch_folder(name: str) -> Path:
    """A new folder for one benchmark; not below /tmp, where Bazel's sandbox has its own."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(cache) / "hardgate" / "benchmarks" / f"{name}-{os.getpid()}"
    folder.mkdir(parents=True)
    return folder


def progress(text: str) -> None:
    """One line on stderr."""
    print(text, file=sys.stderr, flush=True)


def show(rows: Sequence[Mapping[str, object]], as_json: bool) -> None:
    """Prints rows of equal keys as a table, or as JSON."""
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    lines = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        first, *rest = zip(line, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]
        print("  ".join(cells))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
