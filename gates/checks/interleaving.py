"""Coroutines at the same time in one thread: at each point where one gives way, anyone goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from itertools import chain, count
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a coroutine ended: with a result, or with an error."""

    result: Any = None
    error: Exception | None = None


def interleaved(
    coroutines: Sequence[Coroutine[Any, Any, Any]],
    schedule: Sequence[int],
    between: Callable[[int], None] | None = None,
) -> list[Ended]:
    """Run all to their ends. Each number of the schedule says who goes on next, counted among those
    that have not ended; after it they take turns. `between` is told of each turn's number first."""
    active = dict(enumerate(coroutines))
    ended: dict[int, Ended] = {}
    for turn, choice in enumerate(chain(schedule, count())):
        if not active:
            break
        if between is not None:
            between(turn)
        index = sorted(active)[choice % len(active)]
        try:
            if active[index].send(None) is not None:
                raise RuntimeError("a coroutine waits for an event loop")
            continue
        except StopIteration as finished:
            ended[index] = Ended(finished.value)
        except Exception as error:  # the caller judges it
            ended[index] = Ended(error=error)
        del active[index]
    return [ended[index] for index in range(len(coroutines))]
