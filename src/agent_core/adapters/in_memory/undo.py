"""Taking back the writes of a unit of work that failed."""

from __future__ import annotations

from collections.abc import Callable


class UndoLog:
    """How to reverse each write of the open unit of work, the latest last."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], object]] = []

    def record(self, step: Callable[[], object]) -> None:
        self._steps.append(step)

    def forget(self) -> None:
        self._steps.clear()

    def roll_back(self) -> None:
        while self._steps:
            self._steps.pop()()
