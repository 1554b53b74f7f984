"""What set-up says while it works (stderr), and the one error type it ends with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_started = time.monotonic()


class SetupError(Exception):
    """Set-up cannot go on: `what` happened, and `try_next`, the step that helps (one line each)."""

    def __init__(self, what: str, try_next: str) -> None:
        super().__init__(what)
        self.what = what
        self.try_next = try_next

    def render(self) -> str:
        """Both lines, as they are printed."""
        return f"bazelw: {self.what}\nbazelw: try: {self.try_next}"


def say(message: str) -> None:
    """One line on stderr with the seconds since the start."""
    elapsed = time.monotonic() - _started
    print(f"bazelw: [{elapsed:5.1f} s] {message}", file=sys.stderr, flush=True)


def last_line(text: str) -> str:
    """The last line that says something, at most 300 characters; "nothing" without one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "nothing"


def run(
    command: Sequence[str | Path],
    try_next: str,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> str:
    """Run `command` and return its standard output.

    Raises SetupError when it cannot be started, does not return 0, or takes too long.
    """
    words = [os.fspath(word) for word in command]
    name = os.path.basename(words[0])
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
        )
    except OSError as error:
        raise SetupError(f"cannot start {words[0]}: {error.strerror}", try_next) from error
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"{name} gave no answer in {timeout_seconds:.0f} s", try_next) from error
    if done.returncode != 0:
        said = last_line(done.stderr or done.stdout)
        if "No space left on device" in done.stderr:
            try_next = "free some space, or set HARDGATE_CACHE to a folder on another disk"
        raise SetupError(f"{name} failed (exit code {done.returncode}): {said}", try_next)
    return done.stdout
