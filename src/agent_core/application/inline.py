"""Running coroutines to their end without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_inline(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run `coroutine` at once and return its result.

    For compositions in which nothing waits for the outside: records in memory, a pinned clock, a
    scripted model. They need no event loop, and importing asyncio would cost a short process a
    third of its start-up. Where the coroutine gives way to others (`agent_core.domain.turns`) it
    goes on at once, because there are none. Raises `RuntimeError` if the coroutine does wait; run
    it under `asyncio.run` then.
    """
    try:
        while coroutine.send(None) is None:
            pass
    except StopIteration as finished:
        result: Result = finished.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine waits for an event loop; run it under asyncio.run")
