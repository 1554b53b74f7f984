"""A read-only view of the files of a workspace, wherever their bytes come from.

Whatever inspects a workspace takes a Tree. So the same code runs over a checkout, over the exact
inputs of a build action, over an older revision, and over any of them with a seeded defect on top.
Paths are relative to the workspace root and written with `/`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from hardgate.documents.safe_path import inside_workspace

_SKIPPED_FOLDERS = frozenset({".git", "__pycache__"})
_SKIPPED_PREFIX = "bazel-"


class MissingFile(KeyError):
    """A path that a tree does not hold; `path` is that path."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"no file {self.path} in the workspace"


class DefectError(Exception):
    """A defect that cannot be put in place, for example because the text it edits is not there."""


class Tree(Protocol):
    """The files of a workspace."""

    def paths(self) -> tuple[str, ...]:
        """Every file, sorted."""

    def read(self, path: str) -> bytes:
        """The bytes of one file; raises MissingFile."""

    def exists(self, path: str) -> bool:
        """Whether `path` is a file, or a folder that holds one."""

    def glob(self, pattern: str) -> tuple[str, ...]:
        """The files that match, sorted: `*` and `?` stay inside one part, `**` spans parts."""


class Listing:
    """What a tree answers from the set of its paths."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(sorted(paths))
        self.files = frozenset(self.paths)
        self.folders = frozenset(folder for path in self.paths for folder in _folders_of(path))

    def exists(self, path: str) -> bool:
        return path in self.files or path in self.folders

    def glob(self, pattern: str) -> tuple[str, ...]:
        matches = glob_matcher(pattern).fullmatch
        return tuple(path for path in self.paths if matches(path))


def _folders_of(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path


@lru_cache(maxsize=256)
def glob_matcher(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob, to be matched against a whole path."""
    translated = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(translated.get(part) or re.escape(part) for part in parts), re.S)


class ManifestTree:
    """Exactly the files of a mapping from workspace path to the real path that holds the bytes."""

    def __init__(self, real_paths: Mapping[str, str]) -> None:
        self._real_paths = dict(real_paths)
        self._listing = Listing(list(self._real_paths))

    def paths(self) -> tuple[str, ...]:
        return self._listing.paths

    def read(self, path: str) -> bytes:
        try:
            return Path(self._real_paths[path]).read_bytes()
        except (KeyError, FileNotFoundError):
            raise MissingFile(path) from None

    def exists(self, path: str) -> bool:
        return self._listing.exists(path)

    def glob(self, pattern: str) -> tuple[str, ...]:
        return self._listing.glob(pattern)


class DirectoryTree(ManifestTree):
    """The files under some folders of a directory, as they were when the tree was made."""

    def __init__(
        self, root: str | Path, folders: Sequence[str] = ("",), *, outside_links: bool = False
    ) -> None:
        """`folders` are relative to `root` and may also name single files; "" means all of it.

        Skips `.git`, `__pycache__`, `bazel-*` and, unless `outside_links` is given, every link
        that leads out of `root`. A runfiles directory is made of such links, so a test that looks
        at the project's own files passes `outside_links=True`.
        """
        base = Path(root).resolve()
        found: dict[str, str] = {}
        for folder in folders:
            start = base / folder
            inside = None if outside_links else base
            for file in [start] if start.is_file() else _files_under(start, inside):
                if outside_links or _stays_inside(file, base):
                    found[file.relative_to(base).as_posix()] = str(file)
        super().__init__(found)


def _files_under(start: Path, inside: Path | None) -> Iterator[Path]:
    """The files below a folder; linked folders are entered once, so that no loop arises.

    With `inside`, a linked folder that lies elsewhere is not entered: it may be of any size.
    """
    entered: set[str] = set()
    for folder, names, files in os.walk(start, followlinks=True):
        real = os.path.realpath(folder)
        if real in entered or (inside and not f"{real}{os.sep}".startswith(f"{inside}{os.sep}")):
            names.clear()
            continue
        entered.add(real)
        names[:] = sorted(name for name in names if not _skipped(name))
        yield from (Path(folder, name) for name in files if Path(folder, name).is_file())


def _skipped(name: str) -> bool:
    return name in _SKIPPED_FOLDERS or name.startswith(_SKIPPED_PREFIX)


def _stays_inside(file: Path, base: Path) -> bool:
    real = os.path.realpath(file)
    return real.startswith(f"{base}{os.sep}")


class OverlayTree:
    """A tree with changes on top; the tree below stays as it is.

    It remembers whether a change was noticed: `touched_and_read` is true once an edited or added
    file was read, or once a question was asked whose answer an added or removed file decides.
    """

    def __init__(self, base: Tree) -> None:
        self._base = base
        self._changed: dict[str, bytes] = {}
        self._removed: set[str] = set()
        self._listing = Listing(base.paths())
        self.touched_and_read = False

    def write(self, path: str, content: str | bytes) -> None:
        """Adds a file, or replaces all of it. Raises UnsafePath."""
        inside_workspace(path)
        self._changed[path] = content.encode() if isinstance(content, str) else content
        self._removed.discard(path)
        self._list_again()

    def edit(self, path: str, old: str, new: str) -> None:
        """Replaces one text of a file by another one.

        Raises DefectError when the file is missing, when `old` is not in it exactly once, and when
        `new` is the same text.
        """
        try:
            text = self._content(path).decode()
        except (MissingFile, UnicodeDecodeError) as error:
            raise DefectError(f"cannot edit {path}: {error}") from None
        occurrences = text.count(old) if old else 0
        if occurrences != 1:
            raise DefectError(f"cannot edit {path}: {old!r} occurs {occurrences} times, not once")
        if old == new:
            raise DefectError(f"cannot edit {path}: the new text is the old one")
        self.write(path, text.replace(old, new))

    def remove(self, path: str) -> None:
        """Takes a file away. Raises DefectError when there is none."""
        if path not in self._listing.files:
            raise DefectError(f"cannot remove {path}: there is no such file")
        self._changed.pop(path, None)
        self._removed.add(path)
        self._list_again()

    def lay_over(self, folder: str) -> None:
        """Copies every file below `folder` of this tree over the workspace root.

        Raises DefectError when the folder holds no file.
        """
        prefix = f"{folder}/"
        inside = [path for path in self._listing.paths if path.startswith(prefix)]
        if not inside:
            raise DefectError(f"cannot lay over {folder}: it holds no file")
        for path in inside:
            self.write(path[len(prefix) :], self._content(path))

    def paths(self) -> tuple[str, ...]:
        self._notice_listing(lambda path: True)
        return self._listing.paths

    def read(self, path: str) -> bytes:
        if path in self._changed or path in self._removed:
            self.touched_and_read = True
        return self._content(path)

    def exists(self, path: str) -> bool:
        prefix = f"{path}/"
        self._notice_listing(lambda changed: changed == path or changed.startswith(prefix))
        return self._listing.exists(path)

    def glob(self, pattern: str) -> tuple[str, ...]:
        matcher = glob_matcher(pattern)
        self._notice_listing(lambda path: matcher.fullmatch(path) is not None)
        return self._listing.glob(pattern)

    def _content(self, path: str) -> bytes:
        if path in self._removed:
            raise MissingFile(path)
        if path in self._changed:
            return self._changed[path]
        return self._base.read(path)

    def _list_again(self) -> None:
        kept = (set(self._base.paths()) - self._removed) | set(self._changed)
        self._listing = Listing(sorted(kept))

    def _notice_listing(self, concerns: Callable[[str], bool]) -> None:
        """Notes that the answer to a question about names depends on an added or removed file."""
        if self.touched_and_read:
            return
        added = (path for path in self._changed if not self._base.exists(path))
        self.touched_and_read = any(map(concerns, (*added, *self._removed)))
