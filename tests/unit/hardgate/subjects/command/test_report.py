"""The lines that an agent reports, and what is wrong with lines that are none."""

import json
import typing

import pytest

from hardgate.cases import expected
from hardgate.documents import texts
from hardgate.subjects.command import report
from hardgate.subjects.command.report import (
    ReportedAnswer,
    ReportedCapabilities,
    ReportedEffect,
    ReportedEvent,
    ReportedLabel,
    parse_reports,
)

FIRST = b'{"type":"capabilities","reports":["events","effects","labels"]}\n'
EFFECT = {"type": "effect", "call_id": "call_1", "tool": "mail.send"}
LABEL = {"type": "label", "item": "tool_result", "trust": "user"}
EVENT = {"type": "event", "event": "mail.queued", "payload": {}}


def line(value):
    return json.dumps(value).encode() + b"\n"


def problem(second):
    """What is wrong with the second line; the first one is in order and counts."""
    reports, problems = parse_reports(FIRST + second)
    assert len(reports) == 1
    assert len(problems) == 1
    return problems[0]


def test_an_agent_need_not_report():
    assert parse_reports(b"") == ((), ())


def test_every_type_of_report():
    reports, problems = parse_reports(
        FIRST
        + line(EVENT | {"payload": {"to": ["a", None, 1.5]}})
        + line(EFFECT)
        + line(LABEL | {"call_id": "call_1", "private": True})
        + line(LABEL | {"item": "user_message"})
        + line({"type": "answer", "text": "é 42"})
        + line({"type": "answer", "text": ""})
    )
    assert problems == ()
    assert reports == (
        ReportedCapabilities(1, ("events", "effects", "labels")),
        ReportedEvent(2, "mail.queued", {"to": ["a", None, 1.5]}),
        ReportedEffect(3, "call_1", "mail.send"),
        ReportedLabel(4, "tool_result", "user", "call_1", True),
        ReportedLabel(5, "user_message", "user", None, None),
        ReportedAnswer(6, "é 42"),
        ReportedAnswer(7, ""),
    )


@pytest.mark.parametrize("promised", [[], ["labels"], ["effects", "events"]])
def test_an_agent_may_promise_little(promised):
    reports, problems = parse_reports(line({"type": "capabilities", "reports": promised}))
    assert (reports, problems) == ((ReportedCapabilities(1, tuple(promised)),), ())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "found no type; allowed: capabilities, event, effect, label or answer"),
        ({"type": None}, "found no type"),
        ({"type": 7}, "found the type 7"),
        ({"type": ["event"]}, "found the type a list"),
        ({"type": "efect"}, "found the type 'efect'; allowed:"),
        ({"type": "efect"}, "did you mean 'effect'?"),
        (EVENT | {"event": "queued"}, "event: found 'queued'; allowed: a dotted name"),
        (EVENT | {"event": "a.b\n"}, "event: found"),
        (EVENT | {"event": "a." + "b" * 100}, "event: found"),
        (EVENT | {"event": 1}, "event: found 1"),
        (EVENT | {"payload": []}, "payload: found an empty list; allowed: an object"),
        (EFFECT | {"call_id": ""}, "call_id: found ''; allowed: a text of 1 to 200 characters"),
        (EFFECT | {"call_id": "x" * 201}, "call_id: found"),
        (EFFECT | {"tool": None}, "tool: found null"),
        (EFFECT | {"toool": "x"}, "found the key 'toool'; allowed: type, call_id or tool"),
        (EFFECT | {"toool": "x"}, "did you mean 'tool'?"),
        ({"type": "effect", "tool": "x"}, "call_id: found nothing; allowed: a text"),
        (LABEL | {"trust": "trusted"}, "trust: found 'trusted'; allowed: platform, trusted"),
        (LABEL | {"trust": ["user"]}, "trust: found a list"),
        (LABEL | {"item": "Tool Result"}, "item: found 'Tool Result'; allowed: a name such as"),
        (LABEL | {"private": 1}, "private: found 1; allowed: true or false"),
        (LABEL | {"private": None}, "private: found null; allowed: true or false"),
        (LABEL | {"call_id": 5}, "call_id: found 5"),
        ({"type": "answer"}, "text: found nothing"),
        ({"type": "answer", "text": None}, "text: found null; allowed: a text"),
    ],
)
def test_a_value_that_is_not_allowed(value, words):
    text = problem(line(value))
    assert text.startswith("line 2: ")
    assert words in text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\n", "it is no JSON"),
        (b"hello\n", "it is no JSON"),
        (b"[]\n", "expected an object, received a list; allowed: one JSON object in each line"),
        (b'{"type":"answer","text":NaN}\n', "NaN is no JSON"),
        (b'{"type":"event","event":"a.b","payload":{"n":1e999}}\n', "'1e999' is larger"),
        (b'{"type":"answer","text":"a","text":"b"}\n', "the key 'text' stands twice"),
        (b'{"type":"answer","text":"\xff"}\n', "no UTF-8 at byte 25"),
        (b'{"type":"answer","text":"\\ud800"}\n', "half of a surrogate pair"),
        (b"{}" * 40_000 + b"\n", "found 80000 bytes; allowed: at most 65536 in a line"),
        (b'{"a":' * 17 + b"1" + b"}" * 17 + b"\n", "nested deeper than 16 levels"),
        (b'{"a":[' + b"1," * 6000 + b"1]}\n", "more than 5000 values"),
        (b'{"type":"answer","text":"x"}', "line 2: found no line feed at its end"),
    ],
)
def test_a_line_that_is_not_allowed(data, words):
    assert words in problem(data)


def test_everything_wrong_with_a_line_is_told_at_once():
    wrong = {"type": "label", "item": 1, "trust": 2, "private": 3, "level": 4}
    reports, problems = parse_reports(FIRST + line(wrong) + line(EFFECT))
    assert [text.split(" found")[0] for text in problems] == [
        "line 2:",
        "line 2: item:",
        "line 2: trust:",
        "line 2: private:",
    ]
    assert reports[1:] == (ReportedEffect(3, "call_1", "mail.send"),)


@pytest.mark.parametrize(
    "reports", ["events", ["events", "events"], ["answers"], [1], [["events"]], None]
)
def test_a_promise_that_is_none(reports):
    found, problems = parse_reports(line({"type": "capabilities", "reports": reports}))
    assert found == ()
    assert problems[0].startswith("line 1: reports: found")
    assert "allowed: a list of events, effects or labels" in problems[0]


def test_the_promise_comes_first():
    reports, problems = parse_reports(line(EFFECT) + FIRST)
    assert reports == (ReportedEffect(1, "call_1", "mail.send"),)
    allowed = "allowed: capabilities in the first line, and nowhere else"
    assert problems == (
        f"line 1: found effect; {allowed}",
        f"line 2: found capabilities; {allowed}",
    )


def test_the_promise_comes_once():
    assert problem(FIRST).startswith("line 2: found capabilities; allowed:")


def test_the_limits_themselves_are_allowed():
    text = b'{"type":"answer","text":"' + b"x" * (report.LINE_LIMIT_BYTES - 27) + b'"}\n'
    deep = b'{"type":"event","event":"a.b","payload":' + b'{"a":' * 14 + b"1" + b"}" * 15 + b"\n"
    many = line(EFFECT | {"call_id": "x" * 200}) * (report.LINES_LIMIT - 3)
    reports, problems = parse_reports(FIRST + text + deep + many)
    assert problems == ()
    assert len(reports) == report.LINES_LIMIT


def test_too_many_lines():
    reports, problems = parse_reports(FIRST + line(EFFECT) * report.LINES_LIMIT)
    assert len(reports) == report.LINES_LIMIT
    assert problems == ("found 10001 lines; allowed: at most 10000",)


def test_many_problems_are_counted():
    _, problems = parse_reports(FIRST + b"?\n" * 25)
    assert len(problems) == report.PROBLEMS_LIMIT + 1
    assert problems[-1] == "and 5 more problems"


def test_foreign_text_is_cut_and_made_visible():
    text = problem(line({"type": "\x1b[2J" + "x" * 10_000}))
    assert "\x1b" not in text
    assert len(text) < 300


def test_the_names_are_those_of_a_case():
    assert report.TRUST_LEVELS == typing.get_args(expected.TrustLevel)
    assert report.DOTTED_PATTERN == texts.DOTTED_PATTERN[1:-1]
    assert report.NAME_PATTERN == texts.NAME_PATTERN[1:-1]
