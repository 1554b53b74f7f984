"""Old payloads in today's shape.

A payload keeps the version it was written in. Reading takes it one version at a time to the present
one, by a function that needs nothing but the payload. `HISTORY` holds, for each past version, what
its payload had and how the next one is made of it; it only ever grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject
from agent_core.domain.errors import InvalidEvent, UnknownPayloadVersion
from agent_core.domain.event_catalogue import Member, check_event
from agent_core.domain.events import Event, EventType, NewEvent


class PastVersion(NamedTuple):
    """`members`: what the payload had. `upcast`: makes the next version's of it; pure."""

    members: Mapping[str, Member]
    upcast: Callable[[JsonObject], JsonObject]


def _with_full_checkpoints(payload: JsonObject) -> JsonObject:
    """Before there were checkpoints that hold what was added, every one was full."""
    return {**payload, "full": True}


_CHECKPOINTED_1 = {
    "version": Member((int,)),
    "trigger": Member((str,)),
    "step_number": Member((int,)),
}

HISTORY: Mapping[EventType, tuple[PastVersion, ...]] = MappingProxyType(
    {EventType.RUN_CHECKPOINTED: (PastVersion(_CHECKPOINTED_1, _with_full_checkpoints),)}
)
"""The past versions of a type, from version 1 on; a type that is not here has had one only."""


def current_version(event_type: EventType) -> int:
    """The version in which payloads of this type are written."""
    return len(HISTORY.get(event_type, ())) + 1


def decoded(event: Event) -> Event:
    """The event with its payload in today's shape and version.

    Raises `UnknownPayloadVersion` for a version that this code does not know: a newer one is not
    guessed at.
    """
    past = HISTORY.get(event.event_type, ())
    version = event.payload_schema_version
    current = len(past) + 1
    if version == current:
        return event
    if not 1 <= version < current:
        raise UnknownPayloadVersion(
            f"event {event.id}: {event.event_type} of version {version}; known: 1 to {current}"
        )
    payload = event.payload
    for one in past[version - 1 :]:
        payload = one.upcast(payload)
    return event._replace(payload=payload, payload_schema_version=current)


def check_written(event: NewEvent) -> None:
    """Raises `InvalidEvent` for an event that may not be appended: one that the catalogue does not
    have, or that is written in another version than the present one."""
    check_event(event.event_type, event.payload)
    current = current_version(event.event_type)
    if event.payload_schema_version != current:
        raise InvalidEvent(
            f"{event.event_type}: version {event.payload_schema_version} is not written, "
            f"{current} is"
        )
