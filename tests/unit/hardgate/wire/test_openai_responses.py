"""Responses: what is read of requests, what is kept, and answers to the byte."""

import json

import pytest

from hardgate.wire.conversation import Answer, Message, ToolCall, ToolResult
from hardgate.wire.openai_responses import Responses
from tests.unit.hardgate.wire.samples import RESPONSES, TOOLS, question, read

CALLS = (ToolCall("c1", "add", '{"a": 1, "b": 2}'), ToolCall("c2", "add", ""))
ANSWER = Answer(3, "gpt-x", "One moment, please", (), "end_turn", 5, 7)


def streamed(answer, **fields):
    request, _ = read(Responses(), question(RESPONSES, **fields))
    return [event.data.decode() for event in Responses().stream(answer, request)]


def payloads(data):
    found = []
    for one in data:
        name, body = one.split("\n")[:2]
        assert one.endswith("}\n\n")
        found.append(json.loads(body.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    assert [one["sequence_number"] for one in found] == list(range(len(found)))
    return found


def test_the_events_of_a_text_to_the_byte():
    data = streamed(ANSWER)
    place = '"item_id": "msg_0003", "output_index": 0, "content_index": 0'
    part = '{"type": "output_text", "annotations": [], "logprobs": [], "text": '
    item = '{"id": "msg_0003", "type": "message", "status": '

    def event(number, name, rest):
        kind = f"response.{name}"
        head = f'event: {kind}\ndata: {{"type": "{kind}", "sequence_number": {number}'
        return f"{head}, {rest}}}\n\n"

    assert data[2:-1] == [
        event(
            2,
            "output_item.added",
            f'"output_index": 0, "item": {item}"in_progress", "role": "assistant", "content": []}}',
        ),
        event(3, "content_part.added", f'{place}, "part": {part}""}}'),
        event(4, "output_text.delta", f'{place}, "delta": "One moment, ", "logprobs": []'),
        event(5, "output_text.delta", f'{place}, "delta": "please", "logprobs": []'),
        event(6, "output_text.done", f'{place}, "text": "One moment, please", "logprobs": []'),
        event(7, "content_part.done", f'{place}, "part": {part}"One moment, please"}}'),
        event(
            8,
            "output_item.done",
            f'"output_index": 0, "item": {item}"completed", "role": "assistant", '
            f'"content": [{part}"One moment, please"}}]}}',
        ),
    ]
    found = payloads(data)
    assert [one["type"] for one in found[:2]] == ["response.created", "response.in_progress"]
    assert found[0]["response"] == found[1]["response"]
    assert found[0]["response"]["status"] == "in_progress"
    assert found[0]["response"]["output"] == []
    assert found[0]["response"]["usage"] is None
    last = found[-1]
    assert last["type"] == "response.completed"
    assert last["response"]["id"] == "resp_0003"
    assert last["response"]["output"] == [found[-2]["item"]]
    assert last["response"]["usage"]["total_tokens"] == 12


def test_the_events_of_calls():
    answer = ANSWER._replace(text="", calls=CALLS, stop_reason="tool_use")
    found = payloads(streamed(answer))
    assert [one["type"].removeprefix("response.") for one in found] == [
        "created",
        "in_progress",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    item = {
        "id": "fc_0003_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "c1",
        "name": "add",
        "arguments": '{"a": 1, "b": 2}',
    }
    assert found[2]["item"] == {**item, "status": "in_progress", "arguments": ""}
    assert [one["delta"] for one in found[3:5]] == ['{"a": 1, "b"', ": 2}"]
    assert found[5] == {
        "type": "response.function_call_arguments.done",
        "sequence_number": 5,
        "item_id": "fc_0003_1",
        "output_index": 0,
        "name": "add",
        "arguments": '{"a": 1, "b": 2}',
    }
    assert found[6]["item"] == item
    assert found[7]["output_index"] == 1
    assert found[-1]["response"]["output"] == [item, found[9]["item"]]


def test_a_text_before_calls_is_an_item_of_its_own():
    answer = ANSWER._replace(calls=CALLS, stop_reason="tool_use")
    found = payloads(streamed(answer))
    assert [one["type"] for one in found[-1]["response"]["output"]] == [
        "message",
        "function_call",
        "function_call",
    ]
    assert found[8]["item"]["type"] == "message"
    assert [one["output_index"] for one in found if "item" in one] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("stop_reason", "status", "details"),
    [
        ("end_turn", "completed", None),
        ("stop_sequence", "completed", None),
        ("max_tokens", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
        ("incomplete", "incomplete", None),
    ],
)
def test_the_statuses(stop_reason, status, details):
    answer = ANSWER._replace(stop_reason=stop_reason)
    request, _ = read(Responses(), question(RESPONSES))
    body = Responses().whole(answer, request)
    assert (body["status"], body["incomplete_details"]) == (status, details)
    assert body["output"][0]["status"] == status
    last = payloads(streamed(answer))[-1]
    assert last == {
        "type": f"response.{status}",
        "sequence_number": last["sequence_number"],
        "response": body,
    }


def test_a_response_echoes_what_was_asked():
    tools = TOOLS[RESPONSES]
    request, _ = read(
        Responses(), question(RESPONSES, tools=tools, temperature=0, instructions="be brief")
    )
    body = Responses().whole(ANSWER, request)
    assert (body["tools"], body["temperature"]) == (tools, 0)
    assert (body["instructions"], body["tool_choice"]) == ("be brief", "auto")


def test_a_conversation_is_read():
    body = question(RESPONSES, instructions="be brief", tools=TOOLS[RESPONSES], store=False)
    body["input"] = [
        {"role": "developer", "content": "and kind"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "b", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "3"},
        {
            "type": "function_call_output",
            "call_id": "d",
            "output": [{"type": "input_text", "text": "4"}, {"type": "input_image"}],
        },
    ]
    request, notes = read(Responses(), body)
    assert notes.malformed == []
    assert request.messages == (
        Message("system", "be brief"),
        Message("system", "and kind"),
        Message("user", "a"),
        Message("assistant", other=("reasoning",)),
        Message("assistant", "b"),
        Message("assistant", tool_calls=(ToolCall("c", "add", "{}"),)),
        Message("tool", tool_results=(ToolResult("c", "3"),)),
        Message("tool", tool_results=(ToolResult("d", "4"),), other=("input_image",)),
    )
    assert request.offered == ("add",)
    assert not request.stored


def test_a_text_alone_is_the_users():
    request, notes = read(Responses(), question(RESPONSES, input="hi"))
    assert (request.messages, notes.malformed) == ((Message("user", "hi"),), [])


def test_a_stored_response_is_the_beginning_of_the_next():
    dialect = Responses()
    request, _ = read(dialect, question(RESPONSES, input="hi", instructions="only once"))
    dialect.keep(ANSWER._replace(calls=CALLS[:1]), request)
    output = {"type": "function_call_output", "call_id": "c1", "output": "3"}
    body = question(RESPONSES, input=[output], previous_response_id="resp_0003")
    request, notes = read(dialect, body)
    assert notes.malformed == []
    assert request.messages == (
        Message("user", "hi"),
        Message("assistant", "One moment, please"),
        Message("assistant", tool_calls=CALLS[:1]),
        Message("tool", tool_results=(ToolResult("c1", "3"),)),
    )


def test_stored_items_can_be_referred_to():
    dialect = Responses()
    request, _ = read(dialect, question(RESPONSES))
    dialect.keep(ANSWER._replace(calls=CALLS), request)
    references = [{"type": "item_reference", "id": "fc_0003_2"}, {"id": "msg_0003"}]
    request, notes = read(dialect, question(RESPONSES, input=references))
    assert notes.malformed == []
    assert request.messages == (
        Message("assistant", tool_calls=(CALLS[1],)),
        Message("assistant", "One moment, please"),
    )


def test_what_is_not_stored_cannot_be_referred_to():
    dialect = Responses()
    request, _ = read(dialect, question(RESPONSES, store=False))
    dialect.keep(ANSWER, request)
    body = question(RESPONSES, previous_response_id="resp_0003", input=[{"id": "msg_0003"}])
    _, notes = read(dialect, body)
    assert notes.malformed == [
        "previous_response_id: received 'resp_0003'; no such response is stored",
        "input[0].id: no item 'msg_0003' is stored",
    ]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"input": None}, "input: expected a list, received null"),
        ({"input": []}, "input: expected at least one item, received none"),
        (
            {"input": [{"role": "tool", "content": "x"}]},
            "input[0].role: received 'tool'; allowed: assistant, developer, system or user",
        ),
        (
            {"input": [{"type": "function_call_output", "call_id": "c"}]},
            "input[0].output: expected a text or a list of parts, received null",
        ),
        (
            {"input": [{"type": "function_call", "name": "a", "arguments": "{}"}]},
            "input[0].call_id: expected a text, received null",
        ),
        (
            {"tools": [{"type": "function", "name": "a.b"}]},
            "tools[0].name: received 'a.b'; allowed: 1 to 64 letters of ASCII, digits, _ and -",
        ),
    ],
)
def test_what_the_provider_would_refuse(change, complaint):
    _, notes = read(Responses(), question(RESPONSES) | change)
    assert notes.malformed == [complaint]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"background": True}, "background: a script has no place for it"),
        ({"conversation": "conv_1"}, "conversation: a script has no place for it"),
        ({"prompt": {"id": "p"}}, "prompt: a script has no place for it"),
        (
            {"input": [{"type": "computer_call", "id": "x"}]},
            "input[0].type: 'computer_call' is no part of a script",
        ),
    ],
)
def test_what_a_script_cannot_play(change, sentence):
    _, notes = read(Responses(), question(RESPONSES) | change)
    assert notes.unsupported == [sentence]
