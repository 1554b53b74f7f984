"""Chat Completions: what is read of requests, and answers to the byte."""

import json

import pytest

from hardgate.wire.conversation import Answer, Message, ToolCall, ToolResult
from hardgate.wire.openai_chat import ChatCompletions
from tests.unit.hardgate.wire.samples import CHAT, TOOLS, question, read

CALLS = (ToolCall("c1", "add", '{"a": 1, "b": 2}'), ToolCall("c2", "add", "{no"))
ANSWER = Answer(3, "gpt-x", "One moment, please", (), "end_turn", 5, 7)
HEAD = (
    '{"id": "chatcmpl-0003", "object": "chat.completion.chunk", "created": 1767225600, '
    '"model": "gpt-x", "service_tier": "default", "system_fingerprint": "fp_scripted", '
)


def streamed(answer, **options):
    request, _ = read(ChatCompletions(), question(CHAT, **options))
    events = list(ChatCompletions().stream(answer, request))
    return [event.data.decode() for event in events], [event.stage for event in events]


def choice(delta, reason="null"):
    return (
        f'data: {HEAD}"choices": [{{"index": 0, "delta": {delta}, "logprobs": null, '
        f'"finish_reason": {reason}}}]'
    )


def test_a_streamed_text_to_the_byte():
    data, stages = streamed(ANSWER)
    assert data == [
        choice('{"role": "assistant", "content": "", "refusal": null}') + "}\n\n",
        choice('{"content": "One moment, "}') + "}\n\n",
        choice('{"content": "please"}') + "}\n\n",
        choice("{}", '"stop"') + "}\n\n",
        "data: [DONE]\n\n",
    ]
    assert stages == ["opening", "text", "text", "closing", "closing"]


def test_streamed_calls_to_the_byte():
    data, _ = streamed(ANSWER._replace(text="", calls=CALLS, stop_reason="tool_use"))
    deltas = [
        '{"role": "assistant", "content": null, "refusal": null}',
        '{"tool_calls": [{"index": 0, "id": "c1", "type": "function", '
        '"function": {"name": "add", "arguments": ""}}]}',
        r'{"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\": 1, \"b\""}}]}',
        r'{"tool_calls": [{"index": 0, "function": {"arguments": ": 2}"}}]}',
        '{"tool_calls": [{"index": 1, "id": "c2", "type": "function", '
        '"function": {"name": "add", "arguments": ""}}]}',
        '{"tool_calls": [{"index": 1, "function": {"arguments": "{no"}}]}',
    ]
    assert data[:-2] == [choice(delta) + "}\n\n" for delta in deltas]
    assert data[-2:] == [choice("{}", '"tool_calls"') + "}\n\n", "data: [DONE]\n\n"]


def test_a_stream_tells_the_usage_only_if_asked():
    data, _ = streamed(ANSWER, stream_options={"include_usage": True})
    assert all(one.endswith('"usage": null}\n\n') for one in data[:-2])
    last = json.loads(data[-2].removeprefix("data: "))
    assert last["choices"] == []
    assert last["usage"]["prompt_tokens"] == 5
    assert last["usage"]["completion_tokens"] == 7
    assert last["usage"]["total_tokens"] == 12
    assert all("usage" not in one for one in streamed(ANSWER)[0])


def test_a_whole_answer():
    request, _ = read(ChatCompletions(), question(CHAT))
    body = ChatCompletions().whole(ANSWER, request)
    assert body["object"] == "chat.completion"
    assert body["choices"] == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "One moment, please",
                "refusal": None,
                "annotations": [],
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]


def test_whole_calls():
    request, _ = read(ChatCompletions(), question(CHAT))
    answer = ANSWER._replace(text="", calls=CALLS, stop_reason="tool_use")
    message = ChatCompletions().whole(answer, request)["choices"][0]["message"]
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": call.call_id, "type": "function", "function": {"name": "add", "arguments": text}}
        for call, text in zip(CALLS, ['{"a": 1, "b": 2}', "{no"], strict=True)
    ]


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("incomplete", "length"),
        ("content_filter", "content_filter"),
    ],
)
def test_the_finish_reasons(stop_reason, reason):
    answer = ANSWER._replace(stop_reason=stop_reason)
    request, _ = read(ChatCompletions(), question(CHAT))
    whole = ChatCompletions().whole(answer, request)
    assert whole["choices"][0]["finish_reason"] == reason
    assert f'"finish_reason": "{reason}"' in streamed(answer)[0][-2]


def test_a_conversation_is_read():
    body = question(CHAT, stream=True, tools=TOOLS[CHAT], tool_choice="required", stop="x")
    function = {"name": "add", "arguments": "{}"}
    body["messages"] = [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "3"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
        {"role": "assistant", "content": None, "refusal": "no"},
    ]
    request, notes = read(ChatCompletions(), body)
    assert notes.malformed == []
    assert request.messages == (
        Message("system", "be brief"),
        Message("user", "a\nb"),
        Message("assistant", tool_calls=(ToolCall("c", "add", "{}"),)),
        Message("tool", tool_results=(ToolResult("c", "3"),)),
        Message("user", other=("image_url",)),
        Message("assistant", ""),
    )
    assert (request.stream, request.offered, request.tool_choice) == (True, ("add",), "required")
    assert request.stop == ("x",)
    assert request.parallel_calls


def test_a_named_tool_choice_and_single_calls():
    choice = {"type": "function", "function": {"name": "add"}}
    body = question(CHAT, tool_choice=choice, parallel_tool_calls=False, stop=["a", "b"])
    request, notes = read(ChatCompletions(), body)
    assert notes.malformed == []
    assert (request.tool_choice, request.parallel_calls) == ("add", False)
    assert request.stop == ("a", "b")


def test_unknown_fields_are_noted_at_every_depth():
    body = question(CHAT, mood="good")
    body["messages"] = [{"role": "user", "content": [{"type": "text", "text": "", "x": 1}], "y": 1}]
    _, notes = read(ChatCompletions(), body)
    assert notes.malformed == []
    assert notes.unknown == ("messages[].content[].x", "messages[].y", "mood")


def function_tool(name):
    return [{"type": "function", "function": {"name": name}}]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": None}, "model: expected a text, received null"),
        ({"model": 5}, "model: expected a text, received a number"),
        ({"messages": None}, "messages: expected a list, received null"),
        ({"messages": []}, "messages: expected at least one item, received none"),
        ({"messages": ["hi"]}, "messages[0]: expected an object, received a text"),
        ({"messages": [{"content": "x"}]}, "messages[0].role: expected a text, received null"),
        (
            {"messages": [{"role": "assistent", "content": "x"}]},
            "messages[0].role: received 'assistent'; allowed: assistant, developer, system, tool "
            "or user; did you mean 'assistant'?",
        ),
        (
            {"messages": [{"role": "user", "content": None}]},
            "messages[0].content: expected a text or a list of parts, received null",
        ),
        (
            {"messages": [{"role": "tool", "content": "3"}]},
            "messages[0].tool_call_id: expected a text, received null",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0].content[0].text: expected a text, received null",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function"}]}]},
            "messages[0].tool_calls[0].function: expected an object, received null",
        ),
        ({"stream": "yes"}, "stream: expected true or false, received a text"),
        ({"n": 0}, "n: expected at least 1, received less"),
        ({"n": True}, "n: expected a whole number, received a boolean"),
        ({"stop": [1]}, "stop[0]: expected a text, received a number"),
        ({"tool_choice": "some"}, "tool_choice: received 'some'; allowed: auto, none or required"),
        (
            {"tools": function_tool("math.add")},
            "tools[0].function.name: received 'math.add'; allowed: 1 to 64 letters of ASCII, "
            "digits, _ and -",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "a", "parameters": "{}"}}]},
            "tools[0].function.parameters: expected an object, received a text",
        ),
    ],
)
def test_what_the_provider_would_refuse(change, complaint):
    _, notes = read(ChatCompletions(), question(CHAT) | change)
    assert notes.malformed == [complaint]


@pytest.mark.parametrize(
    ("name", "good"),
    [("a" * 64, True), ("a" * 65, False), ("", False), ("é", False), ("a-_9", True)],
)
def test_tool_names(name, good):
    _, notes = read(ChatCompletions(), question(CHAT, tools=function_tool(name)))
    assert (notes.malformed == []) is good


@pytest.mark.parametrize("field", [{"n": 2}, {"functions": [{}]}, {"function_call": "auto"}])
def test_what_a_script_cannot_play(field):
    _, notes = read(ChatCompletions(), question(CHAT) | field)
    assert [sentence.split(":")[0] for sentence in notes.unsupported] == list(field)


def test_the_number_of_complaints_is_limited():
    _, notes = read(ChatCompletions(), question(CHAT, messages=[1] * 1000))
    assert len(notes.malformed) == 20
