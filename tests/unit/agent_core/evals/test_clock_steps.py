"""A clock that moves with the steps of a run."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.events import ActorType, Event, EventType
from agent_core.evals.clock_steps import ClockSteps


class Moves:
    def __init__(self):
        self.seconds = []

    def advance(self, seconds):
        self.seconds.append(seconds)


def event(event_type, **payload):
    return Event(
        id="e",
        session_id="s",
        run_id="r",
        sequence=1,
        event_type=EventType(event_type),
        payload_schema_version=1,
        actor_type=ActorType.RUNTIME,
        actor_id="a",
        payload=payload,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("event_type", "step", "attempt", "moves"),
    [
        ("model.request.started", 1, 1, []),
        ("model.request.started", 2, 1, [2.5]),
        ("model.request.started", 2, 2, []),
        ("model.request.started", 9, 1, [2.5]),
        ("model.response.completed", 2, 1, []),
        ("run.checkpointed", 2, 1, []),
    ],
)
def test_it_moves_with_the_first_request_of_each_step_but_the_first(
    event_type, step, attempt, moves
):
    clock = Moves()
    ClockSteps(clock, 2.5)(event(event_type, step_number=step, attempt_number=attempt))
    assert clock.seconds == moves
