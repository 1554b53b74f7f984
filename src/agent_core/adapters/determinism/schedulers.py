"""Batch schedulers: two that decide who goes on, and one that leaves it to the event loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from agent_core.domain.turns import give_way
from agent_core.ports.determinism import MAXIMUM_PARALLEL_JOBS, BatchScheduler

Result = TypeVar("Result")


class _TurnTaking(BatchScheduler, ABC):
    """One job at a time goes on, until it gives way or ends.

    For compositions in which no job waits for the outside, like those of `run_inline`; a job that
    does wait is a `RuntimeError`.
    """

    async def run(
        self, jobs: Sequence[Callable[[], Coroutine[Any, Any, Result]]]
    ) -> tuple[Result, ...]:
        waiting = deque(enumerate(jobs))
        active: deque[tuple[int, Coroutine[Any, Any, Result]]] = deque()
        results: dict[int, Result] = {}
        errors: dict[int, Exception] = {}
        try:
            while waiting or active:
                while waiting and len(active) < MAXIMUM_PARALLEL_JOBS:
                    index, job = waiting.popleft()
                    active.append((index, job()))
                active.rotate(-self._choose(len(active)))
                index, coroutine = active[0]
                try:
                    awaited = coroutine.send(None)
                except StopIteration as finished:
                    results[index] = finished.value
                    active.popleft()
                except Exception as error:
                    errors[index] = error
                    active.popleft()
                else:
                    if awaited is not None:
                        raise RuntimeError("a job waits for an event loop")
                    active.rotate(-1)
                await give_way()
        finally:
            for _, coroutine in active:
                coroutine.close()
        if errors:
            raise errors[min(errors)]
        return tuple(results[index] for index in range(len(jobs)))

    @abstractmethod
    def _choose(self, count: int) -> int:
        """Which of `count` jobs goes on: 0 is the one that has waited longest."""


class DeterministicScheduler(_TurnTaking):
    """Turns go round in the order of the jobs, so jobs alike end in that order."""

    def _choose(self, count: int) -> int:
        return 0


class RandomizedScheduler(_TurnTaking):
    """Every turn goes to any job. The same seed and the same batches give the same turns."""

    def __init__(self, seed: int) -> None:
        import random  # a third of a short process's imports, and only tests of races come here

        self.seed = seed
        self._random = random.Random(seed)

    def _choose(self, count: int) -> int:
        return self._random.randrange(count)


class ConcurrentScheduler(BatchScheduler):
    """The jobs are tasks of the running event loop of `asyncio`."""

    async def run(
        self, jobs: Sequence[Callable[[], Coroutine[Any, Any, Result]]]
    ) -> tuple[Result, ...]:
        import asyncio  # dear to import, and a pinned composition never comes here

        places = asyncio.Semaphore(MAXIMUM_PARALLEL_JOBS)

        async def in_its_place(job: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
            async with places:
                return await job()

        ended = await asyncio.gather(*map(in_its_place, jobs), return_exceptions=True)
        results: list[Result] = []
        for one in ended:
            if isinstance(one, BaseException):
                raise one
            results.append(one)
        return tuple(results)
