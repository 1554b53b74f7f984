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


# How a record knows of effects: by the subject's own watermarks, by what an agent reports of them,
# or not at all.
WATERMARKS, REPORTED, UNKNOWN = "watermarks", "reported", "unknown"


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
    `missing_watermark`: the tool is not idempotent and succeeded without ever setting it.
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
    missing_watermark: bool = False


class ObservedItem(NamedTuple):
    """One piece of the conversation, with its labels; `kind` is the subject's own name for it."""

    kind: str
    trust: str
    private: bool | None = None
    tool: str | None = None
    call_id: str | None = None


class MissingToolResult(NamedTuple):
    """A call of a tool with recorded results for which none is recorded."""

    tool: str
    arguments_sha256: str
    step: int


class Fault(NamedTuple):
    """Something that the subject itself found wrong: a failed check of this name.

    `around` are the indexes of the events that show it.
    """

    name: str
    message: str
    expected: Any = None
    observed: Any = None
    around: tuple[int, ...] = ()


class ObservedIntervention(NamedTuple):
    """What became of one intervention of a case.

    `seen` counts the triggers of its type, `fitting` those among them that its `where` lets
    through. `refused` says why what was to be done at its trigger could not be done.
    """

    fired: bool = False
    seen: int = 0
    fitting: int = 0
    refused: str | None = None


class FileChanges(NamedTuple):
    """How the files of a workspace differ from what they were; paths, sorted."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Record(NamedTuple):
    """One run, or the runs of one conversation, as its subject's own log and tables tell it.

    Of several runs, `terminal_status`, `failure_reason` and `final_text` are the last one's, and
    everything else is about all of them. `final_text` is None if there was no answer.
    `turns_consumed` counts the turns of the script that were played; `exhausted_at_step` is the
    step that asked for one more. `limits_hit` names the harness limits that cut this record short.
    `exceeded` names the budget behind the failure reason budget_exceeded, such as output_tokens.
    `messages_sent` counts the user's messages that were sent. What is None from there on, the
    subject cannot tell; `untrusted` and `private` say what the conversation holds at its end.
    `faults` is None where the subject looks for none. `effects_from` is WATERMARKS, REPORTED or
    UNKNOWN. `interventions`: one for each of the case, in their order.
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
    exceeded: str | None = None
    messages_sent: int = 1
    missing_tool_results: tuple[MissingToolResult, ...] = ()
    items: tuple[ObservedItem, ...] | None = None
    untrusted: bool | None = None
    private: bool | None = None
    blocked_sends: int | None = None
    pending_approvals: int | None = None
    metrics: Mapping[str, int] | None = None
    faults: tuple[Fault, ...] | None = None
    effects_from: str = WATERMARKS
    interventions: tuple[ObservedIntervention, ...] = ()
