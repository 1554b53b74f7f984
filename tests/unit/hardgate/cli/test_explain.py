"""`hardgate explain`: one run, from its input to its checks."""

import pytest

from hardgate.cases.record import MissingToolResult, ObservedEvent, ObservedItem
from hardgate.cli import explain as command
from hardgate.subjects.port import SubjectError
from tests.unit.hardgate.cli.samples import RECORD, FakeSubject, answer, edit, write

CALL = RECORD.tool_calls[0]


def explained(hardgate, capsys, subject=None, words="explain greeting"):
    code = hardgate(words, subject or FakeSubject())
    return code, capsys.readouterr().out.splitlines()


def test_the_whole_of_a_run_that_passes(hardgate, capsys):
    code, lines = explained(hardgate, capsys)
    assert code == 0
    passing = [line for line in lines if line.startswith("   pass ")]
    assert lines[: lines.index(passing[0])] == [
        "PASS greeting (milestone 1): evals/cases/01_greeting.yaml",
        "principal eval.standard, policy profile eval.default",
        "input: Say hello",
        "",
        "events (6); >> marks where a check diverged",
        "   1 run.started",
        "   2 model.response.completed step_number=1",
        '     [turn 1] the model calls math.calculate {"expression": "1 + 1"} (c1)',
        "   3 tool.call.completed call_id=c1 reason_code=tool.succeeded",
        "   5 model.response.completed step_number=2",
        "     [turn 2] the model answers: hello",
        "   6 assistant.message.completed text=Hello!",
        "   7 run.completed",
        "",
        "tool calls (1)",
        '   math.calculate (c1) {"expression": "1 + 1"}',
        "     step 1, SUCCEEDED, tool.succeeded, started, no effect watermark",
        "",
        "ending: COMPLETED; 2 steps, 2 model calls, 1 tool call",
        "   Hello!",
        "",
        f"checks ({len(passing)} of {len(passing)} pass)",
    ]
    assert "   pass final_text_contains evals/cases/01_greeting.yaml:8" in passing


def test_what_failed_is_marked_where_it_diverged(hardgate, capsys):
    wrong = RECORD._replace(final_text="Good bye")
    code, lines = explained(hardgate, capsys, FakeSubject(wrong))
    assert code == 1
    assert lines[0].startswith("FAIL greeting")
    assert ">> 6 assistant.message.completed text=Hello!" in lines
    marked = lines.index(">> FAIL final_text_contains evals/cases/01_greeting.yaml:8")
    assert lines[marked + 1 : marked + 4] == [
        "     expected: hello",
        "     observed: Good bye",
        "     missing: hello",
    ]
    assert sum(line.startswith(">>") for line in lines) == 2


def test_effects_refusals_and_inventions_are_told(hardgate, capsys):
    calls = (
        CALL._replace(effect_sent=True),
        CALL._replace(
            arguments=None, reason_code=None, started=False, malformed=True, invented=True
        ),
    )
    _, lines = explained(hardgate, capsys, FakeSubject(RECORD._replace(tool_calls=calls)))
    assert "     step 1, SUCCEEDED, tool.succeeded, started, effect watermark set" in lines
    assert "   math.calculate (c1) no JSON object" in lines
    assert (
        "     step 1, SUCCEEDED, no reason code, never started, no effect watermark, "
        "malformed arguments, no such tool in the session"
    ) in lines


def test_the_conversation_is_shown_with_its_labels(hardgate, capsys):
    record = RECORD._replace(
        items=(
            ObservedItem("user_message", "user"),
            ObservedItem("tool_result", "external_untrusted", True, "math.calculate", "c1"),
        ),
        untrusted=True,
        private=True,
        blocked_sends=2,
        metrics={"policy.denied": 3},
    )
    _, lines = explained(hardgate, capsys, FakeSubject(record))
    at = lines.index("conversation (2 pieces), with its labels")
    assert lines[at + 1 : at + 3] == [
        "   user_message: user",
        "   tool_result math.calculate c1: external_untrusted, private",
    ]
    for fact in ("untrusted: true", "private: true", "blocked_sends: 2"):
        assert f"   {fact}" in lines
    assert '   metrics: {"policy.denied": 3}' in lines


def test_what_cut_a_run_short_is_told(hardgate, capsys):
    record = RECORD._replace(
        terminal_status="FAILED",
        failure_reason="budget_exceeded",
        exceeded="output_tokens",
        messages_sent=3,
        missing_tool_results=(MissingToolResult("math.calculate", "a" * 64, 2),),
        limits_hit=("events",),
    )
    _, lines = explained(hardgate, capsys, FakeSubject(record))
    at = lines.index(
        "ending: FAILED (budget_exceeded); 2 steps, 2 model calls, 1 tool call, 3 messages"
    )
    assert lines[at + 2 : at + 5] == [
        "   exceeded: output_tokens",
        f"   no recorded result: math.calculate {'a' * 64}",
        "   limit reached: events",
    ]


ARMS = """\
name: greeting
milestone: 1
input: {text: Say hello}
arms:
  - name: short
    model_fixture: greeting
    expected: {final_text_contains: [hello]}
  - name: long
    model_fixture: greeting
    expected: {final_text_contains: [good day]}
"""


def test_each_arm_of_a_case_has_its_own_run(workspace, hardgate, capsys):
    write(workspace, "evals/cases/01_greeting.yaml", ARMS)
    code, lines = explained(hardgate, capsys)
    assert code == 1
    assert [line for line in lines if line.startswith("arm ")] == ["arm short", "arm long"]
    assert lines.count("events (6); >> marks where a check diverged") == 2
    assert sum(line.startswith(">> 6 assistant") for line in lines) == 1
    assert ">> FAIL final_text_contains evals/cases/01_greeting.yaml:10" in lines


def test_several_messages(workspace, hardgate, capsys):
    edit(workspace, "evals/cases/01_greeting.yaml", "{text: Say hello}", "{turns: [One, Two]}")
    _, lines = explained(hardgate, capsys, FakeSubject(RECORD._replace(messages_sent=2)))
    assert lines[2:4] == ["input: One", "input: Two"]


def test_turns_that_were_not_played_are_shown_as_such(hardgate, capsys):
    record = RECORD._replace(turns_consumed=1, events=RECORD.events[:3])
    code, lines = explained(hardgate, capsys, FakeSubject(record))
    assert code == 1
    assert "   [turn 2, not played] the model answers: hello" in lines


def test_a_subject_without_events_of_answers_shows_its_turns_all_the_same(hardgate, capsys):
    record = RECORD._replace(events=(ObservedEvent(1, "started", {}),))
    _, lines = explained(hardgate, capsys, FakeSubject(record))
    assert "   [turn 2] the model answers: hello" in lines


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        ("{kind: error, error_class: timeout}", "the model fails: timeout"),
        ('{kind: final, text: "a\\nb\\u202e"}', "the model answers: a\\nb\\u202e"),
    ],
)
def test_turns_in_words(turn, says, workspace, hardgate, capsys):
    edit(workspace, "evals/fixtures/models/greeting.yaml", "- kind: final\n    text: hello",
         f"- {turn}")  # fmt: skip
    _, lines = explained(hardgate, capsys)
    assert f"     [turn 2] {says}" in lines


def test_a_pending_case_can_be_explained(hardgate, capsys):
    assert explained(hardgate, capsys, words="explain wave")[0] == 0


def test_a_failed_run_names_its_reason(hardgate, capsys):
    record = RECORD._replace(
        terminal_status="FAILED", failure_reason="max_steps_exceeded", final_text=None
    )
    _, lines = explained(hardgate, capsys, FakeSubject(record))
    ending = lines.index("ending: FAILED (max_steps_exceeded); 2 steps, 2 model calls, 1 tool call")
    assert lines[ending + 1] == "   no final answer"


def test_a_subject_that_gives_no_record(hardgate, capsys):
    code, lines = explained(hardgate, capsys, FakeSubject(SubjectError("no model")))
    assert code == 1
    assert "ending: the subject gave no record" in lines
    assert ">> evals/cases/01_greeting.yaml:1: subject.error: no model" in lines


def test_long_logs_and_hostile_texts_stay_readable(hardgate, capsys):
    events = tuple(
        ObservedEvent(number, "noise\x1b[2J", {"text": "x" * 5000}) for number in range(1, 1500)
    )
    record = RECORD._replace(events=events, final_text="one\ntwo\x1b[2J")
    _, lines = explained(hardgate, capsys, FakeSubject(record))
    assert "   ... 499 more, all in --json" in lines
    assert max(map(len, lines)) < 500
    assert not any("\x1b" in line for line in lines)
    assert "   two\\x1b[2J" in lines


def test_json_has_all_of_it(hardgate, capsys):
    wrong = RECORD._replace(final_text="Good bye")
    assert hardgate("explain greeting --json", FakeSubject(wrong)) == 1
    found = answer(capsys)
    assert found["ok"] is False
    assert found["case"] == {
        "name": "greeting",
        "path": "evals/cases/01_greeting.yaml",
        "milestone": 1,
    }
    (run,) = found["runs"]
    assert (run["arm"], run["messages"], run["conversation"]) == (None, ["Say hello"], None)
    assert [event["sequence"] for event in run["events"] if event["around"]] == [6]
    assert [event.get("turn") for event in run["events"]] == [None, 1, None, 2, None, None]
    assert [(turn["kind"], turn["played"]) for turn in run["model_turns"]] == [
        ("tool_calls", True),
        ("final", True),
    ]
    assert run["tool_calls"][0]["effect_sent"] is False
    assert run["ending"]["status"] == "COMPLETED"
    assert "metrics" not in run["ending"]
    assert [one["name"] for one in found["checks"] if one["outcome"] == "fail"] == [
        "final_text_contains"
    ]


@pytest.mark.parametrize(
    ("word", "complaint"),
    [("greting", "did you mean 'greeting'?"), ("zz", "there is: farewell, greeting, wave")],
)
def test_an_unknown_case(word, complaint, hardgate, capsys):
    assert hardgate(f"explain {word}", FakeSubject()) == 2
    assert f"found no case '{word}'" in (err := capsys.readouterr().err)
    assert complaint in err


def test_a_broken_case(workspace, hardgate, capsys):
    edit(workspace, "evals/fixtures/models/greeting.yaml", "kind: final", "kind: finale")
    assert hardgate("explain greeting", FakeSubject()) == 4
    assert "evals/fixtures/models/greeting.yaml:4:11: schema.value" in capsys.readouterr().err


def test_the_verdict_is_judged_without_a_look_at_the_network(hardgate, capsys, monkeypatch):
    from hardgate.verdicts.network import NetworkProof

    on = NetworkProof(False, ("interface eth0 is up",), (), "network_on", "the network is on")
    monkeypatch.setattr(command, "prove", lambda: on)
    assert explained(hardgate, capsys)[0] == 0
