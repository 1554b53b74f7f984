"""Reads the files that Bazel's event stream names: a test's verdict, and the end of a log."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

VERDICT_FILE = "verdict.json"
VERDICT_BYTES_MAX = 16 * 1024 * 1024
TAIL_BYTES = 8 * 1024
TAIL_LINES = 12
# With --nozip_undeclared_test_outputs a folder, otherwise the archive that Bazel makes of it.
_FOLDER, _ARCHIVE = "test.outputs", "test.outputs__outputs.zip"
_DAMAGED = (ValueError, RuntimeError, EOFError, zlib.error, zipfile.BadZipFile)


def read_verdict(addresses: Mapping[str, str]) -> tuple[str | None, str]:
    """(text of verdict.json, why there is none) of a test's outputs, given their URIs by name."""
    for name, read in ((_FOLDER, _from_folder), (_ARCHIVE, _from_archive)):
        if name in addresses:
            path = _local(addresses[name])
            if path is None:
                return None, f"{name} is not on this machine"
            try:
                return read(path), ""
            except (OSError, KeyError):
                return None, f"{name} holds no readable {VERDICT_FILE}"
            except _DAMAGED as error:
                return None, f"{name}: {error}"
    return None, "the test wrote no outputs"


def read_tail(address: str) -> str:
    """The last lines of a file given by its URI; empty where it can't be read."""
    path = _local(address)
    if path is None:
        return ""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-TAIL_LINES:])


def _local(address: str) -> Path | None:
    """The path of a file:// URI; None for any other, such as one of a remote cache."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _from_folder(folder: Path) -> str:
    path = folder / VERDICT_FILE
    _refuse_large(path.stat().st_size)
    return path.read_text("utf-8")


def _from_archive(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        _refuse_large(archive.getinfo(VERDICT_FILE).file_size)
        return archive.read(VERDICT_FILE).decode("utf-8")


def _refuse_large(size: int) -> None:
    if size > VERDICT_BYTES_MAX:
        raise ValueError(f"{VERDICT_FILE} has {size} bytes; allowed: {VERDICT_BYTES_MAX}")
