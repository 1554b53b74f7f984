"""Each kind of bad case is refused at its line and column, by name, with advice.

The bad cases are copies of one good case with one edit each.
"""

import re

import pytest

from hardgate.cases.loader import load_case
from hardgate.cases.vocabulary import Vocabulary
from tests.unit.hardgate.cases.samples import (
    CASE_PATH,
    VOCABULARY,
    case_problems,
    edited,
    unknown_names,
)

CASE = """\
name: calculator_tool
milestone: 1
tags: [smoke]
principal: eval.standard
policy_profile: eval.default
clock: {start: 2026-01-01T00:00:00Z}
input:
  text: What is 17 multiplied by 23?
model_fixture: calculator_then_answer
fixtures:
  tools: [math.calculate]
expected:
  terminal_status: completed
  final_text_contains: ["391"]
  final_text_matches: "39[1]"
  tool_calls:
    - name: math.calculate
      count: 1
      arguments_subset: {expression: 17 * 23}
  forbidden_tool_calls: [demo.write]
  maximum_steps: 2
  event_order: [run.queued, run.completed]
  effects: []
  reason_codes: [tool.succeeded]
  implicit: {}
"""


def test_the_good_case_is_good():
    assert case_problems(CASE.encode()) == []


# By rule: the text that is replaced, the text in its place, line:column, words of the message.
BAD_CASES = {
    "schema.unknown_key": [
        ("maximum_steps: 2", "max_steps: 2", "21:3", "did you mean 'maximum_steps'?"),
        ("model_fixture:", "model_fixtures:", "9:1", "did you mean 'model_fixture'?"),
        ("      count: 1", "      cuont: 1", "18:7", "did you mean 'count'?"),
        (
            "implicit: {}",
            "implicit: {allow_error: true}",
            "25:14",
            "did you mean 'allow_errored_run'?",
        ),
    ],
    "yaml.duplicate_key": [
        ("milestone: 1\n", "milestone: 1\nmilestone: 0\n", "3:1", "first at 2:1"),
    ],
    "schema.missing_key": [
        ("name: calculator_tool\n", "", "1:1", "found a map without 'name'"),
        ("    - name: math.calculate\n      count", "    - count", "17:7", "'name'"),
    ],
    "case.name": [
        ("name: calculator_tool", "name: Calculator-Tool", "1:7", "a name such as calculator_tool"),
        ("name: calculator_tool", "name: calcul\u0430tor_tool", "1:7", "looks like 'a'"),
    ],
    "case.file_name": [
        ("name: calculator_tool", "name: calculator", "1:7", "allowed: 'calculator_tool'"),
    ],
    "schema.type": [
        ("milestone: 1", 'milestone: "1"', "2:12", "found '1'; allowed: a whole number"),
        ("milestone: 1", "milestone: 1.0", "2:12", "allowed: a whole number"),
        ("milestone: 1", "milestone: true", "2:12", "found true; allowed: a whole number"),
        (
            'final_text_contains: ["391"]',
            "final_text_contains: 391",
            "14:24",
            "found 391; allowed: a list",
        ),
        ('["391"]', "[391]", "14:25", "found 391; allowed: a text"),
    ],
    "schema.range": [
        ("milestone: 1", "milestone: -1", "2:12", "at least 0"),
        ("milestone: 1", "milestone: 100", "2:12", "at most 99"),
        ("count: 1", "count: 0", "18:14", "at least 1"),
        ("maximum_steps: 2", "maximum_steps: 0", "21:18", "at least 1"),
    ],
    "case.fixture_stem": [
        ("calculator_then_answer", "../secrets", "9:16", "without folder"),
        ("calculator_then_answer", "answer.yaml", "9:16", "without folder and .yaml"),
    ],
    "case.instant": [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "6:16", "with its offset"),
        ("2026-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "6:16", "an instant that exists"),
    ],
    "schema.length": [
        ("What is 17 multiplied by 23?", '""', "8:9", "at least 1 character"),
        ('["391"]', "[]", "14:24", "found an empty list; allowed: at least 1 item"),
        ('"39[1]"', f'"{"a" * 513}"', "15:23", "at most 512 characters"),
        ("{expression: 17 * 23}", "{}", "19:25", "at least 1 item"),
    ],
    "case.cannot_fail": [
        ('["391"]', '["**"]', "14:25", "the comparison leaves nothing"),
        ('"39[1]"', '"(391)?"', "15:23", "matches the empty answer"),
    ],
    "case.said_twice": [
        ('["391"]', '["391", "**391**"]', "14:32", "first at 14:25"),
        ("[demo.write]", "[demo.write, demo.write]", "20:38", "first at 20:26"),
        ("[smoke]", "[smoke, smoke]", "3:15", "first at 3:8"),
    ],
    "case.pattern": [
        ('"39[1]"', '"39[1"', "15:23", "unterminated character set"),
    ],
    "case.tool_name": [
        (
            "    - name: math.calculate",
            "    - name: math calculate",
            "17:13",
            "a tool's name such as math.calculate",
        ),
    ],
    "case.unknown_tool": [
        (
            "    - name: math.calculate",
            "    - name: math.calcualte",
            "17:13",
            "did you mean 'math.calculate'?",
        ),
        (
            "tools: [math.calculate]",
            "tools: [math.calculater]",
            "11:11",
            "did you mean 'math.calculate'?",
        ),
        ("[demo.write]", "[demo.wirte]", "20:26", "did you mean 'demo.write'?"),
    ],
    "case.mixed_counts": [
        (
            "  forbidden_tool_calls",
            "    - name: math.calculate\n  forbidden_tool_calls",
            "20:7",
            "the same in all entries of a tool",
        ),
    ],
    "case.contradiction": [
        ("[demo.write]", "[math.calculate]", "17:13", "forbidden_tool_calls has too"),
        ("  maximum_steps: 2", "  no_tools: true", "16:3", "beside no_tools"),
        (
            "effects: []",
            "effects: [{tool: demo.write, watermark: set}]",
            "23:20",
            "forbidden_tool_calls",
        ),
    ],
    "schema.value": [
        ("  maximum_steps: 2", "  no_tools: false", "21:13", "found false; allowed: true"),
        ("  maximum_steps: 2", "  no_tools: yes", "21:13", "found 'yes'; allowed: true"),
        (
            "effects: []",
            "effects: [{tool: demo.write, watermark: sent}]",
            "23:43",
            "did you mean 'set'?",
        ),
        (
            "implicit: {}",
            "implicit: {allow_errored_run: false}",
            "25:33",
            "found false; allowed: true",
        ),
    ],
    "case.unknown_event_type": [
        ("run.completed", "run.complete", "22:29", "did you mean 'run.completed'?"),
        ("run.queued", "tool.proposed", "22:17", "did you mean 'tool.call.proposed'?"),
    ],
    "case.unknown_reason_code": [
        ("[tool.succeeded]", "[tool.succeded]", "24:18", "did you mean 'tool.succeeded'?"),
    ],
    "case.unknown_status": [
        (
            "terminal_status: completed",
            "terminal_status: complete",
            "13:20",
            "did you mean 'completed'?",
        ),
        (
            "terminal_status: completed",
            "terminal_status: Completed",
            "13:20",
            "allowed: cancelled, completed or failed",
        ),
    ],
    "case.unknown_principal": [
        ("eval.standard", "eval.standart", "4:12", "did you mean 'eval.standard'?"),
    ],
    "case.unknown_policy_profile": [
        ("eval.default", "eval.permissive", "5:17", "allowed: eval.default"),
    ],
    "case.tag": [
        ("[smoke]", "[Smoke Test]", "3:8", "a word such as smoke"),
    ],
    "yaml.anchor": [
        ("tags: [smoke]", "tags: &t [smoke]", "3:7", "written out"),
    ],
    "yaml.tag": [
        ("milestone: 1", "milestone: !!int 1", "2:12", "without a tag"),
    ],
    "yaml.tab": [
        ("  text: What", "\ttext: What", "8:1", "allowed: spaces"),
    ],
    "yaml.empty_value": [
        ("milestone: 1", "milestone:", "2:11", "a value, or no key"),
    ],
    "yaml.not_finite": [
        ("milestone: 1", "milestone: .nan", "2:12", "a finite number"),
    ],
}


@pytest.mark.parametrize(
    ("rule", "old", "new", "place", "words"),
    [(rule, *one) for rule, bad in BAD_CASES.items() for one in bad],
)
def test_a_bad_case(rule, old, new, place, words):
    problems = case_problems(edited(CASE, old, new))
    matching = [one for one in problems if one.startswith(f"{CASE_PATH}:{place}: {rule}: ")]
    assert len(matching) == 1, problems
    assert words in matching[0]


WHOLE_FILES = [
    ("empty file", b"", "1:1", "yaml.empty_file", "an empty file"),
    ("only a comment", b"# nothing\n", "1:1", "yaml.empty_file", "only comments"),
    ("a list", b"- name: x\n", "1:1", "schema.type", "found a list; allowed: a map"),
    ("a text", b"case\n", "1:1", "schema.type", "found 'case'; allowed: a map"),
    ("not UTF-8", CASE.encode() + b"# \xff\n", "26:3", "yaml.encoding", "UTF-8"),
    ("two documents", CASE.encode() + b"---\nname: x\n", "26:1", "yaml.second_document", "one"),
    ("10 MB", b"name: " + b"x" * 10_000_000, "1:1", "yaml.file_too_large", "at most"),
    ("deep", b"name: " + b"[" * 40 + b"]" * 40, "1:38", "yaml.too_deep", "32"),
    ("half a line", b'name: "x\n', "2:1", "yaml.syntax", "a quote that is closed"),
]


@pytest.mark.parametrize(
    ("data", "place", "rule", "words"),
    [bad[1:] for bad in WHOLE_FILES],
    ids=[bad[0] for bad in WHOLE_FILES],
)
def test_a_file_that_is_no_case_at_all(data, place, rule, words):
    problems = case_problems(data)
    assert len(problems) == 1
    assert problems[0].startswith(f"{CASE_PATH}:{place}: {rule}: ")
    assert words in problems[0]


@pytest.mark.parametrize(
    "expected", ["{}", "{effects: []}", "{implicit: {allow_errored_run: true}}", "{implicit: {}}"]
)
def test_a_case_that_expects_nothing(expected):
    head = CASE[: CASE.index("expected:")]
    problems = case_problems(f"{head}expected: {expected}\n".encode())
    assert len(problems) == 1
    assert problems[0].startswith(f"{CASE_PATH}:12:1: case.nothing_expected: ")
    assert "no run could fail" in problems[0]
    assert "terminal_status" in problems[0]


@pytest.mark.parametrize(
    "path", ["evals/cases/calculator_tool.yaml", "evals/cases/2_calculator_tool.yaml", "x.yml"]
)
def test_a_case_in_a_file_without_a_number(path):
    problems = case_problems(CASE.encode(), path)
    assert [one.split(": ")[1] for one in problems] == ["case.file_name"]
    assert "NN_calculator_tool.yaml" in problems[0]


def test_every_problem_of_a_file_is_named_in_one_go():
    text = CASE.replace("milestone: 1", "milestone: x").replace("count: 1", "cuont: 1")
    text = text.replace("2026-01-01T00:00:00Z", "today")
    places = [re.match(r"[^:]+:(\d+)", one)[1] for one in case_problems(text.encode())]
    assert places == ["2", "6", "18"]


def test_a_tool_that_the_script_invents_may_be_spoken_of():
    data = edited(CASE, "    - name: math.calculate", "    - name: made.up")
    loaded = load_case(CASE_PATH, data)
    known = unknown_names(loaded, proposed=frozenset({"made.up"}))
    unknown = unknown_names(loaded)
    assert known == []
    assert [problem.rule for problem in unknown] == ["case.unknown_tool"]


def test_a_subject_that_cannot_list_its_names_accepts_all():
    silent = VOCABULARY._replace(
        event_types=None, tools=None, reason_codes=None, principals=None, policy_profiles=None
    )
    loaded = load_case(CASE_PATH, CASE.encode())
    nothing = Vocabulary(VOCABULARY.terminal_statuses, *[frozenset()] * 5)
    assert unknown_names(loaded, silent) == []
    assert len(unknown_names(loaded, nothing)) == 8
