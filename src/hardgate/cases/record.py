"""What was observed of one run: the values that expectations are compared with.

A subject fills a record from its own event log and tables; nothing in it is interpreted twice. The
classes are plain and cheap because every case process makes one.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# Harness limits of one record; a subject stops copying at them and names the limit it hit.
EVENTS_LIMIT = 10_000
CALLS_LIMIT = 1_000
TEXT_LIMIT_CHARACTERS = 1_000_000


class ObservedEvent(NamedTuple):
    """One event of the log; `sequence` rises, gaps are legal."""

    sequence: int
    type: str
    payload: Mapping[str, Any]


class ObservedCall(NamedTuple):
    """One tool call that the model proposed, whatever became of it.

    `arguments` is what the tool was given, or None where the model's text was no JSON object.
    `malformed` says that the arguments were no JSON object or did not fit the tool's schema, and
    `invented` that the session offers no tool of that name. `effect_sent` is the effect watermark:
    something irreversible may have happened. `status` is the invocation's last state.
    """

    name: str
    arguments: Mapping[str, Any] | None
    call_id: str
    step: int
    status: str
    reason_code: str | None = None
    malformed: bool = False
    invented: bool = False
    started: bool = False
    effect_sent: bool = False


class Record(NamedTuple):
    """One run, as its subject's own log and tables tell it.

    `final_text` is the last answer of the run, None if there was none. `turns_consumed` counts the
    turns of the script that were played; `exhausted_at_step` is the step that asked for one more.
    `limits_hit` names the harness limits that cut this record short.
    """

    terminal_status: str
    failure_reason: str | None
    final_text: str | None
    step_count: int
    model_call_count: int
    tool_call_count: int
    tool_calls: tuple[ObservedCall, ...]
    events: tuple[ObservedEvent, ...]
    turns_consumed: int
    turns_total: int
    exhausted_at_step: int | None = None
    limits_hit: tuple[str, ...] = ()
