"""A written script becomes the turns that the runtime's scripted provider plays."""

import json

import pytest

from agent_core.domain.model import ModelErrorClass, ModelUsage, StopReason
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.evals.script import played_turns
from hardgate.fixtures.model_script import load_script


def played(text):
    return played_turns(load_script("evals/fixtures/models/sample.yaml", text.encode()))


def test_every_key_of_every_kind_arrives():
    turns = played("""\
turns:
  - kind: tool_calls
    text: One moment
    calls:
      - {call_id: a, name: math.calculate, arguments: {expression: 1 + 1, deep: {b: [1.5, null]}}}
      - {call_id: b, name: made.up, arguments: "{not json"}
    usage: {input_tokens: 3, output_tokens: 4}
    delay_seconds: 2
  - kind: error
    error_class: rate_limit
    text: Half
    after_bytes: 2
    retry_after_seconds: 1.5
    delay_seconds: 0.25
  - kind: final
    text: Done
    stop_reason: max_tokens
    usage: {input_tokens: 5, output_tokens: 6}
    delay_seconds: 1
""")
    calls = (
        ScriptedToolCall(
            "a", "math.calculate", '{"expression": "1 + 1", "deep": {"b": [1.5, null]}}'
        ),
        ScriptedToolCall("b", "made.up", "{not json"),
    )
    assert turns == (
        ToolCallsTurn(calls, "One moment", ModelUsage(3, 4), 2),
        ErrorTurn(ModelErrorClass.RATE_LIMIT, "Half", 2, 1.5, 0.25),
        FinalTurn("Done", StopReason.MAX_TOKENS, ModelUsage(5, 6), 1),
    )


def test_defaults():
    call = "{call_id: a, name: b, arguments: {}}"
    turns = played(
        f"turns:\n  - {{kind: tool_calls, calls: [{call}]}}\n  - {{kind: final, text: x}}\n"
    )
    assert turns == (ToolCallsTurn((ScriptedToolCall("a", "b", "{}"),)), FinalTurn("x"))


@pytest.mark.parametrize("written", ["caf\u00e9 \u6f22", 'quote " and \\ slash', "17 * 23"])
def test_arguments_read_back_as_they_were_written(written):
    text = json.dumps(
        {
            "turns": [
                {
                    "kind": "tool_calls",
                    "calls": [
                        {"call_id": "a", "name": "b.c", "arguments": {"x": written, "a": [written]}}
                    ],
                }
            ]
        },
        ensure_ascii=False,
    )
    (turn,) = played(text)
    assert json.loads(turn.calls[0].arguments) == {"x": written, "a": [written]}


@pytest.mark.parametrize("name", ["transient", "permanent", "timeout", "protocol", "rate_limit"])
def test_every_error_class_that_may_be_written_can_be_played(name):
    (turn,) = played(f"turns: [{{kind: error, error_class: {name}}}]")
    assert turn.error_class == name


@pytest.mark.parametrize(
    "name", ["end_turn", "max_tokens", "stop_sequence", "content_filter", "incomplete"]
)
def test_every_stop_reason_that_may_be_written_can_be_played(name):
    (turn,) = played(f"turns: [{{kind: final, text: x, stop_reason: {name}}}]")
    assert turn.stop_reason == name
