"""How Bazel is started, and the file in which bazelw finds that again without starting Python."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping, Sequence


@dataclass(frozen=True)
class Launch:
    """One way to start the pinned Bazel.

    `options` are startup options, `rc_lines` the lines of a generated bazelrc, `environment` what
    the client must find set; a change of one of `rests_on` makes bazelw look again.
    """

    origin: str
    program: Path
    options: tuple[str, ...] = ()
    rc_lines: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    rests_on: tuple[Path, ...] = ()

    def words(self, kept: Path, arguments: Sequence[str]) -> list[str]:
        """The command line; `kept` is the folder of `save`."""
        rc = [f"--bazelrc={kept / 'bazelrc'}"] if self.rc_lines else []
        return [str(self.program), *self.options, *rc, *arguments]

    def run(self, kept: Path, arguments: Sequence[str]) -> None:
        """Become Bazel."""
        words = self.words(kept, arguments)
        os.execve(words[0], words, {**os.environ, **self.environment})

    def save(self, kept: Path) -> None:
        """Write launch.sh (see bazelw) and the bazelrc into `kept`; OSError when it is read-only."""
        kept.mkdir(parents=True, exist_ok=True)
        if self.rc_lines:
            text = "# Made by bazelw at each set-up.\n" + "".join(f"{x}\n" for x in self.rc_lines)
            replace(kept / "bazelrc", text)
        text = self.script(kept)
        expected = subprocess.run(
            ["sh", "-c", text + "state"], check=True, capture_output=True, text=True
        ).stdout
        replace(kept / "launch.sh", f"{text}expected={shlex.quote(expected.rstrip())}\n")

    def script(self, kept: Path) -> str:
        """launch.sh without what `state` printed."""
        watched = shlex.join(str(path) for path in (self.program, *self.rests_on))
        exports = "".join(
            f"  export {key}={shlex.quote(value)}\n" for key, value in self.environment.items()
        )
        return (
            "# Made by bazelw at each set-up. state: everything the answer rests on.\n"
            "state() {\n"
            "  command -v bazel\n"
            "  command -v bazelisk\n"
            f"  LC_ALL=C TZ=UTC0 ls -Lidn {watched} 2>&1\n"
            "}\n"
            "launch() {\n"
            f"{exports}"
            f'  exec {shlex.join(self.words(kept, ()))} "$@"\n'
            "}\n"
        )


def replace(path: Path, text: str) -> None:
    """Write a file in one step, so that a start at the same moment never reads half of it."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_text(text)
    unfinished.replace(path)
