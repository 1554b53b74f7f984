"""The page about reports: its examples work, and its table and limits are those of the code."""

import os
import re
import sys
from pathlib import Path

import pytest

from hardgate.documents.wording import choices
from hardgate.subjects.command import report
from hardgate.subjects.command.process import Launch, run
from hardgate.subjects.command.report import (
    ReportedAnswer,
    ReportedCapabilities,
    ReportedEffect,
    ReportedEvent,
    ReportedLabel,
    parse_reports,
)

PAGE = Path("docs/reference/agent-report.md").read_text(encoding="utf-8")


def example(language):
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return code


def reported(folder, report_is_offered, *argv):
    ended = run(Launch(argv, str(folder), {"PATH": os.defpath}, report=report_is_offered))
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, b"", b"")
    assert ended.report_problems == ()
    return ended.reports


@pytest.mark.parametrize("language", ["python", "sh"])
def test_without_the_variable_nothing_is_reported(tmp_path, language):
    program = {"python": sys.executable, "sh": "sh"}[language]
    assert reported(tmp_path, False, program, "-c", example(language)) == ()


def test_the_example_in_python(tmp_path):
    assert reported(tmp_path, True, sys.executable, "-c", example("python")) == (
        ReportedCapabilities(1, ("events", "effects", "labels")),
        ReportedLabel(2, "user_message", "user", None, False),
        ReportedEvent(3, "plan.made", {"steps": 2}),
        ReportedEffect(4, "call_1", "mail.send"),
        ReportedLabel(5, "tool_result", "external_untrusted", "call_1", None),
        ReportedAnswer(6, "It is sent."),
    )


def test_the_example_in_a_shell(tmp_path):
    assert reported(tmp_path, True, "sh", "-c", example("sh")) == (
        ReportedCapabilities(1, ("effects",)),
        ReportedEffect(2, "call_1", "mail.send"),
        ReportedAnswer(3, "It is sent."),
    )


def rows(header):
    """The cells of the table that begins with a header."""
    table = PAGE.split(header)[1].split("\n\n")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def test_the_table_has_every_type_and_key_and_no_other():
    found = {}
    for type_, key, value in rows("| Type | Key | Value |"):
        if type_:
            keys = found.setdefault(type_.strip("`"), {})
        name, _, optional = key.partition(", ")
        keys[name.strip("`")] = not optional
        if name == "`trust`":
            assert tuple(re.findall("`(.*?)`", value)) == report.TRUST_LEVELS
        if name == "`reports`":
            assert tuple(re.findall("`(.*?)`", value)) == report.CAPABILITIES
    # Each type is asked for its keys by a line that has none.
    for type_, keys in found.items():
        _, problems = parse_reports(b'{"type": "%s", "no": 1}\n' % type_.encode())
        assert problems[0] == f"line 1: found the key 'no'; allowed: {choices(('type', *keys))}"
        missing = {text.split(": ")[1] for text in problems if "found nothing" in text}
        assert missing == {key for key, required in keys.items() if required}
    _, problems = parse_reports(b'{"type": 1}\n')
    assert problems[0] == f"line 1: found the type 1; allowed: {choices(found)}"


def test_the_limits_are_those_of_the_code():
    limits = [cell for _, cell in rows("| Refused | Limit |") if cell]
    assert limits == [
        f"{report.LINE_LIMIT_BYTES} bytes",
        f"{report.DEPTH_LIMIT} levels, {report.VALUES_LIMIT} values",
        f"{report.LINES_LIMIT}",
        f"{report.REPORT_LIMIT_BYTES} bytes",
    ]
    assert f"1 to {report.ID_LIMIT_CHARACTERS} characters" in PAGE
    assert f"at most {report.NAME_LIMIT_CHARACTERS} characters" in PAGE
