"""The files of a run's workspace: what became of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from hardgate.cases.record import FileChanges

CHANGES_LIMIT = 1000
DEPTH_LIMIT = 100  # folders below each other


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
    """The paths of everything in a folder, relative to it; known folders may be empty.

    A folder that cannot be looked into, or lies deeper than the limit, is a path of its own, and so
    is "." where the run has put something else in the place of its workspace.
    """
    if not is_folder(folder):
        yield "."
        return
    waiting = [""]
    while waiting:
        relative = waiting.pop()
        entries = _entries(folder, relative)
        if entries is None or (not entries and relative and relative not in known_folders):
            yield relative or "."
        for entry in entries or ():
            path = f"{relative}/{entry.name}" if relative else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                yield path


def _entries(folder: str, relative: str) -> list[os.DirEntry[str]] | None:
    if relative.count("/") >= DEPTH_LIMIT:
        return None
    try:
        with os.scandir(os.path.join(folder, relative)) as entries:
            return list(entries)
    except OSError:
        return None


def is_folder(path: str) -> bool:
    """Whether a folder is there, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def remove_folder(folder: str) -> None:
    """Removes what is in the place of a workspace, however deep or closed; what resists stays."""
    with suppress(OSError):
        if not is_folder(folder):
            os.unlink(folder)
            return
        waiting = [folder]
        while waiting:
            os.chmod(waiting[-1], stat.S_IRWXU)
            with os.scandir(waiting[-1]) as entries:
                below = [one.path for one in entries if not _unlinked(one)]
            if below:
                waiting += below
            else:
                os.rmdir(waiting.pop())


def _unlinked(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False):
        return False
    os.unlink(entry.path)
    return True
