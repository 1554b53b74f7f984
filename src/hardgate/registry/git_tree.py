"""The files of an older revision, asked of git, as a Tree."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from hardgate.documents.tree import Listing, MissingFile

_TIMEOUT_SECONDS = 30
_REGULAR_FILES = ("100644", "100755")


class GitError(Exception):
    """A git command that could not run or failed; the text is what git said."""


def git(root: str | Path, *arguments: str) -> bytes:
    """What a git command prints when it runs in `root`.

    Settings that a calling git hook leaves in the environment are not passed on. Raises GitError.
    """
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            env=environment,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took over {_TIMEOUT_SECONDS} seconds") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        raise GitError(f"git {arguments[0]}: {' '.join(said.split())}")
    return done.stdout


class GitTree:
    """The regular files under `folders` of one revision; paths are relative to `root`.

    Needs no checkout of that revision. Listing and reading raise GitError when git fails.
    """

    def __init__(self, root: str | Path, revision: str, folders: Sequence[str]) -> None:
        self._root = root
        self._revision = revision
        self._folders = tuple(folders)

    @cached_property
    def _objects(self) -> dict[str, str]:
        """The name of each file's content by path."""
        arguments = ("ls-tree", "-r", "-z", self._revision, "--", *self._folders)
        listed = git(self._root, *arguments).decode("utf-8", "surrogateescape")
        objects = {}
        for row in listed.split("\0"):
            about, _, path = row.partition("\t")
            if about.startswith(_REGULAR_FILES):
                objects[path] = about.split(" ")[2]
        return objects

    @cached_property
    def _listing(self) -> Listing:
        return Listing(list(self._objects))

    def paths(self) -> tuple[str, ...]:
        return self._listing.paths

    def read(self, path: str) -> bytes:
        if path not in self._objects:
            raise MissingFile(path)
        return git(self._root, "cat-file", "blob", self._objects[path])

    def exists(self, path: str) -> bool:
        return self._listing.exists(path)

    def glob(self, pattern: str) -> tuple[str, ...]:
        return self._listing.glob(pattern)
