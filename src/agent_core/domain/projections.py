"""Projections: what can be read off a session's log, kept so that nobody has to read it whole.

A projection is a pure fold over events, so its state can be thrown away and rebuilt at any time.
Its state holds JSON values only, and nothing from outside: no arguments, results or texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, cast

from agent_core.domain.canonical import JsonObject
from agent_core.domain.events import Event, EventType


class Projection(NamedTuple):
    """`apply` gives the state after an event, and leaves the state it is given as it is.

    `builder_version` is raised with every change of `apply`: what an earlier version has built is
    thrown away.
    """

    name: str
    builder_version: int
    apply: Callable[[JsonObject, Event], JsonObject]


class ProjectedState(NamedTuple):
    """What a projection has made of a session's events up to the sequence `position`."""

    projection: str
    session_id: str
    builder_version: int
    position: int
    state: JsonObject


def folded(
    projection: Projection, start: ProjectedState, events: Iterable[Event]
) -> ProjectedState:
    """`start` with `events`, which follow it in the order of their sequence."""
    state, position = start.state, start.position
    for event in events:
        state = projection.apply(state, event)
        position = event.sequence
    return start._replace(state=state, position=position)


def empty(projection: Projection, session_id: str) -> ProjectedState:
    """Where a session starts, before its first event."""
    return ProjectedState(projection.name, session_id, projection.builder_version, 0, {})


_STATUS_AFTER: Mapping[EventType, str] = {
    EventType.RUN_QUEUED: "QUEUED",
    EventType.RUN_CLAIMED: "RUNNING",
    EventType.RUN_REQUEUED: "QUEUED",
    EventType.RUN_WAITING_FOR_USER: "WAITING_FOR_USER",
    EventType.RUN_COMPLETED: "COMPLETED",
    EventType.RUN_FAILED: "FAILED",
    EventType.RUN_CANCELLED: "CANCELLED",
}
_COUNTED: Mapping[EventType, str] = {
    EventType.RUN_CHECKPOINTED: "checkpoints",
    EventType.RUN_CLAIMED: "claims",
    EventType.MODEL_REQUEST_STARTED: "model_attempts",
    EventType.MODEL_RESPONSE_FAILED: "model_failures",
}


def _summarize_runs(state: JsonObject, event: Event) -> JsonObject:
    """Per run: its status, why it failed, its last step, and how often it did what."""
    if event.run_id is None:
        return state
    summary: JsonObject = dict(_object(state.get(event.run_id)))
    if event.event_type in _STATUS_AFTER:
        summary["status"] = _STATUS_AFTER[event.event_type]
    if event.event_type is EventType.RUN_FAILED:
        summary["failure_reason"] = event.payload["reason"]
    if event.event_type in _COUNTED:
        name = _COUNTED[event.event_type]
        summary[name] = _count(summary.get(name)) + 1
    step = _count(event.payload.get("step_number"))
    summary["step_number"] = max(step, _count(summary.get("step_number")))
    return {**state, event.run_id: summary}


_ENDS_OF_CALLS = frozenset(
    {
        EventType.TOOL_CALL_COMPLETED,
        EventType.TOOL_CALL_FAILED,
        EventType.TOOL_CALL_DENIED,
        EventType.TOOL_CALL_UNCERTAIN,
    }
)


def _count_calls(state: JsonObject, event: Event) -> JsonObject:
    """Per tool and reason code: how many calls ended so; and how many had an effect."""
    if event.event_type not in _ENDS_OF_CALLS:
        return state
    tool = str(event.payload["tool_name"])
    reason = str(event.payload["reason_code"])
    counts: JsonObject = dict(_object(state.get(tool)))
    counts[reason] = _count(counts.get(reason)) + 1
    counts["effects"] = _count(counts.get("effects")) + (event.payload["effect_sent"] is True)
    return {**state, tool: counts}


_ROLES: Mapping[EventType, str] = {
    EventType.USER_MESSAGE_CREATED: "user",
    EventType.ASSISTANT_MESSAGE_COMPLETED: "assistant",
}


def _list_messages(state: JsonObject, event: Event) -> JsonObject:
    """Where the messages of the conversation are in the log, with their labels."""
    if event.event_type not in _ROLES:
        return state
    message: JsonObject = {
        "sequence": event.sequence,
        "role": _ROLES[event.event_type],
        "trust": event.payload["trust"],
        "private": event.payload["private"],
    }
    messages = cast("list[JsonObject]", state.get("messages", []))
    return {"messages": [*messages, message]}


PROJECTIONS = (
    Projection("run_summaries", 2, _summarize_runs),
    Projection("tool_calls", 1, _count_calls),
    Projection("messages", 1, _list_messages),
)


def _object(value: object) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
