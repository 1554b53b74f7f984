"""The report as people read it, and as machines do."""

import json

import pytest

from hardgate.report.faults import Fault
from hardgate.report.render import conclusion, to_json, to_text
from hardgate.report.rows import FAIL, PASS, PENDING, Report, Row
from hardgate.report.selection import Selection
from hardgate.verdicts.text import one_line

GOOD = Row(
    id="gate.tool.good",
    area="tool",
    milestone=1,
    kind="property",
    state=PASS,
    target="//gates:tool/good",
    count=1000,
    unit="trials",
    rejected=2,
    counterexamples=2,
    cached=True,
    seconds=1.5,
)
BAD = Row(
    id="gate.tool.bad",
    area="tool",
    milestone=1,
    kind="case",
    state=FAIL,
    target="//gates:tool/bad",
    case="calculator_tool",
    rejected=1,
    counterexamples=2,
    cached=False,
    seconds=0.046,
    faults=[
        Fault("//gates:tool/bad", "failed", "1 finding", ("src/a.py:3: rule: message",)),
        Fault("//gates:tool/bad.counterexample.x", "no_result", "Bazel has no result for it"),
    ],
)
LATER = Row(
    id="gate.tool.later",
    area="tool",
    milestone=2,
    kind="case",
    state=PENDING,
    target="//gates:tool/later",
    counterexamples=1,
)
STRAY = Fault("//gates:tool/old", "stray_target", "a target that no registry entry asks for")


def made(*rows: Row, **values) -> Report:
    return Report(**({"milestone": 1, "rows": list(rows), "problems": []} | values))


def test_a_report_in_order():
    assert to_text(made(GOOD, LATER), colour=False) == (
        "Milestone 1: 1 gate: 1 pass, 0 fail, 0 pending  <- the repository's milestone\n"
        "  gate             state    kind      size         rejected  result  seconds\n"
        "  gate.tool.good   pass     property  1000 trials  2/2       cached  1.50\n"
        "\n"
        "Milestone 2: 1 gate: 0 pass, 0 fail, 1 pending\n"
        "  gate             state    kind      size         rejected  result  seconds\n"
        "  gate.tool.later  pending  case      -            -         -       -\n"
        "\n"
        "OK: 2 gates: 1 pass, 0 fail, 1 pending\n"
    )


def test_a_report_with_everything_wrong():
    report = made(GOOD, BAD, problems=[STRAY], notes=["ratchet: compared"])
    assert to_text(report, colour=False) == (
        "Milestone 1: 2 gates: 1 pass, 1 fail, 0 pending  <- the repository's milestone\n"
        "  gate            state  kind                  size         rejected  result  seconds\n"
        "  gate.tool.good  pass   property              1000 trials  2/2       cached  1.50\n"
        "  gate.tool.bad   fail   case:calculator_tool  -            1/2       run     0.05\n"
        "\n"
        "Cases and the gates they back\n"
        "  calculator_tool  gate.tool.bad\n"
        "\n"
        "FAIL gate.tool.bad\n"
        "  //gates:tool/bad: failed: 1 finding\n"
        "    src/a.py:3: rule: message\n"
        "  //gates:tool/bad.counterexample.x: no_result: Bazel has no result for it\n"
        "  repeat: bazel test //gates:tool/bad //gates:tool/bad.counterexample.x\n"
        "\n"
        "PROBLEM\n"
        "  //gates:tool/old: stray_target: a target that no registry entry asks for\n"
        "\n"
        "note: ratchet: compared\n"
        "NOT OK: 2 gates: 1 pass, 1 fail, 0 pending, 1 problem\n"
    )


def test_only_failed_rows_with_complete_counts():
    text = to_text(made(GOOD, BAD, LATER), colour=False, failed_only=True)
    assert "gate.tool.good" not in text
    assert "gate.tool.later" not in text
    assert "Milestone 1: 2 gates: 1 pass, 1 fail, 0 pending" in text
    assert "Milestone 2: 1 gate: 0 pass, 0 fail, 1 pending\n\nCases" in text
    assert text.endswith("NOT OK: 3 gates: 1 pass, 1 fail, 1 pending\n")


def test_only_failed_rows_when_none_failed():
    text = to_text(made(GOOD), colour=False, failed_only=True)
    assert text == (
        "Milestone 1: 1 gate: 1 pass, 0 fail, 0 pending  <- the repository's milestone\n"
        "\n"
        "OK: 1 gate: 1 pass, 0 fail, 0 pending\n"
    )


def test_a_selection_does_not_look_complete():
    report = made(GOOD, selection=Selection(area="tool", kind="property"))
    assert conclusion(report) == (
        "OK: 1 gate: 1 pass, 0 fail, 0 pending "
        "(only area tool, kind property: not the complete report)"
    )
    assert json.loads(to_json(report))["complete"] is False


def test_what_no_test_shows_is_not_repeated():
    for rule in ("no_target", "wrong_tags", "not_skipped"):
        row = Row(**(vars(LATER) | {"state": FAIL, "faults": [Fault(LATER.target, rule, "m")]}))
        assert "repeat:" not in to_text(made(row), colour=False)


@pytest.mark.parametrize(
    ("row", "painted"),
    [
        (GOOD, "\x1b[32mpass\x1b[0m"),
        (BAD, "\x1b[31mfail\x1b[0m"),
        (LATER, "\x1b[33mpending\x1b[0m"),
    ],
)
def test_colour_is_on_the_state_and_nowhere_else(row, painted):
    coloured = to_text(made(row), colour=True)
    assert painted in coloured
    assert coloured.replace(painted, row.state) == to_text(made(row), colour=False)


NASTY = "\x1b[2J\x1b]0;owned\x07\r\u202e\u2028\x9b31m\nOK: 9 gates: 9 pass"


def test_control_characters_of_findings_reach_no_terminal():
    row = Row(**(vars(BAD) | {"unit": NASTY, "count": 1}))
    row.faults = [Fault("//gates:a", "failed", NASTY, (NASTY, NASTY))]
    report = made(row, problems=[Fault(NASTY, "rule", NASTY, (NASTY,))], notes=[NASTY])
    text = to_text(report, colour=False)
    assert text.count(one_line(NASTY)) >= 7
    assert set(text) - {"\n"} <= {chr(point) for point in range(0x20, 0x7F)}
    assert [line for line in text.splitlines() if line.startswith("OK")] == []


def test_a_long_line_is_cut():
    row = Row(**(vars(BAD) | {"faults": [Fault("//gates:a", "failed", "m", ("x" * 100_000,))]}))
    assert max(map(len, to_text(made(row), colour=False).splitlines())) < 500


def test_json_says_the_same():
    plain = json.loads(to_json(made(GOOD, BAD, LATER, problems=[STRAY], notes=["a note"])))
    assert (plain["ok"], plain["complete"], plain["milestone"]) == (False, True, 1)
    assert plain["schema_version"] == 1
    assert plain["milestones"] == [
        {"milestone": 1, "total": 2, "passed": 1, "failed": 1, "pending": 0},
        {"milestone": 2, "total": 1, "passed": 0, "failed": 0, "pending": 1},
    ]
    good, bad, later = plain["gates"]
    assert (good["id"], good["state"], good["count"], good["unit"]) == (
        "gate.tool.good",
        "pass",
        1000,
        "trials",
    )
    assert (bad["case"], bad["rejected"], bad["counterexamples"]) == ("calculator_tool", 1, 2)
    assert bad["faults"][0] == {
        "place": "//gates:tool/bad",
        "rule": "failed",
        "message": "1 finding",
        "details": ["src/a.py:3: rule: message"],
    }
    assert (later["cached"], later["seconds"], later["case"]) == (None, None, None)
    assert plain["cases"] == {"calculator_tool": ["gate.tool.bad"]}
    assert plain["problems"][0]["rule"] == "stray_target"
    assert plain["notes"] == ["a note"]


def test_json_of_failed_rows_says_that_it_is_not_all():
    plain = json.loads(to_json(made(GOOD, BAD), failed_only=True))
    assert [row["id"] for row in plain["gates"]] == ["gate.tool.bad"]
    assert plain["failed_only"] is True
    assert plain["milestones"][0]["total"] == 2


def test_json_is_ascii_and_ends_with_one_newline():
    row = Row(**(vars(BAD) | {"faults": [Fault("x", "failed", NASTY + "\ud800")]}))
    text = to_json(made(row))
    assert text.isascii()
    assert text.endswith("}\n")
    assert json.loads(text)["gates"][0]["faults"][0]["message"] == NASTY + "\ud800"
