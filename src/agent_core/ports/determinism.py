"""Time and identifiers: the only two things that would otherwise come from nowhere."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time, and waiting on it."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC; never earlier than the one before."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` of this clock. `ValueError` for a negative or infinite duration."""
        ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        """A context whose body may take `seconds` of this clock; raises `TimeoutError` after."""
        ...


class IdFactory(Protocol):
    """Identifiers."""

    def new_id(self) -> str:
        """A new UUID of version 7 in lower case; ids of one factory sort by their creation."""
        ...
