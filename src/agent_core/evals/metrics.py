"""Counters of a conversation, nearly all read off its log: `expected.metrics` names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_core.domain.events import Event, EventType

_COUNTED_EVENTS = {
    "runs_total": EventType.RUN_QUEUED,
    "runs_failed_total": EventType.RUN_FAILED,
    "checkpoints_total": EventType.RUN_CHECKPOINTED,
    "model_attempts_total": EventType.MODEL_REQUEST_STARTED,
    "model_failures_total": EventType.MODEL_RESPONSE_FAILED,
    "tool_proposals_total": EventType.TOOL_CALL_PROPOSED,
    "tool_starts_total": EventType.TOOL_CALL_STARTED,
    "tool_failures_total": EventType.TOOL_CALL_FAILED,
    "tool_denials_total": EventType.TOOL_CALL_DENIED,
    "tool_uncertain_total": EventType.TOOL_CALL_UNCERTAIN,
}
_COUNTED_FLAGS = {"tool_truncations_total": "truncated", "tool_effects_total": "effect_sent"}
_SUMMED_MEMBERS = {"input_tokens_total": "input_tokens", "output_tokens_total": "output_tokens"}

METRICS = frozenset(
    {
        *_COUNTED_EVENTS,
        *_COUNTED_FLAGS,
        *_SUMMED_MEMBERS,
        "effect_reviews_total",
        "waits_total",
        "waited_milliseconds_total",
    }
)


def counters(
    events: Iterable[Event], waits_seconds: Sequence[float], reviews: int = 0
) -> dict[str, int]:
    """Every metric with its value. `waits_seconds` are the pauses that the runtime asked for, and
    `reviews` is the number of effect reviews, which are no events."""
    log = tuple(events)
    found = {
        name: sum(event.event_type is counted for event in log)
        for name, counted in _COUNTED_EVENTS.items()
    }
    for name, flag in _COUNTED_FLAGS.items():
        found[name] = sum(event.payload.get(flag) is True for event in log)
    for name, member in _SUMMED_MEMBERS.items():
        found[name] = sum(_number(event.payload.get(member)) for event in log)
    found["effect_reviews_total"] = reviews
    found["waits_total"] = len(waits_seconds)
    found["waited_milliseconds_total"] = round(sum(waits_seconds) * 1000)
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
