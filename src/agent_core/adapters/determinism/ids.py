"""Id factories. Both make UUIDs of version 7: 48 bits of time, then bits without meaning."""

from __future__ import annotations

import hashlib
import os
import time

from agent_core.ports.determinism import IdFactory

_RANDOM_BITS = 74
_PINNED_MILLISECONDS = 1_767_225_600_000
"""2026-01-01T00:00:00Z, where the ids of every pinned factory begin."""


class SystemIdFactory(IdFactory):
    """Ids from the system's time and randomness."""

    def __init__(self) -> None:
        self._latest = (0, 0)

    def new_id(self) -> str:
        milliseconds = time.time_ns() // 1_000_000
        bits = int.from_bytes(os.urandom(10), "big") >> (80 - _RANDOM_BITS)
        if milliseconds <= self._latest[0]:
            # Within a millisecond, and when the time is set back, go on from the last id.
            milliseconds, bits = self._latest[0], self._latest[1] + 1
            if bits >> _RANDOM_BITS:
                milliseconds, bits = milliseconds + 1, 0
        self._latest = (milliseconds, bits)
        return _uuid7(milliseconds, bits)


class PinnedIdFactory(IdFactory):
    """The same ids in the same order for the same seed; different ids for different seeds.

    `first` is the number of the first id: ids with higher numbers sort later, whatever their seed.
    """

    def __init__(self, seed: str, first: int = 0) -> None:
        self._seed = seed
        self._count = first

    def new_id(self) -> str:
        digest = hashlib.sha256(f"{self._seed}\0{self._count}".encode()).digest()
        bits = int.from_bytes(digest[:10], "big") >> (80 - _RANDOM_BITS)
        milliseconds = _PINNED_MILLISECONDS + self._count
        self._count += 1
        return _uuid7(milliseconds, bits)


def _uuid7(milliseconds: int, bits: int) -> str:
    """RFC 9562: 48 bits of time, version 7, 12 bits, variant 2, 62 bits."""
    upper, lower = bits >> 62, bits & ((1 << 62) - 1)
    value = milliseconds << 80 | 0x7 << 76 | upper << 64 | 0b10 << 62 | lower
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
