"""Writes several files together: all of them, or, when one cannot be written, none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hardgate.cli.exits import UsageError
from hardgate.documents.safe_path import inside_workspace


def write_all(root: Path, files: Mapping[str, str], *, new: bool = False) -> None:
    """Writes texts by path relative to `root`; with `new`, none of them may exist.

    A new file that begins with `#!` is executable, for whoever may read it.
    Raises UsageError for a file that is there already or a path that a link leads out of `root`,
    and OSError; nothing is changed then.
    """
    targets = {root / inside_workspace(path): text for path, text in files.items()}
    _check(root, targets, new)
    before = {path: path.read_bytes() if path.exists() else None for path in targets}
    folders = _missing_folders(targets)
    done: list[Path] = []
    try:
        for path, text in targets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            done.append(path)
            _write(path, text.encode("utf-8"))
    except BaseException:
        for path in done:
            _put_back(path, before[path])
        for folder in folders:
            if folder.exists():
                folder.rmdir()
        raise


def _check(root: Path, targets: Mapping[Path, str], new: bool) -> None:
    real = Path(os.path.realpath(root))
    for path in targets:
        if new and os.path.lexists(path):
            message = f"found {path.relative_to(root).as_posix()}, which is not overwritten"
            raise UsageError(f"{message}; allowed: another name")
        if not Path(os.path.realpath(path)).is_relative_to(real):
            message = f"found {path.relative_to(root).as_posix()}, which leads out of {root}"
            raise UsageError(f"{message}; allowed: a file in the workspace")


def _missing_folders(targets: Mapping[Path, str]) -> list[Path]:
    """The folders that will be made, the deepest first."""
    missing = {parent for path in targets for parent in path.parents if not parent.exists()}
    return sorted(missing, key=lambda folder: len(folder.parts), reverse=True)


def _write(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        if path.exists():
            partial.chmod(path.stat().st_mode)
        elif data.startswith(b"#!"):
            mode = partial.stat().st_mode
            partial.chmod(mode | (mode & 0o444) >> 2)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _put_back(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        _write(path, data)
