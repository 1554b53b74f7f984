"""Old payloads in today's shape."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.errors import InvalidEvent, UnknownPayloadVersion
from agent_core.domain.event_catalogue import check_event
from agent_core.domain.events import ActorType, Event, EventType, NewEvent
from agent_core.domain.upcasting import HISTORY, check_written, current_version, decoded

OLD = {"version": 3, "trigger": "model_response", "step_number": 2}


def event(payload, version, event_type=EventType.RUN_CHECKPOINTED):
    return Event(
        id="event",
        session_id="session",
        run_id="run",
        sequence=7,
        event_type=event_type,
        payload_schema_version=version,
        actor_type=ActorType.RUNTIME,
        actor_id="agent_core",
        payload=payload,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def unsequenced(one):
    return NewEvent(**{name: getattr(one, name) for name in NewEvent._fields})


def test_a_checkpoint_of_before_is_a_full_one():
    read = decoded(event(OLD, 1))
    assert read.payload == {**OLD, "full": True}
    assert read.payload_schema_version == 2
    check_event(read.event_type, read.payload)
    assert "full" not in OLD


def test_an_event_of_today_is_read_as_it_is():
    written = event({**OLD, "full": False}, 2)
    assert decoded(written) is written


@pytest.mark.parametrize("event_type", EventType)
def test_a_version_from_the_future_is_not_guessed_at(event_type):
    for version in (0, -1, current_version(event_type) + 1):
        with pytest.raises(UnknownPayloadVersion, match=f"of version {version}; known: 1 to"):
            decoded(event({}, version, event_type))


@pytest.mark.parametrize("event_type", HISTORY)
def test_every_past_version_is_another_shape(event_type):
    shapes = [set(one.members) for one in HISTORY[event_type]]
    assert len(shapes) == len({frozenset(one) for one in shapes})


@pytest.mark.parametrize(("payload", "version"), [(OLD, 1), (OLD, 2), ({**OLD, "full": True}, 3)])
def test_only_the_present_version_is_written(payload, version):
    with pytest.raises(InvalidEvent):
        check_written(unsequenced(event(payload, version)))
    check_written(unsequenced(event({**OLD, "full": True}, 2)))
