"""Time, identifiers, and the order of work done at the same time: what would otherwise be left to
the machine that a run happens to be on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")

MAXIMUM_PARALLEL_JOBS = 8
"""How many jobs of one batch may be under way at once."""


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


class BatchScheduler(Protocol):
    """In which order the jobs of a batch get on."""

    async def run(
        self, jobs: Sequence[Callable[[], Coroutine[Any, Any, Result]]]
    ) -> tuple[Result, ...]:
        """Do all `jobs`, at most `MAXIMUM_PARALLEL_JOBS` at once; the results in their order.

        A job that fails ends no other: its error is raised when all have ended, and of several
        the first in the order of `jobs`.
        """
        ...
