"""`hardgate explain`: one run, from its input to its checks."""

import pytest

from hardgate.cases.record import ObservedEvent
from hardgate.cli import explain as command
from hardgate.subjects.port import SubjectError
from tests.unit.hardgate.cli.samples import RECORD, FakeSubject, answer, edit

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
        "input: Say hello",
        "",
        "events (6); >> marks where a check diverged",
        "   1 run.started",
        "   2 model.response.completed step_number=1",
        '     [turn 1] model calls: math.calculate {"expression": "1 + 1"} (c1)',
        "   3 tool.call.completed call_id=c1 reason_code=tool.succeeded",
        "   5 model.response.completed step_number=2",
        "     [turn 2] model answers: hello",
        "   6 assistant.message.completed text=Hello!",
        "   7 run.completed",
        "",
        "tool calls (1)",
        '   math.calculate (c1) {"expression": "1 + 1"}',
        "     step 1, SUCCEEDED, tool.succeeded, started, no effect",
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
        "     step 1, SUCCEEDED, no reason code, never started, no effect, malformed arguments, "
        "no such tool in the session"
    ) in lines


def test_turns_that_were_not_played_are_shown_as_such(hardgate, capsys):
    record = RECORD._replace(turns_consumed=1, events=RECORD.events[:3])
    code, lines = explained(hardgate, capsys, FakeSubject(record))
    assert code == 1
    assert "   [turn 2, not played] model answers: hello" in lines


def test_a_subject_without_events_of_answers_shows_its_turns_all_the_same(hardgate, capsys):
    record = RECORD._replace(events=(ObservedEvent(1, "started", {}),))
    _, lines = explained(hardgate, capsys, FakeSubject(record))
    assert "   [turn 2] model answers: hello" in lines


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        ("{kind: error, error_class: timeout}", "model fails: timeout"),
        ('{kind: final, text: "a\\nb\\u202e"}', "model answers: a\\nb\\u202e"),
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
    assert [event["sequence"] for event in found["events"] if event["around"]] == [6]
    assert [event.get("turn") for event in found["events"]] == [None, 1, None, 2, None, None]
    assert found["tool_calls"][0]["effect_sent"] is False
    assert found["ending"]["status"] == "COMPLETED"
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
