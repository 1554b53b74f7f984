"""What every event log promises."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.repositories import InMemoryEventRepository
from agent_core.adapters.sql.event_log import SqlEventRepository
from agent_core.domain.errors import AlreadyExists, InvalidEvent
from agent_core.domain.events import ActorType, Event, EventType, NewEvent
from tests.contract.stores import over

IMPLEMENTATIONS = [InMemoryEventRepository, SqlEventRepository]

EVENT = NewEvent(
    id="event",
    session_id="session",
    run_id=None,
    event_type=EventType.SESSION_CREATED,
    payload_schema_version=1,
    actor_type=ActorType.RUNTIME,
    actor_id="agent_core",
    payload={"tool_names": ["é", [1, {"deep": None}], 0.5]},
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def log(request, databases):
    with databases.opened(request.param) as store:
        yield store.repository("events")


def append(log, *events):
    async def all_of_them():
        return [await log.append(event) for event in events]

    return asyncio.run(all_of_them())


def read(log, session_id="session", **options):
    return asyncio.run(log.list_for_session(session_id, **options))


def numbered(*ids, session_id="session"):
    return [EVENT._replace(id=name, session_id=session_id) for name in ids]


def test_an_event_is_read_as_it_was_appended(log):
    other = EVENT._replace(id="other", run_id="run", event_type=EventType.RUN_QUEUED, payload={})
    appended = append(log, EVENT, other)
    assert appended == [
        Event(**EVENT._asdict(), sequence=1),
        Event(**other._asdict(), sequence=2),
    ]
    assert list(read(log)) == appended


def test_each_session_counts_from_one_and_is_read_in_order(log):
    append(log, *numbered("a", "b"), *numbered("x", session_id="other"), *numbered("c"))
    assert [(e.id, e.sequence) for e in read(log)] == [("a", 1), ("b", 2), ("c", 3)]
    assert [(e.id, e.sequence) for e in read(log, "other")] == [("x", 1)]
    assert read(log, "unknown") == ()


def test_reading_can_start_after_a_sequence(log):
    append(log, *numbered("a", "b", "c"))
    assert [e.id for e in read(log, after=0)] == ["a", "b", "c"]
    assert [e.id for e in read(log, after=1)] == ["b", "c"]
    assert read(log, after=3) == ()


def test_an_id_is_used_once(log):
    append(log, *numbered("a"))
    for session_id in ("session", "other"):
        with pytest.raises(AlreadyExists):
            append(log, *numbered("a", session_id=session_id))
    assert [e.id for e in read(log)] == ["a"]
    assert read(log, "other") == ()


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), b"bytes", object()])
def test_a_payload_is_json(log, value):
    with pytest.raises(ValueError):
        append(log, EVENT._replace(payload={"tool_names": [value]}))
    assert read(log) == ()


@pytest.mark.parametrize(
    "change",
    [
        {"event_type": "session.renamed"},
        {"event_type": "tool.proposed", "payload": {}},
        {"payload": {}},
        {"payload": {"tool_names": [], "arguments": {}}},
        {"payload": {"tool_names": "all"}},
        {"event_type": EventType.RUN_QUEUED},
    ],
)
def test_what_the_catalogue_does_not_have_is_not_appended(log, change):
    with pytest.raises(InvalidEvent):
        append(log, EVENT._replace(**change))
    assert read(log) == ()
    assert [event.sequence for event in append(log, EVENT)] == [1]


def test_nobody_can_change_what_was_appended(log):
    payload = {"tool_names": [1]}
    (returned,) = append(log, EVENT._replace(payload=payload))
    payload["tool_names"].append(2)
    returned.payload["tool_names"].append(3)
    read(log)[0].payload["tool_names"].append(4)
    assert read(log)[0].payload == {"tool_names": [1]}
