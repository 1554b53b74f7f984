"""OpenAI's Responses: reading its requests; openai_responses_output.py writes its answers."""

from collections.abc import Iterator
from typing import Any

from hardgate.documents.wording import quoted
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
from hardgate.wire.dialect import Failure
from hardgate.wire.openai_responses_output import (
    ECHOED,
    ResponseStream,
    failed_event,
    output_items,
    response_id,
    whole_response,
)
from hardgate.wire.reading import Fields
from hardgate.wire.sse import Event

PARAMETERS = frozenset(
    """access_programs background background_options context_management conversation image include
    input instructions max_output_tokens max_tool_calls metadata model moderation
    parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options
    prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options
    temperature text tool_choice tools top_logprobs top_p truncation user""".split()
)

_ROLES = {"developer": SYSTEM, "system": SYSTEM, "user": USER, "assistant": ASSISTANT}
_ITEM = frozenset(
    """arguments async call_id caller content encrypted_content id name namespace output phase role
    status summary type""".split()
)
_PART = frozenset(
    """annotations detail file_data file_id file_url filename image_url input_audio logprobs refusal
    text type""".split()
)
_TEXT_PARTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_TOOL = frozenset(
    """allowed_callers async defer_loading description name output_schema parameters strict
    type""".split()
)


class Responses(shared.OpenAI):
    """The dialect of POST /v1/responses. It keeps each response that is not sent unstored."""

    name = "openai_responses"
    results_follow_calls = False
    text_key = "text"
    parameters = PARAMETERS

    def __init__(self) -> None:
        self._responses: dict[str, tuple[Message, ...]] = {}
        self._items: dict[str, Message] = {}

    def read(self, fields: Fields, *, counting: bool = False) -> ModelRequest:
        """See Dialect."""
        for key in ("background", "conversation", "prompt"):
            if fields.raw(key):
                fields.notes.cannot_play(f"{key}: a script has no place for it")
        instructions = fields.text("instructions", "")
        messages = [Message(SYSTEM, instructions)] if instructions else []
        messages += self._previous(fields)
        messages += self._input(fields, counting)
        return ModelRequest(
            model=fields.text("model", "" if counting else None),
            stream=fields.flag("stream", False),
            messages=tuple(messages),
            offered=tuple(shared.offered_tools(fields, _TOOL, nested=None)),
            tool_choice=shared.tool_choice(fields, lambda choice: choice.text("name")),
            parallel_calls=fields.flag("parallel_tool_calls", True),
            stored=fields.flag("store", True),
            echo={key: fields.raw(key) for key in ECHOED if fields.raw(key) is not None},
        )

    def keep(self, answer: Answer, request: ModelRequest) -> None:
        """See Dialect: previous_response_id and item_reference refer back."""
        if not request.stored:
            return
        said: list[Message] = []
        for item in output_items(answer):
            if item["type"] == "message":
                message = Message(ASSISTANT, answer.text)
            else:
                call = ToolCall(item["call_id"], item["name"], item["arguments"])
                message = Message(ASSISTANT, tool_calls=(call,))
            self._items[item["id"]] = message
            said.append(message)
        # The instructions of a request are its own: they are not part of what is kept.
        kept = request.messages[1:] if request.echo.get("instructions") else request.messages
        self._responses[response_id(answer)] = (*kept, *said)

    def whole(self, answer: Answer, request: ModelRequest) -> dict[str, Any]:
        """See Dialect."""
        return whole_response(answer, request)

    def stream(self, answer: Answer, request: ModelRequest) -> Iterator[Event]:
        """See Dialect."""
        return ResponseStream(answer, request).events()

    def failure_event(
        self, failure: Failure, answer: Answer, request: ModelRequest, sent: int
    ) -> bytes:
        """See Dialect: a failed response."""
        return failed_event(answer, request, failure, sent)

    def _previous(self, fields: Fields) -> tuple[Message, ...]:
        previous = fields.text("previous_response_id", "")
        if previous and previous not in self._responses:
            fields.notes.refuse(
                f"previous_response_id: received {quoted(previous)}; no such response is stored"
            )
        return self._responses.get(previous, ())

    def _input(self, fields: Fields, counting: bool) -> Iterator[Message]:
        value = fields.raw("input")
        if isinstance(value, str):
            yield Message(USER, value)
            return
        for item in fields.objects("input", _ITEM, required=not counting):
            yield from self._item(item)

    def _item(self, item: Fields) -> Iterator[Message]:
        kind = item.text("type", "message" if item.raw("role") else "item_reference")
        if kind == "message":
            text, other = _content(item, "content")
            yield Message(_ROLES.get(item.choice("role", _ROLES), USER), text, other=other)
        elif kind == "function_call":
            call = ToolCall(item.text("call_id"), item.text("name"), item.text("arguments"))
            yield Message(ASSISTANT, tool_calls=(call,))
        elif kind == "function_call_output":
            text, other = _content(item, "output")
            yield Message(TOOL, tool_results=(ToolResult(item.text("call_id"), text),), other=other)
        elif kind == "reasoning":
            yield Message(ASSISTANT, other=("reasoning",))
        elif kind == "item_reference":
            yield from self._referred(item)
        else:
            item.notes.cannot_play(f"{item.at('type')}: {quoted(kind)} is no part of a script")

    def _referred(self, item: Fields) -> Iterator[Message]:
        identifier = item.text("id")
        if identifier in self._items:
            yield self._items[identifier]
        else:
            item.notes.refuse(f"{item.at('id')}: no item {quoted(identifier)} is stored")


def _content(fields: Fields, key: str) -> tuple[str, tuple[str, ...]]:
    """The texts of a content, and the kinds of its other parts."""
    value = fields.raw(key)
    if isinstance(value, str):
        return value, ()
    if not isinstance(value, list):
        fields.notes.wrong(fields.at(key), "a text or a list of parts", value)
        return "", ()
    texts: list[str] = []
    other: list[str] = []
    for part in fields.objects(key, _PART):
        kind = part.text("type")
        if kind in _TEXT_PARTS:
            texts.append(part.text(_TEXT_PARTS[kind]))
        else:
            other.append(kind)
    return "\n".join(texts), tuple(other)
