"""How Bazel is started, and the script in which bazelw finds that again without starting Python."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FULL_TIME = "-T" if sys.platform == "darwin" else "--full-time"  # to the second or better


@dataclass(frozen=True)
class Launch:
    """One way to start the pinned Bazel.

    `origin` says in words where it comes from, `options` are startup options, `rc_lines` the lines
    of a generated bazelrc (options quoted as in a shell), `environment` what the client must find
    set. When `program` or one of `rests_on` changes, bazelw looks again.
    """

    origin: str
    program: Path
    options: tuple[str, ...] = ()
    rc_lines: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    rests_on: tuple[Path, ...] = ()

    def words(self, kept: Path, arguments: Sequence[str] = ()) -> list[str]:
        """The command line; `kept` is the folder given to `write_rc`."""
        rc = [f"--bazelrc={kept / 'bazelrc'}"] if self.rc_lines else []
        return [str(self.program), *self.options, *rc, *arguments]

    def write_rc(self, kept: Path) -> None:
        """Write the bazelrc, if there is one, into the folder `kept`; may raise OSError."""
        if self.rc_lines:
            kept.mkdir(parents=True, exist_ok=True)
            replace(kept / "bazelrc", "".join(f"{line}\n" for line in self.rc_lines))

    def script(self, kept: Path) -> str:
        """Shell functions `launch`, which becomes Bazel, and `state`, and what `state` says now."""
        watched = shlex.join(str(path) for path in (self.program, *self.rests_on))
        exports = [f"  export {key}={shlex.quote(text)}" for key, text in self.environment.items()]
        lines = [
            "# Made by bazelw. state: everything this answer rests on.",
            "state() {",
            "  command -v bazel",
            "  command -v bazelisk",
            # Inode, size, and the time of the last change of any kind.
            f"  LC_ALL=C TZ=UTC0 ls -Lidnc {FULL_TIME} {watched} 2>&1",
            "}",
            "launch() {",
            *exports,
            f'  exec {shlex.join(self.words(kept))} "$@"',
            "}",
        ]
        text = "\n".join(lines) + "\n"
        state = subprocess.run(["sh", "-c", text + "state"], capture_output=True, text=True).stdout
        return f"{text}expected={shlex.quote(state.rstrip())}\n"


def replace(path: Path, text: str) -> None:
    """Write a file in one step, so that a start at the same moment never reads half of it."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_text(text)
    unfinished.replace(path)
