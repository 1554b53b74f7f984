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
    TurnAssembler,
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
    StreamFault,
    TextDelta,
    ToolCallDelta,
    UsageReported,
)

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

USAGE = ModelUsage(7, 3)
INFINITY = float("inf")


class Verbose(TextDelta):
    """An event with room for more than the six kinds have."""


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

    return asyncio.run(TurnAssembler().assemble(stream()))


def rejection(events):
    with pytest.raises(ModelError) as caught:
        assembled(events)
    assert caught.value.error_class is ModelErrorClass.PROTOCOL
    assert str(caught.value) == f"protocol: {caught.value.fault}"
    return caught.value.fault


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
    ("fault", "events"),
    [
        (
            StreamFault.SEQUENCE,
            [TextDelta(1, 0, "a"), StreamCompleted(2, StopReason.END_TURN, USAGE)],
        ),
        (
            StreamFault.SEQUENCE,
            [TextDelta(0, 0, "a"), StreamCompleted(2, StopReason.END_TURN, USAGE)],
        ),
        (StreamFault.SEQUENCE, [TextDelta(0, 0, "a"), TextDelta(0, 0, "b")]),
        (StreamFault.SEQUENCE, [StreamCompleted(1, StopReason.END_TURN, USAGE)]),
        (StreamFault.TERMINAL, []),
        (StreamFault.TERMINAL, numbered(text(0, "a"))),
        (StreamFault.TERMINAL, numbered(text(0, "a"), usage(1))),
        (StreamFault.TERMINAL, numbered(done(), done())),
        (StreamFault.TERMINAL, numbered(done(), usage(1))),
        (StreamFault.TERMINAL, numbered(done(), text(0, "late"))),
        (StreamFault.TERMINAL, numbered(failed(ModelErrorClass.TRANSIENT), done())),
        (StreamFault.TERMINAL, numbered(done(), failed(ModelErrorClass.TRANSIENT))),
        (StreamFault.ITEM_ORDER, numbered(text(0, "a"), text(1, "b"), text(0, "c"), done())),
        (StreamFault.ITEM_ORDER, numbered(text(1, "a"), text(0, "b"), done())),
        (StreamFault.ITEM_ORDER, numbered(text(0, "a"), reasoning(0, "b"), done())),
        (StreamFault.ITEM_ORDER, numbered(text(0, "a"), call(0, "{}"), done())),
        (StreamFault.ITEM_ORDER, numbered(call(1, "{"), call(2, "{}", "c2"), call(1, "}"), done())),
        (StreamFault.CALL_IDENTITY, numbered(call(0, "{"), call(0, "}", "c2"), done())),
        (
            StreamFault.CALL_IDENTITY,
            numbered(call(0, "{"), call(0, "}", "c1", "demo.other"), done()),
        ),
        (StreamFault.USAGE, [StreamCompleted(0, StopReason.END_TURN, None)]),
        (StreamFault.USAGE, [StreamCompleted(0, StopReason.END_TURN, (7, 3, 0))]),
        (StreamFault.USAGE, [StreamCompleted(0, StopReason.END_TURN, ModelUsage(-1, 3))]),
        (StreamFault.USAGE, [StreamCompleted(0, StopReason.END_TURN, ModelUsage(7, 3, -1))]),
        (StreamFault.USAGE, [StreamCompleted(0, StopReason.END_TURN, ModelUsage(7.5, 3))]),
        (StreamFault.USAGE, [StreamCompleted(0, StopReason.END_TURN, ModelUsage(True, 3))]),
        (StreamFault.USAGE, [StreamFailed(0, ModelErrorClass.TRANSIENT, None, None)]),
        (StreamFault.USAGE, [UsageReported(0, ModelUsage(1, -2))]),
        (StreamFault.USAGE, [UsageReported(0, {"input_tokens": 1})]),
        (StreamFault.FOREIGN_CONTENT, [StreamFailed(0, "401: key sk-1 is wrong", None, USAGE)]),
        (StreamFault.FOREIGN_CONTENT, [StreamFailed(0, "transient", None, USAGE)]),
        (StreamFault.FOREIGN_CONTENT, [StreamFailed(0, ModelErrorClass.TRANSIENT, "soon", USAGE)]),
        (StreamFault.FOREIGN_CONTENT, [StreamFailed(0, ModelErrorClass.TRANSIENT, -1, USAGE)]),
        (
            StreamFault.FOREIGN_CONTENT,
            [StreamFailed(0, ModelErrorClass.TRANSIENT, INFINITY, USAGE)],
        ),
        (StreamFault.FOREIGN_CONTENT, [StreamCompleted(0, "because", USAGE)]),
        (StreamFault.FOREIGN_CONTENT, [TextDelta(0, 0, b"bytes")]),
        (StreamFault.FOREIGN_CONTENT, [TextDelta(0, 0.0, "a")]),
        (StreamFault.FOREIGN_CONTENT, [TextDelta("0", 0, "a")]),
        (StreamFault.FOREIGN_CONTENT, [ToolCallDelta(0, 0, "c1", None, "{}")]),
        (StreamFault.FOREIGN_CONTENT, [Verbose(0, 0, "a")]),
        (StreamFault.FOREIGN_CONTENT, [{"sequence": 0, "error": "Authorization: Bearer x"}]),
    ],
)
def test_a_stream_that_breaks_an_invariant_is_rejected_by_its_name(fault, events):
    assert rejection(events) is fault


@pytest.mark.parametrize("fault", StreamFault)
def test_a_fault_is_a_code_of_ours(fault):
    assert fault.startswith("stream.")


def test_a_fault_shows_nothing_of_the_stream():
    with pytest.raises(ModelError) as caught:
        assembled([StreamFailed(0, "401: key sk-1 is wrong", None, USAGE)])
    assert "sk-1" not in repr((caught.value, vars(caught.value)))


def test_an_attempt_that_is_cut_off_can_tell_what_had_arrived():
    assembler = TurnAssembler()
    assembler.accept(ReasoningDelta(0, 0, ""))
    assert (assembler.had_output, assembler.reported_usage) == (False, ModelUsage())
    assembler.accept(UsageReported(1, ModelUsage(5, 2)))
    assert (assembler.had_output, assembler.reported_usage) == (False, ModelUsage(5, 2))
    assembler.accept(TextDelta(2, 1, "a"))
    assert assembler.had_output
    assembler.accept(TextDelta(3, 1, ""))
    assert assembler.had_output


def test_a_call_without_arguments_yet_is_output():
    assembler = TurnAssembler()
    assembler.accept(ToolCallDelta(0, 0, "c1", "demo.tool", ""))
    assert assembler.had_output


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
    assert rejection(events) is StreamFault.DUPLICATE_CALL_ID


@pytest.mark.parametrize("bad", ["", "a\0b", "a\nb", "\ud800", "a\u200bb", "x" * 257])
def test_identifiers_are_printable_and_bounded(bad):
    assert MAXIMUM_IDENTIFIER_CHARACTERS == 256
    assert rejection(numbered(call(0, "{}", bad), done())) is StreamFault.BAD_IDENTIFIER
    assert rejection(numbered(call(0, "{}", "c1", bad), done())) is StreamFault.BAD_IDENTIFIER
    assert assembled(numbered(call(0, "{}", "x" * 256, "y" * 256), done())).tool_calls


def test_the_number_of_calls_is_bounded():
    calls = [call(i, "{}", f"c{i}") for i in range(MAXIMUM_CALLS + 1)]
    assert len(assembled(numbered(*calls[:-1], done())).tool_calls) == MAXIMUM_CALLS
    assert rejection(numbered(*calls, done())) is StreamFault.TOO_MANY_CALLS


@pytest.mark.parametrize("make", [text, reasoning])
def test_text_has_a_utf_8_form(make):
    assert rejection(numbered(make(0, "a\ud83d"), done())) is StreamFault.NOT_UNICODE


@pytest.mark.parametrize("make", [text, reasoning, call])
def test_the_size_of_a_turn_is_bounded(make):
    half = "a" * (MAXIMUM_TURN_CHARACTERS // 2)
    assert assembled(numbered(make(0, half), make(0, half), done()))
    fault = rejection(numbered(make(0, half), make(0, half), make(0, "b"), done()))
    assert fault is StreamFault.TOO_LONG


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
            await TurnAssembler().assemble(stream())
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
    noticed = {StreamFault.SEQUENCE, StreamFault.TERMINAL}
    assert rejection(events[:victim] + events[victim + 1 :]) in noticed
    assert rejection(events[: victim + 1] + events[victim:]) in noticed
