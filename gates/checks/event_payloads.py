"""Old payloads in today's shape, for every type and every version that ever was."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agent_core.bootstrap import PINNED_START
from agent_core.domain.errors import InvalidEvent, UnknownPayloadVersion
from agent_core.domain.event_catalogue import Member, check_event
from agent_core.domain.events import ActorType, Event, EventType
from agent_core.domain.upcasting import HISTORY, current_version, decoded
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

RECORDED: tuple[tuple[EventType, int, dict[str, Any]], ...] = (
    (
        EventType.RUN_CHECKPOINTED,
        1,
        {"version": 1, "trigger": "model_response", "step_number": 1},
    ),
    (EventType.RUN_CHECKPOINTED, 1, {"version": 2, "trigger": "tool_outcome", "step_number": 1}),
)
"""Payloads as the runtime wrote them while the version was its present one, copied from its log."""

_VALUES: dict[type, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20),
    int: st.integers(0, 2**53),
    float: st.floats(0, 1e6),
    bool: st.booleans(),
    list: st.lists(st.text(max_size=5), max_size=3),
    dict: st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
}


def check(context: PropertyContext) -> None:
    past = [
        (name, number + 1) for name, versions in HISTORY.items() for number in range(len(versions))
    ]
    recorded = {(name, version) for name, version, _ in RECORDED}

    def decodes(payload: tuple[EventType, int, dict[str, Any]]) -> None:
        name, version, members = payload
        require(
            (name, version) in recorded,
            "version_unrecorded",
            f"no payload of {name} version {version} is on record",
        )
        before = dict(members)
        _require_current(_event(name, version, members))
        require(members == before, "payload_changed", f"decoding changed {before} in place")

    def raises(name: EventType, ahead: int, payload: dict[str, str]) -> None:
        version = current_version(name) + ahead
        try:
            found = decoded(_event(name, version, payload))
        except UnknownPayloadVersion:
            return
        require(False, "newer_decoded", f"{name} version {version} was read as {found.payload}")

    def stays(name: EventType, payload: dict[str, str]) -> None:
        event = _event(name, current_version(name), payload)
        require(decoded(event) == event, "present_changed", f"{event.payload} was changed")

    names = st.sampled_from(list(EventType))
    texts = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
    context.for_all(
        decodes,
        examples=[{"payload": one} for one in RECORDED],
        payload=st.sampled_from(past).flatmap(_payload),
    )
    context.for_all(raises, name=names, ahead=st.integers(1, 1000), payload=texts)
    context.for_all(stays, name=names, payload=texts)


def _require_current(event: Event) -> None:
    try:
        found = decoded(event)
    except UnknownPayloadVersion as error:
        require(False, "version_refused", str(error))
        return
    current = current_version(event.event_type)
    require(
        found.payload_schema_version == current,
        "version_stale",
        f"read as version {found.payload_schema_version}, not {current}",
    )
    try:
        check_event(found.event_type, found.payload)
    except InvalidEvent as error:
        require(False, "shape_stale", f"{event.payload} was read as {found.payload}: {error}")
    kept = {name: found.payload.get(name) for name in event.payload}
    require(kept == event.payload, "value_lost", f"{event.payload} was read as {found.payload}")


def _payload(past: tuple[EventType, int]) -> st.SearchStrategy[tuple[EventType, int, Any]]:
    name, version = past
    members = HISTORY[name][version - 1].members
    needed = {key: _value(one) for key, one in members.items() if not one.is_optional}
    optional = {key: _value(one) for key, one in members.items() if one.is_optional}
    made = st.fixed_dictionaries(needed, optional=optional)
    return st.tuples(st.just(name), st.just(version), made)


def _value(member: Member) -> st.SearchStrategy[Any]:
    return st.one_of([_VALUES[one] for one in member.types])


def _event(name: EventType, version: int, payload: dict[str, Any]) -> Event:
    return Event(
        id="event",
        session_id="session",
        run_id="run",
        sequence=1,
        event_type=name,
        payload_schema_version=version,
        actor_type=ActorType.RUNTIME,
        actor_id="agent_core",
        payload=dict(payload),
        created_at=PINNED_START,
    )
