"""The assembler: what it makes of a good stream, and each way a stream can be wrong."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.application.stream_assembler import (
    MAXIMUM_CALLS,
    MAXIMUM_IDENTIFIER_CHARACTERS,
    MAXIMUM_TURN_CHARACTERS,
    assemble,
)
from agent_core.domain.context import ToolCall
from agent_core.domain.model import (
    ModelError,
    ModelErrorClass,
    ModelUsage,
    ReasoningDelta,
    StopReason,
    StreamCompleted,
    StreamFailed,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

USAGE = ModelUsage(7, 3)


def text(item, piece):
    return lambda n: TextDelta(n, item, piece)


def reasoning(item, piece):
    return lambda n: ReasoningDelta(n, item, piece)


def call(item, piece, call_id="c1", name="demo.tool"):
    return lambda n: ToolCallDelta(n, item, call_id, name, piece)


def usage(tokens):
    return lambda n: UsageReported(n, ModelUsage(tokens, tokens))


def done(reason=StopReason.END_TURN):
    return lambda n: StreamCompleted(n, reason, USAGE)


def failed(error_class, retry_after=None):
    return lambda n: StreamFailed(n, error_class, retry_after, USAGE)


def numbered(*parts):
    return [part(n) for n, part in enumerate(parts)]


def assembled(events):
    async def stream():
        for event in events:
            yield event

    return asyncio.run(assemble(stream()))


def rejection(events):
    with pytest.raises(ModelError) as caught:
        assembled(events)
    assert caught.value.error_class is ModelErrorClass.PROTOCOL
    return caught.value.detail


def test_text_reasoning_and_calls_are_joined():
    turn = assembled(
        numbered(
            reasoning(0, "I should "),
            reasoning(0, "compute."),
            text(1, "Let me "),
            text(1, "see."),
            call(2, '{"expression"', "c1", "math.calculate"),
            call(2, ': "1+1"}', "c1", "math.calculate"),
            call(5, "{}", "c2"),
            usage(1),
            done(StopReason.TOOL_USE),
        )
    )
    assert turn.reasoning == "I should compute."
    assert turn.text == "Let me see."
    assert turn.tool_calls == (
        ToolCall("c1", "math.calculate", '{"expression": "1+1"}'),
        ToolCall("c2", "demo.tool", "{}"),
    )
    assert turn.stop_reason is StopReason.TOOL_USE
    assert turn.usage == USAGE
    assert not turn.is_empty


@pytest.mark.parametrize("parts", [(), (text(0, " \n"),), (reasoning(0, "hm"),)])
def test_a_turn_without_text_and_calls_is_empty(parts):
    assert assembled(numbered(*parts, done())).is_empty


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", "1", "null", '{"a": NaN}', "{}{}", '{"\ud800": 1}']
)
def test_arguments_that_are_no_object_are_marked_and_replaced(arguments):
    turn = assembled(numbered(call(0, arguments), call(1, "{}", "c2"), done()))
    assert turn.tool_calls == (
        ToolCall("c1", "demo.tool", "{}", malformed=True),
        ToolCall("c2", "demo.tool", "{}"),
    )


@pytest.mark.parametrize(
    ("rule", "events"),
    [
        ("invariant 1", [TextDelta(1, 0, "a"), StreamCompleted(2, StopReason.END_TURN, USAGE)]),
        ("invariant 1", [TextDelta(0, 0, "a"), StreamCompleted(2, StopReason.END_TURN, USAGE)]),
        ("invariant 1", [TextDelta(0, 0, "a"), TextDelta(0, 0, "b")]),
        ("invariant 1", [StreamCompleted(1, StopReason.END_TURN, USAGE)]),
        ("invariant 2", []),
        ("invariant 2", numbered(text(0, "a"))),
        ("invariant 2", numbered(text(0, "a"), usage(1))),
        ("invariant 2", numbered(done(), done())),
        ("invariant 2", numbered(done(), usage(1))),
        ("invariant 2", numbered(done(), text(0, "late"))),
        ("invariant 2", numbered(failed(ModelErrorClass.TRANSIENT), done())),
        ("invariant 2", numbered(done(), failed(ModelErrorClass.TRANSIENT))),
        ("invariant 3", numbered(text(0, "a"), text(1, "b"), text(0, "c"), done())),
        ("invariant 3", numbered(text(1, "a"), text(0, "b"), done())),
        ("invariant 3", numbered(text(0, "a"), reasoning(0, "b"), done())),
        ("invariant 3", numbered(text(0, "a"), call(0, "{}"), done())),
        ("invariant 3", numbered(call(1, "{"), call(2, "{}", "c2"), call(1, "}"), done())),
        ("invariant 4", numbered(call(0, "{"), call(0, "}", "c2"), done())),
        ("invariant 4", numbered(call(0, "{"), call(0, "}", "c1", "demo.other"), done())),
    ],
)
def test_a_stream_that_breaks_an_invariant_is_rejected_by_its_number(rule, events):
    assert rejection(events).startswith(f"{rule}: ")


def test_the_usage_of_the_terminal_event_counts():
    assert assembled(numbered(usage(99), text(0, "a"), usage(50), done())).usage == USAGE


def test_a_broken_stream_costs_what_it_reported_last():
    with pytest.raises(ModelError) as caught:
        assembled(numbered(usage(1), usage(5), text(0, "a")))
    assert caught.value.usage == ModelUsage(5, 5)


@pytest.mark.parametrize("error_class", ModelErrorClass)
def test_the_providers_failure_is_passed_on(error_class):
    with pytest.raises(ModelError) as caught:
        assembled(numbered(text(0, "partial"), failed(error_class, 2.5)))
    error = caught.value
    assert (error.error_class, error.retry_after_seconds, error.usage) == (error_class, 2.5, USAGE)
    assert str(error) == error_class


def test_call_ids_of_one_turn_differ():
    events = numbered(call(0, "{}"), call(1, "{}", "c1", "demo.other"), done())
    assert rejection(events) == "two calls of one turn have the same call_id"


@pytest.mark.parametrize("bad", ["", "a\0b", "a\nb", "\ud800", "a\u200bb", "x" * 257])
def test_identifiers_are_printable_and_bounded(bad):
    assert MAXIMUM_IDENTIFIER_CHARACTERS == 256
    assert rejection(numbered(call(0, "{}", bad), done()))
    assert rejection(numbered(call(0, "{}", "c1", bad), done()))
    assert assembled(numbered(call(0, "{}", "x" * 256, "y" * 256), done())).tool_calls


def test_the_number_of_calls_is_bounded():
    calls = [call(i, "{}", f"c{i}") for i in range(MAXIMUM_CALLS + 1)]
    assert len(assembled(numbered(*calls[:-1], done())).tool_calls) == MAXIMUM_CALLS
    assert rejection(numbered(*calls, done())) == "bound: a turn has at most 64 calls"


@pytest.mark.parametrize("make", [text, reasoning])
def test_text_has_a_utf_8_form(make):
    assert "lone surrogate" in rejection(numbered(make(0, "a\ud83d"), done()))


@pytest.mark.parametrize("make", [text, reasoning, call])
def test_the_size_of_a_turn_is_bounded(make):
    half = "a" * (MAXIMUM_TURN_CHARACTERS // 2)
    assert assembled(numbered(make(0, half), make(0, half), done()))
    detail = rejection(numbered(make(0, half), make(0, half), make(0, "b"), done()))
    assert detail == "bound: a turn has at most 1048576 characters"


def test_a_rejected_stream_is_closed():
    closed = []

    async def stream():
        try:
            yield TextDelta(5, 0, "a")
            yield TextDelta(6, 0, "b")
        finally:
            closed.append(True)

    async def rejected():
        with pytest.raises(ModelError):
            await assemble(stream())
        return list(closed)  # before the event loop ends, which closes what is left

    assert asyncio.run(rejected()) == [True]


PIECES = st.lists(st.text(max_size=5), max_size=4)
OBJECTS = st.dictionaries(st.text(max_size=3), st.integers(), max_size=3).map(json.dumps)


@given(PIECES, PIECES, st.lists(st.tuples(OBJECTS, st.integers(1, 7)), max_size=4))
def test_however_a_turn_is_cut_into_pieces_it_is_the_same_turn(thoughts, words, calls):
    parts = [reasoning(0, piece) for piece in thoughts] + [text(1, piece) for piece in words]
    for index, (arguments, width) in enumerate(calls, 2):
        cuts = [arguments[i : i + width] for i in range(0, len(arguments), width)]
        parts += [call(index, piece, f"c{index}") for piece in cuts]
    turn = assembled(numbered(*parts, done()))
    assert turn.text == "".join(words)
    assert turn.reasoning == "".join(thoughts)
    assert turn.tool_calls == tuple(
        ToolCall(f"c{index}", "demo.tool", arguments)
        for index, (arguments, _) in enumerate(calls, 2)
    )


@given(st.lists(st.sampled_from(["text", "call", "usage"]), min_size=1, max_size=6), st.data())
def test_dropping_or_repeating_any_event_is_noticed(kinds, data):
    make = {"text": text, "call": call, "usage": lambda item, piece: usage(item)}
    parts = [make[kind](i, "{}") for i, kind in enumerate(kinds)]
    parts = [
        call(i, "{}", f"c{i}") if kind == "call" else part
        for i, (kind, part) in enumerate(zip(kinds, parts, strict=True))
    ]
    events = numbered(*parts, done())
    assert assembled(events)
    victim = data.draw(st.integers(0, len(events) - 1))
    assert rejection(events[:victim] + events[victim + 1 :]).startswith("invariant")
    assert rejection(events[: victim + 1] + events[victim:]).startswith("invariant")
