"""Taking turns: the points at which work that waits for nobody lets other work go on."""

from __future__ import annotations

from collections.abc import Generator
from types import coroutine


@coroutine
def give_way() -> Generator[None, None, None]:
    """Let others that work at the same time go on, as `asyncio.sleep(0)` does.

    Whoever drives the coroutine (an event loop, a batch scheduler, `run_inline`) sees a bare
    yield and decides who goes on next.
    """
    yield
