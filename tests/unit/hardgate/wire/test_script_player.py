"""The player: which turn answers, under which names, and what it refuses."""

import pytest

from hardgate.wire import checks
from hardgate.wire.conversation import Message, ModelRequest, ToolCall, ToolResult
from hardgate.wire.script_player import ScriptPlayer
from tests.unit.hardgate.wire.samples import FakeClock, script_of

CALL = "  - {kind: tool_calls, calls: [{call_id: c1, name: math.add, arguments: {a: 1}}]}\n"
FINAL = "  - {kind: final, text: It is 3.}\n"
LIMITED = "  - {kind: error, error_class: rate_limit, retry_after_seconds: 2}\n"
FAILED = "  - {kind: error, error_class: transient}\n"

USER = Message("user", "hi")
ASKED = ModelRequest("m", False, (USER,), offered=("math_add",))
MADE = Message("assistant", tool_calls=(ToolCall("c1", "math_add", '{"a": 1}'),))
RESULT = Message("tool", tool_results=(ToolResult("c1", "3"),))
ANSWERED = ASKED._replace(messages=(USER, MADE, RESULT))


def player_of(turns, clock=None):
    return ScriptPlayer(script_of(turns), clock or FakeClock())


def rules(player, request):
    return [one.rule for one in player.violations(request, results_follow=True)]


def play(player, request, number=1):
    assert rules(player, request) == []
    return player.play(request, number)


def test_turns_are_played_in_order():
    player = player_of(CALL + FINAL)
    first = play(player, ASKED, 4)
    assert (first.number, first.answer.number, first.answer.stop_reason) == (1, 4, "tool_use")
    second = play(player, ANSWERED, 7)
    assert (second.number, second.answer.number) == (2, 7)
    assert (second.answer.text, second.answer.stop_reason) == ("It is 3.", "end_turn")
    assert (player.turns_consumed, player.turns_total) == (2, 2)


def test_a_request_after_the_last_turn_is_refused_and_shown():
    player = player_of(FINAL)
    play(player, ASKED)
    (violation,) = player.violations(ASKED, results_follow=True)
    assert violation.rule == checks.EXHAUSTED
    assert violation.message.startswith("the script's 1 turn is played;")
    assert violation.message.endswith("behind the user's 'hi'")
    assert (violation.expected, violation.received) == (1, 2)
    (violation,) = player.violations(ANSWERED, results_follow=True)
    assert violation.message.endswith("behind the result of 'c1'")


@pytest.mark.parametrize(
    ("authored", "offered", "sent"),
    [
        ("math.add", ("math_add",), "math_add"),
        ("math.add", ("math.add", "math_add"), "math.add"),
        ("math.add", ("other",), "math.add"),
        ("add", ("add",), "add"),
        ("a.b.c", ("a_b_c",), "a_b_c"),
    ],
)
def test_a_dot_in_a_name_goes_out_as_the_offered_name(authored, offered, sent):
    player = player_of(CALL.replace("math.add", authored))
    played = play(player, ASKED._replace(offered=offered))
    assert [call.name for call in played.answer.calls] == [sent]
    assert played.names == ((authored, sent),)


def test_arguments_go_out_as_json_or_as_they_are_written():
    turns = CALL.replace("{a: 1}", "{z: ä, a: [1]}") + CALL.replace("c1", "c2").replace(
        "{a: 1}", "'{\"a\":1'"
    )
    player = player_of(turns)
    assert play(player, ASKED).answer.calls[0].arguments == '{"z": "ä", "a": [1]}'
    assert play(player, ANSWERED).answer.calls[0].arguments == '{"a":1'


def test_the_results_of_the_turn_before_are_asked_for():
    player = player_of(CALL + FINAL)
    play(player, ASKED)
    assert rules(player, ASKED) == [checks.RESULTS_MISSING]
    wrong = Message("tool", tool_results=(ToolResult("c2", "3"),))
    assert checks.RESULTS_UNKNOWN in rules(player, ANSWERED._replace(messages=(USER, MADE, wrong)))
    assert player.turns_consumed == 1
    play(player, ANSWERED)


def test_an_unpaired_call_of_an_older_turn_is_refused():
    player = player_of(FINAL + FINAL)
    play(player, ASKED)
    assert rules(player, ASKED._replace(messages=(USER, MADE, USER))) == [checks.CALLS_UNPAIRED]


def test_after_an_error_the_same_results_are_asked_for():
    player = player_of(CALL + FAILED + FAILED + FINAL)
    play(player, ASKED)
    for number in (2, 3):
        assert rules(player, ASKED) == [checks.RESULTS_MISSING]
        assert play(player, ANSWERED).number == number
    assert play(player, ANSWERED).answer.text == "It is 3."


def test_an_answer_that_the_agent_did_not_get_leaves_no_calls_to_answer():
    player = player_of(CALL + FINAL)
    played = play(player, ASKED)
    player.take_back(played.number)
    assert play(player, ASKED).number == 2


def test_an_older_answer_cannot_be_taken_back():
    player = player_of(CALL + CALL.replace("c1", "c2") + FINAL)
    first = play(player, ASKED)
    play(player, ANSWERED)
    player.take_back(first.number)
    assert rules(player, ANSWERED) == [checks.RESULTS_MISSING]


def test_a_retry_before_the_named_time_is_refused_and_takes_no_turn():
    clock = FakeClock()
    player = player_of(LIMITED + FINAL, clock)
    play(player, ASKED)
    clock.now += 1.9
    assert rules(player, ASKED) == [checks.RETRIED_EARLY]
    assert player.early_seconds() == pytest.approx(0.1)
    clock.now += 0.06
    assert play(player, ASKED).number == 2
    assert player.early_seconds() == 0


def test_without_a_named_time_a_retry_may_come_at_once():
    player = player_of(LIMITED.replace(", retry_after_seconds: 2", "") + FINAL)
    play(player, ASKED)
    assert play(player, ASKED).number == 2


def test_the_usage_is_the_scripts_or_estimated():
    usage = ", usage: {input_tokens: 11, output_tokens: 13}}\n"
    player = player_of(FINAL.replace("}\n", usage) + CALL)
    told = play(player, ASKED).answer
    assert (told.input_tokens, told.output_tokens) == (11, 13)
    estimated = play(player, ASKED._replace(messages=(Message("user", "x" * 9),))).answer
    assert (estimated.input_tokens, estimated.output_tokens) == (3, 4)


def test_calls_that_come_back_changed_are_told():
    player = player_of(CALL + FINAL)
    play(player, ASKED)
    same = Message("assistant", tool_calls=(ToolCall("c1", "math_add", '{"a":1.0}'),))
    assert player.altered([USER, MADE, same]) == ()
    changed = Message(
        "assistant", tool_calls=(ToolCall("c1", "add", "{"), ToolCall("x", "add", "{}"))
    )
    assert [tuple(one) for one in player.altered([changed])] == [
        ("c1", "name", "math_add", "add"),
        ("c1", "arguments", '{"a": 1}', "{"),
    ]
    assert len(player.altered([changed] * 1000)) == 64
