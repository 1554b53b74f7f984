"""The files of a run's workspace: what became of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping

from hardgate.cases.record import FileChanges

CHANGES_LIMIT = 1000


def file_changes(before: Mapping[str, bytes], folder: str) -> tuple[FileChanges, bool]:
    """How a folder differs from the files that it held before, and whether the list was cut.

    Links are compared and never followed. A new folder without files counts as a file, and so does
    one that cannot be looked into.
    """
    folders_before = {parent for path in before for parent in _parents(path)}
    after = set(_paths_below(folder, folders_before))
    created = sorted(after - set(before))
    removed = sorted(set(before) - after)
    changed = sorted(
        path for path in after & set(before) if not _holds(os.path.join(folder, path), before[path])
    )
    lists = (created, changed, removed)
    cut = any(len(one) > CHANGES_LIMIT for one in lists)
    return FileChanges(*(tuple(one[:CHANGES_LIMIT]) for one in lists)), cut


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path


def _holds(path: str, content: bytes) -> bool:
    """Whether there is a regular file with exactly this content."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(content):
            return False
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def _paths_below(folder: str, known_folders: Collection[str]) -> Iterator[str]:
    """The paths of everything in a folder, relative to it; known folders may be empty."""
    closed: list[str] = []

    def cannot_enter(error: OSError) -> None:
        closed.append(str(error.filename))

    for parent, folders, files in os.walk(folder, onerror=cannot_enter):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(parent, name), folder)
        relative = os.path.relpath(parent, folder)
        if not files and not folders and parent != folder and relative not in known_folders:
            yield relative
    yield from (os.path.relpath(path, folder) for path in closed)
