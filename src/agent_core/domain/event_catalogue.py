"""The closed catalogue: which events there are, and exactly what their payloads hold.

Nothing else is ever appended (`check_event`). So a log can be read without surprises, and no
argument, result or text from outside gets into an event by way of a careless member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from agent_core.domain.errors import InvalidEvent
from agent_core.domain.events import EventType


class Member(NamedTuple):
    """A member of a payload: the types it may have, and whether it may be left out.

    `is_volatile`: its value differs between two runs of one case even where time, ids and the
    model are pinned, so no comparison of runs may rest on it.
    """

    types: tuple[type, ...]
    is_optional: bool = False
    is_volatile: bool = False


_TEXT = Member((str,))
_COUNT = Member((int,))
_FLAG = Member((bool,))
_LIST = Member((list,))
_MAYBE_TEXT = Member((str,), is_optional=True)
_MAYBE_COUNT = Member((int,), is_optional=True)

_PLACE = {"step_number": _COUNT, "attempt_number": _COUNT}
_LABELS = {"trust": _TEXT, "private": _FLAG}
_USAGE = {"input_tokens": _COUNT, "output_tokens": _COUNT, "cost_micros": _COUNT}
_COUNTERS = {"step_count": _COUNT, "model_call_count": _COUNT, "tool_call_count": _COUNT}
_FAILURE = {
    "reason": _TEXT,
    "error_class": _MAYBE_TEXT,
    "step_number": _COUNT,
    "attempt_number": _MAYBE_COUNT,
    "limit": Member((dict,), is_optional=True),
}
_PROPOSAL = {
    "invocation_id": _TEXT,
    "step_number": _COUNT,
    "call_id": _TEXT,
    "tool_name": _TEXT,
    "origin_trust": _TEXT,
    "parallel_group": _MAYBE_TEXT,
}
_RESOLVED = {
    **_PROPOSAL,
    "tool_source": _MAYBE_TEXT,
    "tool_version": _MAYBE_TEXT,
    "side_effect": _MAYBE_TEXT,
    "idempotency_class": _MAYBE_TEXT,
    "policy_version": _MAYBE_TEXT,
    "attempt_number": _MAYBE_COUNT,
}
_ENDED = {
    **_RESOLVED,
    "outcome_status": _TEXT,
    "reason_code": _TEXT,
    "effect_sent": _FLAG,
    "output_bytes": _COUNT,
    "truncated": _FLAG,
    "result_trust": _MAYBE_TEXT,
    "result_private": Member((bool,), is_optional=True),
    "duration_ms": Member((int,), is_optional=True, is_volatile=True),
}

CATALOGUE: Mapping[EventType, Mapping[str, Member]] = MappingProxyType(
    {
        EventType.SESSION_CREATED: {"tool_names": _LIST},
        EventType.USER_MESSAGE_CREATED: {"text": _TEXT, **_LABELS},
        EventType.RUN_QUEUED: {},
        EventType.RUN_CLAIMED: {"lease_epoch": _COUNT, "attempt_number": _COUNT},
        EventType.RUN_STARTED: {},
        EventType.RUN_RESUMED: {"step_number": _COUNT, "version": _MAYBE_COUNT},
        EventType.RUN_CHECKPOINTED: {
            "version": _COUNT,
            "trigger": _TEXT,
            "step_number": _COUNT,
            "full": _FLAG,
        },
        EventType.RUN_WAITING_FOR_USER: {**_COUNTERS, "invocation_id": _TEXT},
        EventType.RUN_REQUEUED: {"reason": _TEXT, "lease_epoch": _COUNT},
        EventType.RUN_FENCED: {"lease_epoch": _COUNT},
        EventType.RUN_COMPLETED: _COUNTERS,
        EventType.RUN_CANCELLED: _COUNTERS,
        EventType.RUN_FAILED: {**_COUNTERS, **_FAILURE},
        EventType.MODEL_REQUEST_STARTED: {
            **_PLACE,
            "provider": _TEXT,
            "prefix_sha256": _TEXT,
            "body_items": _COUNT,
            "origin_trust": _TEXT,
            "origin_private": _FLAG,
        },
        EventType.MODEL_RESPONSE_COMPLETED: {
            **_PLACE,
            **_USAGE,
            "stop_reason": _TEXT,
            "text": _TEXT,
            "tool_calls": _LIST,
        },
        EventType.MODEL_RESPONSE_FAILED: {
            **_PLACE,
            **_USAGE,
            "error_class": _TEXT,
            "stream_fault": _MAYBE_TEXT,
            "had_output": _FLAG,
            "retry_after_seconds": Member((int, float), is_optional=True),
        },
        EventType.ASSISTANT_MESSAGE_COMPLETED: {"text": _TEXT, **_LABELS, "step_number": _COUNT},
        EventType.TOOL_CALL_PROPOSED: _PROPOSAL,
        EventType.TOOL_CALL_AUTHORIZED: _RESOLVED,
        EventType.TOOL_CALL_STARTED: _RESOLVED,
        EventType.TOOL_CALL_COMPLETED: _ENDED,
        EventType.TOOL_CALL_FAILED: _ENDED,
        EventType.TOOL_CALL_DENIED: _ENDED,
        EventType.TOOL_CALL_UNCERTAIN: _ENDED,
    }
)


def check_event(event_type: str, payload: Mapping[str, object]) -> None:
    """Raises `InvalidEvent`, which names every member that is wrong and shows none of them, for a
    type or a payload that the catalogue does not have."""
    members = CATALOGUE.get(event_type)  # type: ignore[call-overload]  # equal as a text
    if members is None:
        raise InvalidEvent(f"{event_type}: no such event type")
    problems = [f"{name} is not a member" for name in payload if name not in members]
    for name, member in members.items():
        if name not in payload:
            if not member.is_optional:
                problems.append(f"{name} is missing")
        elif not _has_type(payload[name], member.types):
            problems.append(f"{name} is no {' or '.join(one.__name__ for one in member.types)}")
    if problems:
        raise InvalidEvent(f"{event_type}: {'; '.join(problems)}")


def _has_type(value: object, types: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in types
    return isinstance(value, types)
