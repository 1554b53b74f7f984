"""Where the entries of a scripted MCP server are kept: in memory, or in a file of many writers.

A server that the agent starts may be started again, twice at once, and killed at any moment. So its
file is what it knows: each message is handled while the file is locked, on the counts of all that
was written before, and is written down before it is answered.
"""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from hardgate.wire.mcp.entries import Counts, Entry, entry_from_data

# Entries hold the messages at most twice, and those are limited. An agent may write more to the file.
MOST_FILE_BYTES = 128 * 1024 * 1024
_READ_BYTES = 1024 * 1024


class Ledger(Protocol):
    """Entries, and what they add up to."""

    @property
    def counts(self) -> Counts:
        """What the entries add up to; while held, those of everybody."""
        ...

    def held(self) -> AbstractContextManager[object]:
        """A context in which nobody else adds an entry."""
        ...

    def add(self, entry: Entry) -> None:
        """Add the next entry, while held."""
        ...


class MemoryLedger:
    """The entries of a server in this process. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entries: list[Entry] = []
        self.counts = Counts()

    def held(self) -> AbstractContextManager[object]:
        return self._lock

    def add(self, entry: Entry) -> None:
        with self._lock:
            self._entries.append(entry)
            self.counts.add(entry)

    @property
    def entries(self) -> tuple[Entry, ...]:
        with self._lock:
            return tuple(self._entries)


class FileLedger:
    """The entries in a file, one line of JSON each. Raises OSError.

    `broken` tells how many lines are none: a writer that was killed leaves half of one.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._read = 0
        self._torn = b""
        self.counts = Counts()
        self.broken = 0

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    @contextmanager
    def held(self) -> Iterator[None]:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            self.new_entries()
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def add(self, entry: Entry) -> None:
        line = json.dumps(entry.to_data(), ensure_ascii=False).encode() + b"\n"
        if self._torn:
            line = b"\n" + line
        while line:
            line = line[os.write(self._descriptor, line) :]
        self.new_entries()

    @property
    def cut(self) -> bool:
        """Whether the last line is not whole, or the file is too long to be read to its end."""
        return bool(self._torn) or self._read >= MOST_FILE_BYTES

    def new_entries(self) -> list[Entry]:
        """The entries that were added since the last time."""
        data = bytearray(self._torn)
        while part := os.pread(
            self._descriptor, min(_READ_BYTES, MOST_FILE_BYTES - self._read), self._read
        ):
            data += part
            self._read += len(part)
        *lines, self._torn = bytes(data).split(b"\n")
        entries: list[Entry] = []
        for line in lines:
            try:
                entry = entry_from_data(json.loads(line))
            except (ValueError, TypeError, KeyError, RecursionError):
                self.broken += 1
                continue
            entries.append(entry)
            self.counts.add(entry)
        return entries


def read_entries(path: str) -> tuple[tuple[Entry, ...], int]:
    """The entries in a file, none if there is no file, and how many lines of it are broken."""
    if not os.path.exists(path):
        return (), 0
    ledger = FileLedger(path)
    try:
        entries = tuple(ledger.new_entries())
        return entries, ledger.broken + ledger.cut
    finally:
        ledger.close()
