"""OpenAI's Chat Completions: reading its requests and writing its answers."""

from collections.abc import Iterator, Mapping
from typing import Any

from hardgate.wire import openai_shared as shared
from hardgate.wire.conversation import (
    ASSISTANT,
    SYSTEM,
    TOOL,
    USER,
    Answer,
    Message,
    ModelRequest,
    ToolCall,
    ToolResult,
)
from hardgate.wire.dialect import CREATED, Failure
from hardgate.wire.reading import Fields
from hardgate.wire.sse import CLOSING, OPENING, TEXT, Event, pieces, plain_event

PARAMETERS = frozenset(
    """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity web_search_options""".split()
)

_ROLES = {"developer": SYSTEM, "system": SYSTEM, "user": USER, "assistant": ASSISTANT, "tool": TOOL}
_MESSAGE = frozenset(
    "audio content function_call name refusal role tool_call_id tool_calls".split()
)
_PART = frozenset("file image_url input_audio refusal text type".split())
_CALL = frozenset({"function", "id", "type"})
_TOOL = frozenset({"custom", "function", "type"})
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "incomplete": "length",
    "content_filter": "content_filter",
}


class ChatCompletions(shared.OpenAI):
    """The dialect of POST /v1/chat/completions."""

    name = "openai_chat"
    results_follow_calls = True
    text_key = "content"
    parameters = PARAMETERS

    def read(self, fields: Fields, *, counting: bool = False) -> ModelRequest:
        """See Dialect."""
        choices = fields.count("n", 1)
        if choices is not None and choices > 1:
            fields.notes.cannot_play(f"n: received {choices}; a script has one answer, allowed: 1")
        for key in ("functions", "function_call"):
            if fields.raw(key):
                fields.notes.cannot_play(f"{key}: replaced by tools and tool_choice")
        options = fields.inside("stream_options", {"include_obfuscation", "include_usage"})
        return ModelRequest(
            model=fields.text("model"),
            stream=fields.flag("stream", False),
            messages=tuple(
                _message(one) for one in fields.objects("messages", _MESSAGE, required=True)
            ),
            offered=tuple(shared.offered_tools(fields, _TOOL, nested="function")),
            tool_choice=shared.tool_choice(fields, _name_of_choice),
            parallel_calls=fields.flag("parallel_tool_calls", True),
            stop=_stop(fields),
            usage_in_stream=options is not None and options.flag("include_usage", False),
        )

    def whole(self, answer: Answer, request: ModelRequest) -> dict[str, Any]:
        """See Dialect."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": answer.text or (None if answer.calls else ""),
            "refusal": None,
            "annotations": [],
        }
        if answer.calls:
            message["tool_calls"] = [_call_body(call, call.arguments) for call in answer.calls]
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _FINISH_REASONS[answer.stop_reason],
        }
        return {
            **_head(answer, "chat.completion"),
            "choices": [choice],
            "usage": _usage(answer),
        }

    def stream(self, answer: Answer, request: ModelRequest) -> Iterator[Event]:
        """See Dialect; the last event is [DONE]."""
        chunk = _Chunks(answer, request.usage_in_stream)
        first = None if answer.calls and not answer.text else ""
        yield chunk.of(OPENING, {"role": "assistant", "content": first, "refusal": None})
        for piece in pieces(answer.text):
            yield chunk.of(TEXT, {"content": piece})
        for index, call in enumerate(answer.calls):
            head = {"index": index, **_call_body(call, "")}
            yield chunk.of(CLOSING, {"tool_calls": [head]})
            for piece in pieces(call.arguments):
                delta = {"index": index, "function": {"arguments": piece}}
                yield chunk.of(CLOSING, {"tool_calls": [delta]})
        yield chunk.of(CLOSING, {}, _FINISH_REASONS[answer.stop_reason])
        if request.usage_in_stream:
            yield plain_event(CLOSING, {**chunk.head, "choices": [], "usage": _usage(answer)})
        yield Event(CLOSING, b"data: [DONE]\n\n")

    def failure_event(
        self, failure: Failure, answer: Answer, request: ModelRequest, sent: int
    ) -> bytes:
        """See Dialect: the body of a failure, as one more event."""
        return plain_event(CLOSING, self.failure_body(failure, "")).data


class _Chunks:
    """Makes the chunks of one stream; with `usage`, each says that the last one tells it."""

    def __init__(self, answer: Answer, usage: bool) -> None:
        self.head = _head(answer, "chat.completion.chunk")
        self._rest = {"usage": None} if usage else {}

    def of(self, stage: str, delta: Mapping[str, Any], finish_reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return plain_event(stage, {**self.head, "choices": [choice], **self._rest})


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.number:04d}",
        "object": kind,
        "created": CREATED,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _call_body(call: ToolCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _message(fields: Fields) -> Message:
    role = _ROLES.get(fields.choice("role", _ROLES), USER)
    calls = tuple(_calls(fields)) if role == ASSISTANT else ()
    text, other = _content(fields, optional=role == ASSISTANT and bool(fields.raw("tool_calls")))
    if role == TOOL:
        result = ToolResult(fields.text("tool_call_id"), text)
        return Message(role, tool_results=(result,), other=other)
    return Message(role, text, calls, other=other)


def _calls(fields: Fields) -> Iterator[ToolCall]:
    for call in fields.objects("tool_calls", _CALL):
        call.choice("type", {"function"})
        function = call.inside("function", {"arguments", "name"}, required=True)
        if function is not None:
            yield ToolCall(call.text("id"), function.text("name"), function.text("arguments"))


def _content(fields: Fields, *, optional: bool) -> tuple[str, tuple[str, ...]]:
    """The texts of a message, and the kinds of its other parts."""
    value = fields.raw("content")
    if isinstance(value, str) or (value is None and (optional or fields.raw("refusal"))):
        return value or "", ()
    if not isinstance(value, list):
        fields.notes.wrong(fields.at("content"), "a text or a list of parts", value)
        return "", ()
    texts: list[str] = []
    other: list[str] = []
    for part in fields.objects("content", _PART):
        kind = part.text("type")
        if kind in ("text", "refusal"):
            texts.append(part.text(kind))
        else:
            other.append(kind)
    return "\n".join(texts), tuple(other)


def _name_of_choice(choice: Fields) -> str:
    function = choice.inside("function", {"name"}, required=True)
    return function.text("name") if function is not None else ""


def _stop(fields: Fields) -> tuple[str, ...]:
    value = fields.raw("stop")
    return (value,) if isinstance(value, str) else fields.texts("stop")
