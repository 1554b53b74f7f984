"""Asks a program which Bazel it is, with patience only as long as something is being downloaded."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.setup.launch import Launch
from tools.setup.progress import last_line, say

SILENT_SECONDS = 8.0  # without a new byte in the download folder: no download site is reached
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Answer:
    """Is it the wanted version, and what it said (one line)."""

    right: bool
    said: str


def reports(version: str, printed: str) -> bool:
    """Is `printed` what `bazel --version` prints for exactly `version`?

    A distribution's suffix (7.7.1-1) is the same version; a release candidate (7.7.1rc1) is not.
    """
    return re.match(rf"bazel {re.escape(version)}(?![\w.])", printed) is not None


def environment(version: str) -> dict[str, str]:
    """What makes bazelisk take `version`, in whatever folder it is started."""
    return {"USE_BAZEL_VERSION": version}


def ask(
    program: Path,
    version: str,
    downloads: Path,
    extra: Mapping[str, str],
    silent_seconds: float = SILENT_SECONDS,
) -> Answer:
    """Run `program --version` (which starts no server).

    It may be bazelisk, which downloads Bazel first: it is stopped when `downloads` has not grown
    for `silent_seconds`.
    """
    env = {**os.environ, **extra, "BAZELW_PROBING": "1"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                [str(program), "--version"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            return Answer(False, f"it does not start ({error.strerror})")
        finished = _wait(process, downloads, silent_seconds)
        out.seek(0)
        err.seek(0)
        printed = out.read().decode(errors="replace").strip()
        complained = err.read().decode(errors="replace")
    if not finished:
        return Answer(False, f"no answer and no download in {silent_seconds:.0f} s")
    right = process.returncode == 0 and reports(version, printed)
    return Answer(right, f"it says {last_line(printed or complained)!r}")


def _wait(process: subprocess.Popen[bytes], downloads: Path, silent_seconds: float) -> bool:
    """Wait for the end; False when it was stopped because nothing happened."""
    size, last_growth, last_said = folder_bytes(downloads), time.monotonic(), time.monotonic()
    while True:
        try:
            process.wait(timeout=POLL_SECONDS)
            return True
        except subprocess.TimeoutExpired:
            pass
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        now, grown = time.monotonic(), folder_bytes(downloads)
        if grown != size:
            size, last_growth = grown, now
            if now - last_said > 5:
                say(f"downloading Bazel: {size / 1e6:.0f} MB in {downloads}")
                last_said = now
        elif now - last_growth > silent_seconds:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False


def folder_bytes(folder: Path) -> int:
    """Bytes in the files below `folder`; 0 when there is none."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except OSError:
                continue  # a temporary file that has been renamed
    return total


def bazelisk_home() -> Path:
    """Where a bazelisk that is not ours keeps its downloads."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("BAZELISK_HOME") or os.path.join(cache, "bazelisk"))


def on_path(version: str, here: Path) -> Launch | None:
    """The Bazel of exactly `version` on PATH: bazel itself, or bazelisk under either name."""
    asked: set[str] = set()
    for name in ("bazel", "bazelisk"):
        found = shutil.which(name)
        if found is None:
            continue
        real = os.path.realpath(found)
        if real in asked or real == str(here / "bazelw"):
            continue
        asked.add(real)
        program = Path(os.path.abspath(found))
        answer = ask(program, version, bazelisk_home(), environment(version))
        if answer.right:
            return Launch(
                origin=f"{program}, on PATH", program=program, environment=environment(version)
            )
        say(f"{program} is not Bazel {version}: {answer.said}")
    return None
