"""The two commands behind bazelw: `start` (find or make a Bazel, then become it) and `doctor`."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Sequence

from tools.setup import debian, private_bazel
from tools.setup.launch import Launch
from tools.setup.progress import SetupError, say

REFUSED = 4


def main(arguments: Sequence[str]) -> int:
    """`start|doctor WORKSPACE CACHE [ARGUMENT...]`; returns the exit code."""
    word, here, cache, *rest = arguments
    try:
        if word == "doctor":
            from tools.setup import doctor

            return doctor.main(Path(here), Path(cache), rest)
        return start(Path(here), Path(cache), rest)
    except SetupError as error:
        say_refused(error)
        return REFUSED


def say_refused(error: SetupError) -> None:
    """Print what went wrong and what to try."""
    import sys

    print(error.render(), file=sys.stderr)


def start(here: Path, cache: Path, arguments: Sequence[str]) -> int:
    """Find or make the pinned Bazel, keep the answer, and become that Bazel."""
    version = (here / ".bazelversion").read_text().strip()
    launch = provide(here, cache, version)
    kept = cache / "checkouts" / here.relative_to("/")
    launch.save(kept)
    launch.run(kept, arguments)
    return 0


def provide(here: Path, cache: Path, version: str) -> Launch:
    """The pinned Bazel; made when there is none yet."""
    with locked(cache):
        arch = debian.architecture()
        copy = private_bazel.folder(cache, version, arch)
        if private_bazel.faults(copy, version):
            private_bazel.build(copy, version, arch)
        return private_bazel.launch(copy, here)


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """Hold the set-up lock of `cache`; says so when it has to wait."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "setup.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another bazelw that is setting up Bazel in the same cache folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
