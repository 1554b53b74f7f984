"""What OpenAI's Responses say: the body of a response, its items and the events of its stream."""

from collections.abc import Iterator, Mapping
from typing import Any

from hardgate.wire.conversation import Answer, ModelRequest, ToolCall
from hardgate.wire.dialect import CREATED, Failure
from hardgate.wire.sse import CLOSING, OPENING, TEXT, Event, named_event, pieces

# The fields of a request that come back with its response, and what they are if absent.
ECHOED: Mapping[str, Any] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
# Why a response is incomplete; None where the API has no word for it.
_INCOMPLETE = {
    "max_tokens": {"reason": "max_output_tokens"},
    "content_filter": {"reason": "content_filter"},
    "incomplete": None,
}


def response_id(answer: Answer) -> str:
    """The id of the response that an answer makes."""
    return f"resp_{answer.number:04d}"


def whole_response(answer: Answer, request: ModelRequest) -> dict[str, Any]:
    """The body of a finished response."""
    incomplete = answer.stop_reason in _INCOMPLETE
    changes = {
        "status": "incomplete" if incomplete else "completed",
        "incomplete_details": _INCOMPLETE.get(answer.stop_reason),
        "output": output_items(answer),
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }
    return _response(answer, request) | changes


def output_items(answer: Answer) -> list[dict[str, Any]]:
    """The items of a response: the message, if there is one, then the calls."""
    status = "incomplete" if answer.stop_reason in _INCOMPLETE else "completed"
    items: list[dict[str, Any]] = []
    if answer.text or not answer.calls:
        items.append(_message(answer, status, [_text_part(answer.text)]))
    items += [_call(answer, index, call) for index, call in enumerate(answer.calls)]
    return items


class ResponseStream:
    """Numbers the events of one stream."""

    def __init__(self, answer: Answer, request: ModelRequest) -> None:
        self._answer = answer
        self._request = request
        self._number = 0

    def events(self) -> Iterator[Event]:
        """All events up to the one that holds the whole response."""
        answer = self._answer
        begun = _response(answer, self._request)
        yield self._event(OPENING, "response.created", response=begun)
        yield self._event(OPENING, "response.in_progress", response=begun)
        items = output_items(answer)
        for index, item in enumerate(items):
            if item["type"] == "message":
                yield from self._text_events(index, item)
            else:
                yield from self._call_events(index, item)
        whole = whole_response(answer, self._request)
        yield self._event(CLOSING, f"response.{whole['status']}", response=whole)

    def _text_events(self, index: int, item: Mapping[str, Any]) -> Iterator[Event]:
        text = self._answer.text
        started = _message(self._answer, "in_progress", [])
        place = {"item_id": item["id"], "output_index": index, "content_index": 0}
        yield self._event(OPENING, "response.output_item.added", output_index=index, item=started)
        yield self._event(OPENING, "response.content_part.added", **place, part=_text_part(""))
        for piece in pieces(text):
            yield self._event(TEXT, "response.output_text.delta", **place, delta=piece, logprobs=[])
        yield self._event(CLOSING, "response.output_text.done", **place, text=text, logprobs=[])
        yield self._event(CLOSING, "response.content_part.done", **place, part=_text_part(text))
        yield self._event(CLOSING, "response.output_item.done", output_index=index, item=item)

    def _call_events(self, index: int, item: Mapping[str, Any]) -> Iterator[Event]:
        started = {**item, "status": "in_progress", "arguments": ""}
        place = {"item_id": item["id"], "output_index": index}
        yield self._event(CLOSING, "response.output_item.added", output_index=index, item=started)
        for piece in pieces(item["arguments"]):
            yield self._event(
                CLOSING, "response.function_call_arguments.delta", **place, delta=piece
            )
        yield self._event(
            CLOSING,
            "response.function_call_arguments.done",
            **place,
            name=item["name"],
            arguments=item["arguments"],
        )
        yield self._event(CLOSING, "response.output_item.done", output_index=index, item=item)

    def _event(self, stage: str, type: str, **payload: Any) -> Event:
        event = named_event(stage, {"type": type, "sequence_number": self._number, **payload})
        self._number += 1
        return event


def failed_event(answer: Answer, request: ModelRequest, failure: Failure, number: int) -> bytes:
    """The event that ends a stream with a failed response."""
    error = {"code": failure.code or failure.type, "message": failure.message}
    response = _response(answer, request) | {"status": "failed", "error": error}
    payload = {"type": "response.failed", "sequence_number": number, "response": response}
    return named_event(CLOSING, payload).data


def _response(answer: Answer, request: ModelRequest) -> dict[str, Any]:
    """A response that has just begun."""
    return {
        "id": response_id(answer),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "output": [],
        "usage": None,
        **ECHOED,
        **request.echo,
    }


def _message(answer: Answer, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.number:04d}",
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _call(answer: Answer, index: int, call: ToolCall) -> dict[str, Any]:
    return {
        "id": f"fc_{answer.number:04d}_{index + 1}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
    }
