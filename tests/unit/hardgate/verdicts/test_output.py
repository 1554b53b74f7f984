"""The files and the text that a verdict becomes."""

import io
import json
import xml.etree.ElementTree as ElementTree

import pytest

from hardgate.verdicts.network import ATTEMPTS, NETWORK_ON, NetworkProof
from hardgate.verdicts.output import (
    CHECKS_PRINTED,
    FINDINGS_PRINTED,
    Start,
    junit_xml,
    publish,
    render,
)
from hardgate.verdicts.verdict import (
    FAIL,
    PASS,
    CheckResult,
    Counterexample,
    Finding,
    conclude,
    from_json,
)

OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
ON = NetworkProof(False, ("interface eth0 is up",), (), NETWORK_ON, "the network is on: eth0")
GOOD = CheckResult("terminal_status", PASS, "COMPLETED", "COMPLETED")
BAD = CheckResult("final_text_contains", FAIL, "391", "390\nPASS", "missing: 391", "c.yaml", 9)
REPEAT = "bazel test //evals:cases/calculator_tool"


def made(**values):
    identity = {"id": "case.calculator_tool", "kind": "case", "milestone": 1, "network": OFF}
    return conclude(**{**identity, **values})


class Terminal(io.StringIO):
    def isatty(self):
        return True


def published(verdict, tmp_path, stream=None, **environ):
    stream = stream or io.StringIO()
    named = {"TEST_UNDECLARED_OUTPUTS_DIR": str(tmp_path), "XML_OUTPUT_FILE": f"{tmp_path}/t.xml"}
    code = publish(
        verdict, repeat=REPEAT, start=Start.now(), environ={**named, **environ}, stream=stream
    )
    return code, stream.getvalue()


def test_a_pass_is_one_line_and_exits_with_0(tmp_path):
    verdict = made(checks=(GOOD,), examined=13, unit="events")
    code, text = published(verdict, tmp_path)
    assert (code, text) == (0, "PASS case.calculator_tool: 1 checks, 13 events\n")


def test_a_failure_shows_expected_first_then_observed_then_the_command(tmp_path):
    code, text = published(made(checks=(GOOD, BAD)), tmp_path)
    assert code == 1
    assert text == (
        "FAIL case.calculator_tool (case, milestone 1)\n\n"
        "1 of 2 checks failed:\n\n"
        "c.yaml:9: final_text_contains\n"
        "  expected: 391\n"
        "  observed: 390\n"
        "    | PASS\n"
        "  missing: 391\n\n"
        f"repeat: {REPEAT}\n"
    )


def test_the_excerpt_is_shown_with_a_failure_only():
    assert "1 run.queued" in render(made(checks=(BAD,)), repeat=REPEAT, excerpt="1 run.queued")
    assert "run.queued" not in render(made(checks=(GOOD,)), repeat=REPEAT, excerpt="1 run.queued")


def test_the_files(tmp_path):
    verdict = made(checks=(BAD,))
    published(verdict, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json", "t.xml", "verdict.json"]
    assert from_json((tmp_path / "verdict.json").read_text()) == verdict
    run = json.loads((tmp_path / "run.json").read_text())
    assert set(run) == {"started_at", "wall_seconds", "cpu_seconds", "host", "pid", "python"}


def test_the_verdict_file_holds_nothing_of_the_run(tmp_path):
    published(made(checks=(GOOD,)), tmp_path)
    first = (tmp_path / "verdict.json").read_bytes()
    published(made(checks=(GOOD,)), tmp_path)
    assert (tmp_path / "verdict.json").read_bytes() == first
    run = json.loads((tmp_path / "run.json").read_text())
    assert not {"host", "pid", "wall_seconds", "started_at"} & set(json.loads(first))
    assert run["started_at"].encode() not in first


def test_nothing_is_written_where_nothing_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    publish(
        made(checks=(GOOD,)), repeat=REPEAT, start=Start.now(), environ={}, stream=io.StringIO()
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("verdict", "failures"),
    [
        (made(checks=(GOOD,)), {}),
        (made(checks=(GOOD, BAD)), {"final_text_contains": "expected: 391"}),
        (made(checks=(GOOD,), network=ON), {"verdict": "the network is on"}),
        (made(examined=2, findings=(Finding("a.py", 3, "r", "m"),)), {"verdict": "a.py:3: r: m"}),
        (made(), {"verdict": "nothing_examined"}),
        (
            made(checks=(BAD,), findings=(Finding("a.py", 3, "r", "m"),)),
            {"final_text_contains": "observed: 390", "verdict": "a.py:3: r: m"},
        ),
        (
            made(counterexample=Counterexample("n", "r", False, "not_rejected")),
            {"verdict": "observed: not_rejected"},
        ),
        (made(counterexample=Counterexample("n", "r", True, "rejected"), checks=(BAD,)), {}),
    ],
)
def test_junit(verdict, failures):
    text = render(verdict, repeat=REPEAT)
    suite = ElementTree.fromstring(junit_xml(verdict, text, 0.25)).find("testsuite")
    found = {
        case.get("name"): case.find("failure").text
        for case in suite
        if case.find("failure") is not None
    }
    assert found.keys() == failures.keys()
    assert all(words in found[name] for name, words in failures.items())
    assert suite.get("tests") == str(len(suite))
    assert suite.get("failures") == str(len(failures))
    assert verdict.passed == (not failures)


def test_a_failure_is_headed_by_where_it_is_written():
    verdict = made(checks=(BAD,))
    failure = ElementTree.fromstring(junit_xml(verdict, "", 0.0)).find("testsuite/testcase/failure")
    assert failure.get("message") == "c.yaml:9: final_text_contains"


def test_checks_of_one_name_are_told_apart():
    verdict = made(checks=(BAD, GOOD, BAD, BAD))
    suite = ElementTree.fromstring(junit_xml(verdict, "", 0.0)).find("testsuite")
    assert [case.get("name") for case in suite] == [
        "final_text_contains",
        "terminal_status",
        "final_text_contains 2",
        "final_text_contains 3",
        "verdict",
    ]


def test_junit_survives_hostile_text():
    hostile = "<&\"'>\x00\x1b]]>\ud800\ufffe\u202e"
    verdict = made(checks=(CheckResult(hostile, FAIL, hostile, hostile, hostile),))
    document = junit_xml(verdict, render(verdict, repeat=hostile), 0.0)
    failure = ElementTree.fromstring(document).find("testsuite/testcase/failure")
    assert "<&\"'>\\x00\\x1b]]>\\ud800\\ufffe\\u202e" in failure.text


@pytest.mark.parametrize("part", ["expected", "observed", "message"])
def test_nothing_from_a_model_reaches_the_terminal_raw(part):
    check = CheckResult("x", FAIL, **{part: "\x1b[2J\u202e\n" + "y" * 9000})
    text = render(made(checks=(check,)), repeat=REPEAT)
    assert "\x1b" not in text and "\u202e" not in text
    assert "characters left out" in text
    assert len(text) < 3000


def test_long_lists_say_how_many_more_there_are():
    checks = tuple(CheckResult(f"c{index}", FAIL) for index in range(CHECKS_PRINTED + 7))
    findings = tuple(Finding("a", line, "r", "m") for line in range(FINDINGS_PRINTED + 3))
    text = render(made(checks=checks, findings=findings), repeat=REPEAT)
    assert "... and 7 more failed checks, all in verdict.json" in text
    assert "... and 3 more findings, all in verdict.json" in text


@pytest.mark.parametrize(
    ("why", "rejected", "shown"),
    [
        (
            "rejected",
            True,
            "PASS case.calculator_tool: the counterexample was rejected for effects",
        ),
        ("crashed", False, "observed: crashed"),
    ],
)
def test_a_counterexample_says_what_became_of_it(why, rejected, shown):
    example = Counterexample("forgets", "effects", rejected, why, "Traceback")
    text = render(made(counterexample=example, checks=(BAD,)), repeat=REPEAT)
    assert shown in text


def test_colour_only_on_a_terminal_that_wants_it(tmp_path):
    verdict = made(checks=(GOOD,))
    assert "\x1b" not in published(verdict, tmp_path)[1]
    assert published(verdict, tmp_path, Terminal())[1].startswith("\x1b[32mPASS\x1b[0m")
    assert "\x1b" not in published(verdict, tmp_path, Terminal(), NO_COLOR="1")[1]


def test_a_stream_that_cannot_carry_a_character_gets_an_escape(tmp_path):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    check = CheckResult("x", FAIL, "caf\u00e9", "\u6f22")
    publish(made(checks=(check,)), repeat=REPEAT, start=Start.now(), environ={}, stream=stream)
    assert b"caf\\xe9" in raw.getvalue() and b"\\u6f22" in raw.getvalue()
