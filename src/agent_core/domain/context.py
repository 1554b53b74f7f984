"""What a model is shown: labelled items in two regions (see docs/specs/context_engine.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.outcomes import ToolOutcome
from agent_core.domain.tools import ToolSpec
from agent_core.domain.trust import Labels


class ItemKind(StrEnum):
    PLATFORM_POLICY = "platform_policy"
    RUNTIME_METADATA = "runtime_metadata"
    USER_MESSAGE = "user_message"
    ASSISTANT_TURN = "assistant_turn"
    TOOL_RESULT = "tool_result"


class ToolCall(NamedTuple):
    """A call that a model proposed. `call_id` is the provider's and is given back unchanged.

    `arguments` is the text of a JSON object. `malformed`: the model's own text was not one, and
    `arguments` is the empty object instead.
    """

    call_id: str
    name: str
    arguments: str
    malformed: bool = False


class ContextItem(NamedTuple):
    """One piece of a conversation, with the labels of where it comes from.

    `source` names the origin (a principal, a tool, the model). `nonce` goes into the markers around
    the text; it is made after the text, so the text cannot hold it. `tool_calls` belong to an
    assistant turn; `call_id` and `outcome` to a tool result, whose `text` is the tool's content.
    """

    id: str
    kind: ItemKind
    source: str
    labels: Labels
    text: str
    nonce: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    outcome: ToolOutcome | None = None


Transcript = tuple[ContextItem, ...]


class ShownItem(NamedTuple):
    """An item as a model is shown it. `text`: what the provider is sent, envelope included."""

    item: ContextItem
    text: str


class ModelRequest(NamedTuple):
    """A request to a provider: a frozen prefix (`prefix`, `tools`) and a body.

    `prefix_sha256` is the hash of the prefix alone and stays the same for a whole session.
    `origin` joins the labels of everything in the request: what the model makes of it has these.
    """

    run_id: str
    step_number: int
    attempt_number: int
    prefix: tuple[ShownItem, ...]
    tools: tuple[ToolSpec, ...]
    body: tuple[ShownItem, ...]
    prefix_sha256: str
    origin: Labels


def pending_calls(transcript: Transcript) -> tuple[ToolCall, ...]:
    """The calls of the last assistant turn that have no result yet, in the turn's order."""
    answered: set[str | None] = set()
    for item in reversed(transcript):
        if item.kind is ItemKind.TOOL_RESULT:
            answered.add(item.call_id)
        elif item.kind is ItemKind.ASSISTANT_TURN:
            return tuple(call for call in item.tool_calls if call.call_id not in answered)
        else:
            break
    return ()
