"""Anthropic's Messages: reading its requests and writing its answers."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from hardgate.wire.conversation import (
    ASSISTANT,
    AUTO,
    NONE,
    REQUIRED,
    SYSTEM,
    USER,
    Answer,
    Message,
    ModelRequest,
    ToolCall,
    ToolResult,
)
from hardgate.wire.dialect import Failure, tool_name
from hardgate.wire.json_body import as_json
from hardgate.wire.reading import Fields
from hardgate.wire.sse import CLOSING, OPENING, TEXT, Event, named_event, pieces

# The second group is documented for the beta form of the endpoint.
PARAMETERS = frozenset(
    """cache_control container diagnostics inference_geo max_tokens messages metadata model
    output_config service_tier speed stop_sequences stream system temperature thinking tool_choice
    tools top_k top_p user_profile_id workspace_id

    betas billing_policy compaction context_management fallback_credit_token fallbacks mcp_servers
    thread""".split()
)

_LONGEST_TOOL_NAME = 128
_ROLES = (USER, ASSISTANT, SYSTEM)
_BLOCK = frozenset(
    """cache_control caller citations content context data id input is_error name signature source
    text thinking title tool_use_id toolset_name type""".split()
)
_CHOICES = {"auto": AUTO, "any": REQUIRED, "none": NONE, "tool": ""}
_STOP_REASONS = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "content_filter": "refusal",
    "incomplete": "model_context_window_exceeded",
}
_INVALID = "invalid_request_error"
_REFUSAL_TYPES = {
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
}


class Messages:
    """The dialect of POST /v1/messages."""

    name = "anthropic_messages"
    results_follow_calls = True
    text_key = "text"
    parameters = PARAMETERS
    request_id_header = "request-id"
    failures: Mapping[str, Failure] = {
        "transient": Failure(529, "overloaded_error", None, "Overloaded"),
        "permanent": Failure(400, _INVALID, None, "This request cannot be processed."),
        "rate_limit": Failure(
            429, "rate_limit_error", None, "This request would exceed your rate limit."
        ),
    }

    def absent_headers(self, headers: Mapping[str, str]) -> tuple[str, ...]:
        """A key or a bearer token, and the version of the API."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        bearer = scheme.lower() == "bearer" and bool(token.strip())
        absent = () if headers.get("x-api-key") or bearer else ("authorization",)
        return absent if headers.get("anthropic-version") else (*absent, "anthropic-version")

    def read(self, fields: Fields, *, counting: bool = False) -> ModelRequest:
        """See Dialect."""
        fields.count("max_tokens", 1, required=not counting)
        messages = [
            _message(one) for one in fields.objects("messages", {"content", "role"}, required=True)
        ]
        _check_roles(fields, messages)
        system, _ = _texts(fields, "system") if fields.raw("system") is not None else ("", ())
        if system:
            messages.insert(0, Message(SYSTEM, system))
        tool_choice, parallel_calls = _tool_choice(fields)
        return ModelRequest(
            model=fields.text("model"),
            stream=fields.flag("stream", False),
            messages=tuple(messages),
            offered=tuple(_offered_tools(fields)),
            tool_choice=tool_choice,
            parallel_calls=parallel_calls,
            stop=fields.texts("stop_sequences"),
        )

    def keep(self, answer: Answer, request: ModelRequest) -> None:
        """See Dialect: nothing refers back to an answer."""

    def whole(self, answer: Answer, request: ModelRequest) -> dict[str, Any]:
        """See Dialect. Arguments that are no JSON stand as a text where their value would."""
        content: list[dict[str, Any]] = []
        if answer.text:
            content.append({"type": "text", "text": answer.text})
        for call in answer.calls:
            content.append(_call_block(call, _value_of(call.arguments)))
        return {
            **_head(answer, content),
            **_stop(answer, request),
            "usage": _usage(answer, answer.output_tokens),
        }

    def stream(self, answer: Answer, request: ModelRequest) -> Iterator[Event]:
        """See Dialect."""
        start = {**_head(answer, []), "stop_reason": None, "stop_sequence": None}
        start["usage"] = _usage(answer, 1)
        yield named_event(OPENING, {"type": "message_start", "message": start})
        if answer.text:
            yield _block_start(OPENING, 0, {"type": "text", "text": ""})
            yield named_event(OPENING, {"type": "ping"})
            for piece in pieces(answer.text):
                yield _delta(TEXT, 0, {"type": "text_delta", "text": piece})
            yield named_event(CLOSING, {"type": "content_block_stop", "index": 0})
        for index, call in enumerate(answer.calls, 1 if answer.text else 0):
            yield _block_start(CLOSING, index, _call_block(call, {}))
            for piece in ["", *pieces(call.arguments)]:
                yield _delta(CLOSING, index, {"type": "input_json_delta", "partial_json": piece})
            yield named_event(CLOSING, {"type": "content_block_stop", "index": index})
        usage = {"output_tokens": answer.output_tokens}
        delta = {"type": "message_delta", "delta": _stop(answer, request), "usage": usage}
        yield named_event(CLOSING, delta)
        yield named_event(CLOSING, {"type": "message_stop"})

    def failure_body(self, failure: Failure, request_id: str) -> dict[str, Any]:
        """See Dialect."""
        error = {"type": failure.type, "message": failure.message}
        return {"type": "error", "error": error, "request_id": request_id}

    def failure_event(
        self, failure: Failure, answer: Answer, request: ModelRequest, sent: int
    ) -> bytes:
        """See Dialect: an event named error."""
        error = {"type": failure.type, "message": failure.message}
        return named_event(CLOSING, {"type": "error", "error": error}).data

    def retry_headers(self, seconds: float) -> tuple[tuple[str, str], ...]:
        """See Dialect: whole seconds."""
        return (("retry-after", str(math.ceil(seconds))),)

    def refusal(self, status: int, message: str) -> Failure:
        """See Dialect."""
        return Failure(status, _REFUSAL_TYPES.get(status, _INVALID), None, message)


def _head(answer: Answer, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.number:04d}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
    }


def _stop(answer: Answer, request: ModelRequest) -> dict[str, Any]:
    """Why the answer ends. The script does not say at which stop sequence: it is the first."""
    stopped = answer.stop_reason == "stop_sequence" and request.stop
    return {
        "stop_reason": _STOP_REASONS[answer.stop_reason],
        "stop_sequence": request.stop[0] if stopped else None,
    }


def _usage(answer: Answer, output_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": answer.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    }


def _call_block(call: ToolCall, value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.call_id, "name": call.name, "input": value}


def _value_of(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _block_start(stage: str, index: int, block: Mapping[str, Any]) -> Event:
    payload = {"type": "content_block_start", "index": index, "content_block": block}
    return named_event(stage, payload)


def _delta(stage: str, index: int, delta: Mapping[str, Any]) -> Event:
    return named_event(stage, {"type": "content_block_delta", "index": index, "delta": delta})


def _message(fields: Fields) -> Message:
    role = fields.choice("role", _ROLES) or USER
    value = fields.raw("content")
    if isinstance(value, str):
        return Message(role, value)
    if not isinstance(value, list):
        fields.notes.wrong(fields.at("content"), "a text or a list of blocks", value)
        return Message(role)
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    other: list[str] = []
    for block in fields.objects("content", _BLOCK):
        kind = block.text("type")
        if kind == "text":
            texts.append(block.text("text"))
        elif kind == "tool_use" and role == ASSISTANT:
            block.free_map("input", required=True)
            arguments = as_json(block.raw("input"))
            calls.append(ToolCall(block.text("id"), block.text("name"), arguments))
        elif kind == "tool_result" and role == USER:
            if texts or other:
                block.notes.refuse(f"{block.path}: a tool result has to stand before other blocks")
            results.append(_result(block))
        elif kind in ("tool_use", "tool_result"):
            block.notes.refuse(f"{block.at('type')}: {kind} has no place in a message of {role}")
        else:
            other.append(kind)
    return Message(role, "\n".join(texts), tuple(calls), tuple(results), tuple(other))


def _result(block: Fields) -> ToolResult:
    text, _ = _texts(block, "content") if block.raw("content") is not None else ("", ())
    return ToolResult(block.text("tool_use_id"), text, block.flag("is_error", False))


def _texts(fields: Fields, key: str) -> tuple[str, tuple[str, ...]]:
    """The texts of a content, and the kinds of its other blocks."""
    value = fields.raw(key)
    if isinstance(value, str):
        return value, ()
    texts: list[str] = []
    other: list[str] = []
    for block in fields.objects(key, _BLOCK, required=True):
        kind = block.text("type")
        if kind == "text":
            texts.append(block.text("text"))
        else:
            other.append(kind)
    return "\n".join(texts), tuple(other)


def _check_roles(fields: Fields, messages: list[Message]) -> None:
    """The first message is the user's; a system message follows one of the user's."""
    for index, message in enumerate(messages):
        before = messages[index - 1].role if index else SYSTEM
        if message.role == ASSISTANT and not index:
            fields.notes.refuse("messages[0].role: the first message has to be the user's")
        if message.role == SYSTEM and before != USER:
            fields.notes.refuse(
                f"messages[{index}].role: a system message has to follow one of the user's; the "
                "system prompt stands in the field system"
            )
        empty = not (message.text or message.tool_calls or message.tool_results or message.other)
        if empty and not (message.role == ASSISTANT and index == len(messages) - 1):
            fields.notes.refuse(f"messages[{index}].content: a message may not be empty")


def _offered_tools(fields: Fields) -> Iterator[str]:
    """The names of the tools; a tool with a version as its type is the provider's own."""
    seen: set[str] = set()
    for tool in fields.objects("tools", _TOOL):
        own = tool.text("type", "custom") != "custom"
        if not own:
            tool.free_map("input_schema", required=True)
        name = tool_name(tool, _LONGEST_TOOL_NAME)
        if name in seen:
            fields.notes.refuse(f"{tool.at('name')}: tool names have to be unique")
        seen.add(name)
        yield name


_TOOL = frozenset(
    """allowed_callers allowed_domains blocked_domains cache_control citations defer_loading
    description display_height_px display_number display_width_px eager_input_streaming
    input_examples input_schema max_characters max_content_tokens max_uses name strict type
    user_location""".split()
)


def _tool_choice(fields: Fields) -> tuple[str, bool]:
    """The choice, and whether several calls are allowed."""
    choice = fields.inside("tool_choice", {"disable_parallel_tool_use", "name", "type"})
    if choice is None:
        return AUTO, True
    kind = choice.choice("type", _CHOICES)
    chosen = choice.text("name") if kind == "tool" else _CHOICES.get(kind, AUTO)
    return chosen, not choice.flag("disable_parallel_tool_use", False)
