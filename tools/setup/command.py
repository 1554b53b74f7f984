"""The two commands behind bazelw: `start` and `doctor`.

`start` finds or makes the pinned Bazel and prints, as shell functions, how to start it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.setup import debian, probe
from tools.setup.bazelisk import Bazelisk
from tools.setup.launch import Launch, replace
from tools.setup.private_bazel import PrivateBazel
from tools.setup.progress import SetupError, say

REFUSED = 4
INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    """`start|doctor WORKSPACE CACHE PATH [ARGUMENT...]`; returns the exit code.

    PATH is the caller's, which a python3 that is a shim may have changed.
    """
    word, workspace, cache, os.environ["PATH"], *rest = arguments
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        if word == "doctor":
            from tools.setup import doctor

            return doctor.main(Path(workspace), Path(cache), rest)
        return start(Path(workspace), Path(cache))
    except SetupError as error:
        print(error.render(), file=sys.stderr)
    except OSError as error:
        print(_explain(error, Path(cache)).render(), file=sys.stderr)
    except KeyboardInterrupt:
        print("bazelw: interrupted; nothing half made is kept", file=sys.stderr)
        return INTERRUPTED
    return REFUSED


def pinned_version(workspace: Path) -> str:
    """What .bazelversion says; SetupError when it cannot be read."""
    path = workspace / ".bazelversion"
    try:
        return path.read_text().split()[0]
    except (OSError, IndexError) as error:
        raise SetupError(f"{path} names no version", f"git checkout -- {path}") from error


def require_user_name() -> None:
    """Bazel names its output folder after the user, and ends without one (common in containers)."""
    if not os.environ.get("USER"):
        try:
            pwd.getpwuid(os.getuid())
        except KeyError as error:
            raise SetupError(
                f"USER is not set and user {os.getuid()} has no name; Bazel needs one",
                "export USER=builder, or any other name, and start again",
            ) from error


def start(workspace: Path, cache: Path) -> int:
    """Find or make the pinned Bazel, print how to start it, and keep that for the next start."""
    require_user_name()
    launch = provide(workspace, cache, pinned_version(workspace))
    kept = cache / "checkouts" / workspace.relative_to("/")
    launch.write_rc(kept)
    script = launch.script(kept)
    print(script)
    try:
        kept.mkdir(parents=True, exist_ok=True)
        replace(kept / "launch.sh", script)
    except OSError:
        pass  # a Bazel from PATH needs no cache folder; it is only looked for each time then
    return 0


def provide(workspace: Path, cache: Path, version: str) -> Launch:
    """The pinned Bazel, made when there is none yet; SetupError when it cannot be had."""
    found = probe.on_path(version, workspace)
    if found:
        return found
    with locked(cache):
        bazelisk = Bazelisk(cache, version)
        arch = debian.architecture()
        private = PrivateBazel(cache, version, arch) if arch else None
        if found := bazelisk.ready():
            return found
        if private and not private.faults():
            return private.launch(workspace)
        if found := bazelisk.fetch():
            return found
        if private is None:
            raise SetupError("no usable Bazel was found on this system", debian.USE_BAZELISK)
        private.build()
        return private.launch(workspace)


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """Hold the set-up lock of `cache`, which frees itself when the process ends."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "setup.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another bazelw that is setting up Bazel in {cache}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _explain(error: OSError, cache: Path) -> SetupError:
    """What an operating system error during set-up means for the user."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SetupError(
            f"the disk of {cache} is full",
            "free some space, or set HARDGATE_CACHE to a folder on another disk, and start again",
        )
    return SetupError(
        f"cannot set up Bazel in the cache folder {cache}: {error.strerror}: {error.filename}",
        "set HARDGATE_CACHE to a folder that you can write to, not below /tmp, and start again",
    )
