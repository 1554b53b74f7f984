"""What set-up says while it works (stderr), and the one error type it ends with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Mapping, Sequence

_started = time.monotonic()


class SetupError(Exception):
    """Set-up cannot go on.

    Args of the constructor: `what` happened (one sentence) and `try_next`, the command or step
    that helps.
    """

    def __init__(self, what: str, try_next: str) -> None:
        super().__init__(what)
        self.what = what
        self.try_next = try_next

    def render(self) -> str:
        """Both sentences, as they are printed."""
        return f"bazelw: {self.what}\nbazelw: try: {self.try_next}"


def say(message: str) -> None:
    """One line on stderr with the seconds since the start."""
    elapsed = time.monotonic() - _started
    print(f"bazelw: [{elapsed:5.1f} s] {message}", file=sys.stderr, flush=True)


def run(
    command: Sequence[str | Path],
    try_next: str,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run `command` and return its standard output.

    Raises SetupError with the last lines of its standard error when it cannot be started or
    does not return 0.
    """
    words = [os.fspath(word) for word in command]
    try:
        done = subprocess.run(
            words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
    except OSError as error:
        raise SetupError(f"cannot start {words[0]}: {error.strerror}", try_next) from error
    if done.returncode != 0:
        last = "\n  ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-8:])
        raise SetupError(f"{words[0]} failed (exit code {done.returncode}):\n  {last}", try_next)
    return done.stdout
