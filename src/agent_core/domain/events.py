"""The event log's vocabulary and envelope (see docs/specs/event_log.md)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject


class EventType(StrEnum):
    """The events that this runtime writes; `agent_core.domain.event_catalogue` has the payloads.
    A type is added with the code that writes it."""

    SESSION_CREATED = "session.created"
    USER_MESSAGE_CREATED = "user.message.created"
    RUN_QUEUED = "run.queued"
    RUN_CLAIMED = "run.claimed"
    RUN_STARTED = "run.started"
    RUN_RESUMED = "run.resumed"
    RUN_CHECKPOINTED = "run.checkpointed"
    RUN_WAITING_FOR_USER = "run.waiting_for_user"
    RUN_REQUEUED = "run.requeued"
    RUN_FENCED = "run.fenced"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    MODEL_REQUEST_STARTED = "model.request.started"
    MODEL_RESPONSE_COMPLETED = "model.response.completed"
    MODEL_RESPONSE_FAILED = "model.response.failed"
    ASSISTANT_MESSAGE_COMPLETED = "assistant.message.completed"
    TOOL_CALL_PROPOSED = "tool.call.proposed"
    TOOL_CALL_AUTHORIZED = "tool.call.authorized"
    TOOL_CALL_DENIED = "tool.call.denied"
    TOOL_CALL_STARTED = "tool.call.started"
    TOOL_CALL_COMPLETED = "tool.call.completed"
    TOOL_CALL_FAILED = "tool.call.failed"
    TOOL_CALL_UNCERTAIN = "tool.call.uncertain"


class ActorType(StrEnum):
    """Who caused an event."""

    PRINCIPAL = "principal"
    RUNTIME = "runtime"


class NewEvent(NamedTuple):
    """An event before the log has given it a sequence.

    `run_id` is None for what happens outside a run. `payload` holds JSON values only.
    """

    id: str
    session_id: str
    run_id: str | None
    event_type: EventType
    payload_schema_version: int
    actor_type: ActorType
    actor_id: str
    payload: JsonObject
    created_at: datetime


class Event(NamedTuple):
    """An event in the log. `sequence` rises within a session; gaps are legal."""

    id: str
    session_id: str
    run_id: str | None
    sequence: int
    event_type: EventType
    payload_schema_version: int
    actor_type: ActorType
    actor_id: str
    payload: JsonObject
    created_at: datetime
