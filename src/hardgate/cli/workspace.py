"""Which workspace a command is about, and the files of it that commands read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hardgate.cli.exits import RefusedError, UsageError
from hardgate.documents.tree import DirectoryTree

# Any one of these makes a folder a workspace. A folder that is only called gates or evals does not:
# tests and documents of such names are common.
MARKERS = ("gates/MILESTONE", "evals/cases", "MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE")
BAZEL_MARKERS = ("MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE")
FOLDERS = ("docs", "evals", "gates")


class Workspace(NamedTuple):
    """`root` is its top folder, `here` where the person is who called the command."""

    root: Path
    here: Path

    def entered(self) -> contextlib.AbstractContextManager[None]:
        """The root as working directory: a subject finds its files there, as a test target does."""
        return contextlib.chdir(self.root)

    def tree(self) -> DirectoryTree:
        """The documents, cases, fixtures and gates, as they are now; sources are left out."""
        pages = sorted(path.name for path in self.root.glob("*.md"))
        return DirectoryTree(self.root, (*FOLDERS, *pages))

    def relative(self, word: str) -> str:
        """A path as a person wrote it, relative to the root. Raises UsageError outside of it."""
        path = Path(os.path.normpath(self.here / word))
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            message = f"found {word}, which is outside of the workspace {self.root}"
            raise UsageError(message) from None


def find_workspace(named: str | None, environ: Mapping[str, str] | None = None) -> Workspace:
    """The named folder, or the nearest one with a marker from the caller's folder upwards.

    `bazel run` starts programs elsewhere and tells in two variables where the caller was. Raises
    UsageError for a named folder that is no workspace, RefusedError where there is none around.
    """
    environ = os.environ if environ is None else environ
    here = Path(os.path.abspath(environ.get("BUILD_WORKING_DIRECTORY") or os.getcwd()))
    if named is not None:
        root = Path(os.path.normpath(here / named))
        if not is_workspace(root):
            message = f"--workspace: found {named}; allowed: a folder with {_markers()}"
            raise UsageError(message)
        return Workspace(root, here)
    outermost = environ.get("BUILD_WORKSPACE_DIRECTORY")
    for folder in (here, *here.parents, *([Path(outermost)] if outermost else [])):
        if is_workspace(folder):
            return Workspace(folder, here)
    message = f"found no workspace from {here} upwards; allowed: a folder with {_markers()}"
    raise RefusedError(message)


def is_workspace(folder: Path) -> bool:
    """Whether a folder has a marker."""
    return any((folder / marker).exists() for marker in MARKERS)


def bazel_root(root: Path) -> Path | None:
    """The Bazel workspace that holds a workspace of gates; None where there is no Bazel."""
    for folder in (root, *root.parents):
        if any((folder / marker).is_file() for marker in BAZEL_MARKERS):
            return folder
    return None


def _markers() -> str:
    return f"{', '.join(MARKERS[:-1])} or {MARKERS[-1]}"
