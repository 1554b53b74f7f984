"""Clocks: the system's, and one that stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta

from agent_core.ports.determinism import Clock


class SystemClock(Clock):
    """The system's clock. `sleep` and `timeout` need the event loop of `asyncio`."""

    def __init__(self) -> None:
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        # The system's time can be set back while a run lasts; the log's may not go back.
        self._latest = max(self._latest, datetime.now(UTC))
        return self._latest

    async def sleep(self, seconds: float) -> None:
        import asyncio  # dear to import, and a pinned composition never comes here

        await asyncio.sleep(_checked(seconds))

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        import asyncio

        return asyncio.timeout(_checked(seconds))


class PinnedClock(Clock):
    """A clock that moves only when `advance` is called.

    A sleep returns at once, is kept in `sleeps` (seconds) and does not move the clock, so that
    the order of what happens never depends on how long something takes.
    """

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock starts at an aware instant")
        self._now = start.astimezone(UTC)
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward. `ValueError` for a negative or infinite duration."""
        self._now += timedelta(seconds=_checked(seconds))

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(_checked(seconds))

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[object]:
        limit = self._now + timedelta(seconds=_checked(seconds))
        yield None
        if self._now > limit:
            raise TimeoutError


def _checked(seconds: float) -> float:
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"a duration is finite and not negative: {seconds}")
    return seconds
