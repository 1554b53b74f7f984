"""A clock that moves with the steps of a run, as a case asks for it (`clock.advance_on_step`)."""

from __future__ import annotations

from typing import Protocol

from agent_core.domain.events import Event, EventType


class MovableClock(Protocol):
    """A clock that stands still until it is told to move."""

    def advance(self, seconds: float) -> None: ...


class ClockSteps:
    """Listens to the log and moves the clock at each step of a run but its first.

    It moves when the first request of the step goes out: on record is still the old time, and the
    model and the step's tools work in the new one.
    """

    def __init__(self, clock: MovableClock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds

    def __call__(self, event: Event) -> None:
        if event.event_type is not EventType.MODEL_REQUEST_STARTED:
            return
        if event.payload["step_number"] != 1 and event.payload["attempt_number"] == 1:
            self._clock.advance(self._seconds)
