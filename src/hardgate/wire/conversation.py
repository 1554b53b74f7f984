"""A conversation in one form, whichever provider's form an agent sent it in."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

SYSTEM = "system"
USER = "user"
ASSISTANT = "assistant"
TOOL = "tool"

AUTO = "auto"
NONE = "none"
REQUIRED = "required"

_CHARACTERS_PER_TOKEN = 4


class ToolCall(NamedTuple):
    """A call as the wire carries it; `arguments` is a text, which need not be JSON."""

    call_id: str
    name: str
    arguments: str


class ToolResult(NamedTuple):
    """The answer to a call. Only Anthropic's form has a place for `is_error`."""

    call_id: str
    text: str
    is_error: bool = False


class Message(NamedTuple):
    """One message: its role, its texts joined by line ends, its calls and its results.

    `other` names the kinds of parts that hold something else than text, such as `image`.
    """

    role: str
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    other: tuple[str, ...] = ()


class ModelRequest(NamedTuple):
    """One request for an answer.

    `offered` are the names of the tools, `tool_choice` is `auto`, `none`, `required` or a tool's
    name. `unknown_fields` are the paths of fields that the provider does not document. `stop` are
    the stop sequences, `usage_in_stream` says whether the stream has to tell the usage (Chat
    Completions only), `stored` whether the provider keeps the answer and `echo` which fields come
    back with it (Responses only).
    """

    model: str
    stream: bool
    messages: tuple[Message, ...]
    offered: tuple[str, ...] = ()
    tool_choice: str = AUTO
    parallel_calls: bool = True
    unknown_fields: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    usage_in_stream: bool = False
    stored: bool = False
    echo: Mapping[str, Any] = {}


class Answer(NamedTuple):
    """What a provider has to say: one turn of the script, in the words of the wire.

    `number` is the request's, from 1; the ids of the answer are made of it.
    """

    number: int
    model: str
    text: str
    calls: tuple[ToolCall, ...]
    stop_reason: str
    input_tokens: int
    output_tokens: int


def estimated_input_tokens(request: ModelRequest) -> int:
    """The tokens of a request where the script does not tell them: its characters by four."""
    return estimated_tokens(sum(_characters(message) for message in request.messages))


def estimated_output_tokens(text: str, calls: Sequence[ToolCall]) -> int:
    """The tokens of an answer where the script does not tell them: its characters by four."""
    return estimated_tokens(len(text) + sum(len(one.name) + len(one.arguments) for one in calls))


def estimated_tokens(characters: int) -> int:
    """Characters by four, rounded up."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _characters(message: Message) -> int:
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return len(message.text) + calls + sum(len(result.text) for result in message.tool_results)
