"""Messages: what is read of requests, and answers to the byte."""

import json

import pytest

from hardgate.wire.anthropic_messages import Messages
from hardgate.wire.conversation import Answer, Message, ToolCall, ToolResult
from tests.unit.hardgate.wire.samples import MESSAGES, TOOLS, question, read

CALLS = (ToolCall("c1", "add", '{"a": 1, "b": 2}'), ToolCall("c2", "add", "{no"))
ANSWER = Answer(3, "claude-x", "One moment, please", (), "end_turn", 5, 7)
START = (
    'event: message_start\ndata: {"type": "message_start", "message": {"id": "msg_0003", '
    '"type": "message", "role": "assistant", "model": "claude-x", "content": [], '
    '"stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 5, '
    '"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1, '
    '"service_tier": "standard"}}}\n\n'
)


def streamed(answer, **fields):
    request, _ = read(Messages(), question(MESSAGES, **fields))
    events = list(Messages().stream(answer, request))
    return [event.data.decode() for event in events], [event.stage for event in events]


def event(payload):
    return f"event: {json.loads(payload)['type']}\ndata: {payload}\n\n"


def test_a_streamed_text_to_the_byte():
    data, stages = streamed(ANSWER)
    delta = '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": '
    assert data == [
        START,
        event(
            '{"type": "content_block_start", "index": 0, '
            '"content_block": {"type": "text", "text": ""}}'
        ),
        event('{"type": "ping"}'),
        event(delta + '"One moment, "}}'),
        event(delta + '"please"}}'),
        event('{"type": "content_block_stop", "index": 0}'),
        event(
            '{"type": "message_delta", "delta": {"stop_reason": "end_turn", '
            '"stop_sequence": null}, "usage": {"output_tokens": 7}}'
        ),
        event('{"type": "message_stop"}'),
    ]
    assert stages == ["opening"] * 3 + ["text"] * 2 + ["closing"] * 3


def test_streamed_calls_to_the_byte():
    data, _ = streamed(ANSWER._replace(text="", calls=CALLS, stop_reason="tool_use"))

    def start(index, call_id):
        return event(
            f'{{"type": "content_block_start", "index": {index}, "content_block": '
            f'{{"type": "tool_use", "id": "{call_id}", "name": "add", "input": {{}}}}}}'
        )

    def delta(index, piece):
        return event(
            f'{{"type": "content_block_delta", "index": {index}, "delta": '
            f'{{"type": "input_json_delta", "partial_json": {json.dumps(piece)}}}}}'
        )

    assert data[:-2] == [
        START,
        start(0, "c1"),
        delta(0, ""),
        delta(0, '{"a": 1, "b"'),
        delta(0, ": 2}"),
        event('{"type": "content_block_stop", "index": 0}'),
        start(1, "c2"),
        delta(1, ""),
        delta(1, "{no"),
        event('{"type": "content_block_stop", "index": 1}'),
    ]
    assert '"stop_reason": "tool_use"' in data[-2]


def test_calls_come_behind_the_text():
    data, _ = streamed(ANSWER._replace(calls=CALLS, stop_reason="tool_use"))
    starts = [json.loads(one.split("data: ")[1]) for one in data if "block_start" in one]
    assert [(one["index"], one["content_block"]["type"]) for one in starts] == [
        (0, "text"),
        (1, "tool_use"),
        (2, "tool_use"),
    ]


def test_a_whole_answer():
    request, _ = read(Messages(), question(MESSAGES))
    assert Messages().whole(ANSWER, request) == {
        "id": "msg_0003",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": "One moment, please"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 7,
            "service_tier": "standard",
        },
    }


@pytest.mark.parametrize(
    ("arguments", "value"),
    [('{"a": 1}', {"a": 1}), ("[1]", [1]), ("{no", "{no"), ("", ""), ("[" * 10_000, "[" * 10_000)],
)
def test_whole_calls_hold_the_value_of_their_arguments_or_their_text(arguments, value):
    request, _ = read(Messages(), question(MESSAGES))
    answer = ANSWER._replace(text="", calls=(ToolCall("c", "add", arguments),))
    assert Messages().whole(answer, request)["content"] == [
        {"type": "tool_use", "id": "c", "name": "add", "input": value}
    ]


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("content_filter", "refusal"),
        ("incomplete", "model_context_window_exceeded"),
    ],
)
def test_the_stop_reasons(stop_reason, reason):
    answer = ANSWER._replace(stop_reason=stop_reason)
    request, _ = read(Messages(), question(MESSAGES, stop_sequences=["END", "x"]))
    body = Messages().whole(answer, request)
    stop_sequence = "END" if reason == "stop_sequence" else None
    assert (body["stop_reason"], body["stop_sequence"]) == (reason, stop_sequence)
    assert f'"stop_reason": "{reason}"' in streamed(answer)[0][-2]


def test_a_conversation_is_read():
    body = question(MESSAGES, stream=True, tools=TOOLS[MESSAGES], tool_choice={"type": "any"})
    body["system"] = [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}]
    body["messages"] = [
        {
            "role": "user",
            "content": [{"type": "image", "source": {}}, {"type": "text", "text": "a"}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "b"},
                {"type": "tool_use", "id": "c", "name": "add", "input": {"a": 1}},
                {"type": "tool_use", "id": "d", "name": "add", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "3"},
                {
                    "type": "tool_result",
                    "tool_use_id": "d",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no"}],
                },
                {"type": "text", "text": "go on"},
            ],
        },
        {"role": "system", "content": "hurry"},
    ]
    request, notes = read(Messages(), body)
    assert notes.malformed == []
    assert request.messages == (
        Message("system", "be brief"),
        Message("user", "a", other=("image",)),
        Message(
            "assistant",
            "b",
            (ToolCall("c", "add", '{"a": 1}'), ToolCall("d", "add", "{}")),
            other=("thinking",),
        ),
        Message("user", "go on", tool_results=(ToolResult("c", "3"), ToolResult("d", "no", True))),
        Message("system", "hurry"),
    )
    assert (request.stream, request.offered, request.tool_choice) == (True, ("add",), "required")


@pytest.mark.parametrize(
    ("choice", "read_as"),
    [
        ({"type": "auto"}, ("auto", True)),
        ({"type": "none"}, ("none", True)),
        ({"type": "tool", "name": "add"}, ("add", True)),
        ({"type": "auto", "disable_parallel_tool_use": True}, ("auto", False)),
        (None, ("auto", True)),
    ],
)
def test_the_tool_choice(choice, read_as):
    request, notes = read(Messages(), question(MESSAGES, tool_choice=choice))
    assert notes.malformed == []
    assert (request.tool_choice, request.parallel_calls) == read_as


def messages_of(*pairs):
    return {"messages": [{"role": role, "content": content} for role, content in pairs]}


RESULT = [{"type": "tool_result", "tool_use_id": "c"}]
USE = [{"type": "tool_use", "id": "c", "name": "add", "input": {}}]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"max_tokens": None}, "max_tokens: expected a whole number, received null"),
        ({"max_tokens": 0}, "max_tokens: expected at least 1, received less"),
        (messages_of(), "messages: expected at least one item, received none"),
        (
            messages_of(("assistant", "a")),
            "messages[0].role: the first message has to be the user's",
        ),
        (
            messages_of(("system", "a"), ("user", "b")),
            "messages[0].role: a system message has to follow one of the user's; the system prompt "
            "stands in the field system",
        ),
        (
            messages_of(("tool", "a")),
            "messages[0].role: received 'tool'; allowed: assistant, system or user",
        ),
        (messages_of(("user", "")), "messages[0].content: a message may not be empty"),
        (
            messages_of(("user", "a"), ("user", RESULT), ("user", USE)),
            "messages[2].content[0].type: tool_use has no place in a message of user",
        ),
        (
            messages_of(("user", "a"), ("assistant", [*RESULT, {"type": "text", "text": "x"}])),
            "messages[1].content[0].type: tool_result has no place in a message of assistant",
        ),
        (
            messages_of(("user", [{"type": "text", "text": "x"}, *RESULT])),
            "messages[0].content[1]: a tool result has to stand before other blocks",
        ),
        (
            messages_of(("user", [{"type": "image", "source": {}}, *RESULT])),
            "messages[0].content[1]: a tool result has to stand before other blocks",
        ),
        (
            messages_of(("user", "a"), ("assistant", [{**USE[0], "input": "{}"}])),
            "messages[1].content[0].input: expected an object, received a text",
        ),
        ({"system": []}, "system: expected at least one item, received none"),
        ({"tools": [{"name": "a"}]}, "tools[0].input_schema: expected an object, received null"),
        (
            {"tools": TOOLS[MESSAGES] * 2},
            "tools[1].name: tool names have to be unique",
        ),
        (
            {"tool_choice": {"type": "required"}},
            "tool_choice.type: received 'required'; allowed: any, auto, none or tool",
        ),
    ],
)
def test_what_the_provider_would_refuse(change, complaint):
    _, notes = read(Messages(), question(MESSAGES) | change)
    assert complaint in notes.malformed
    assert len(notes.malformed) <= 2


def test_the_assistants_last_message_may_be_empty():
    _, notes = read(Messages(), question(MESSAGES) | messages_of(("user", "a"), ("assistant", "")))
    assert notes.malformed == []


def test_the_providers_own_tools_have_no_schema():
    tools = [{"type": "bash_20250124", "name": "bash"}]
    request, notes = read(Messages(), question(MESSAGES, tools=tools))
    assert (request.offered, notes.malformed) == (("bash",), [])


def test_unknown_fields_are_noted_at_every_depth():
    body = question(MESSAGES, mood="good", tools=[{**TOOLS[MESSAGES][0], "x": 1}])
    body["messages"][0]["y"] = 1
    _, notes = read(Messages(), body)
    assert notes.unknown == ("messages[].y", "mood", "tools[].x")
