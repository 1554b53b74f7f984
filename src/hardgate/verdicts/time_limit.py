"""A limit on the wall-clock time of a block of code."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class TimeLimitReached(BaseException):
    """A block ran longer than it may. No `except Exception` inside it can swallow this."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimitReached in the main thread when the block takes longer (wall clock).

    Limits may be nested: an outer one goes on counting while an inner one is in force.
    """

    def expire(number: int, frame: FrameType | None) -> NoReturn:
        raise TimeLimitReached(f"longer than {seconds:g} seconds")

    start = time.monotonic()
    before = signal.signal(signal.SIGALRM, expire)
    outer_left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer_left:
            # An outer limit that has passed meanwhile is due at once; 0 would switch it off.
            left = outer_left - (time.monotonic() - start)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
