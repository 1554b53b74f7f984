"""The table of reason codes in small sources: codes without a message, with two, or a built one."""

from types import SimpleNamespace

import pytest

from gates.checks import harness_reasons
from tests.unit.gates.sources import tree_of

TABLE = "src/agent_core/domain/outcomes.py"
OTHER = "src/agent_core/application/rows.py"
SOUND = """\
from typing import NamedTuple


class ReasonEntry(NamedTuple):
    status: str
    message: str


class ToolOutcome(NamedTuple):
    status: str
    message: str


def _failed(message):
    return ReasonEntry("failed", message)


_MORE = {"b": _failed("Another text."), "c": ReasonEntry("denied", message="A third text.")}
REASONS: dict[str, ReasonEntry] = {
    "tool.a": _failed("One text."),
    **{f"tool.{name}": entry for name, entry in _MORE.items()},
}


def make_outcome(code):
    entry = REASONS[code]
    return ToolOutcome(entry.status, entry.message)
"""
IMPORT = "from agent_core.domain.outcomes import REASONS as TABLE, ToolOutcome as Told\n"


def found(monkeypatch, table=SOUND, other="", codes=("tool.a", "tool.b", "tool.c")):
    named = dict.fromkeys(codes, "evals/cases/01_a.yaml")
    monkeypatch.setattr(harness_reasons, "_codes_of_suite", lambda suite, subject: named)
    tree = tree_of({TABLE: table, OTHER: other})
    findings, examined = harness_reasons.reason_findings(tree, SimpleNamespace(), None)
    assert examined in (len(codes), 0)
    return {(one.path, one.rule) for one in findings}


def test_a_whole_table_has_no_findings(monkeypatch):
    reading = f"{IMPORT}def f(code, one):\n    return TABLE[code], one._replace(status='x')\n"
    assert found(monkeypatch, other=reading) == set()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('"tool.a": _failed("One text."),', '"tool.a": _failed("x"), "tool.a": _failed("y"),',
         "reason_repeated"),
        ('"tool.a": _failed("One text."),', '"tool.a": _failed("x"), "tool.b": _failed("y"),',
         "reason_repeated"),
        ('"One text."', 'f"One {len(_MORE)}."', "message_built"),
        ('"One text."', '"One " + "text."', "message_built"),
        ('"One text."', '""', "message_built"),
        ('message="A third text."', 'message="%s" % 1', "message_built"),
        ("entry.message)", "code)", "message_built"),
        ("REASONS: dict[str, ReasonEntry] = {", "REASONS = dict(**{", "table_missing"),
    ],
)  # fmt: skip
def test_each_fault_of_the_table_is_found(monkeypatch, old, new, rule):
    table = SOUND.replace(old, new)
    if rule == "table_missing":
        table = table.replace("_MORE.items()},\n}", "_MORE.items()},\n})")
    assert (TABLE, rule) in found(monkeypatch, table)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("Told('failed', str(error))", "outcome_made_elsewhere"),
        ("Told._make(['failed', text])", "outcome_made_elsewhere"),
        ("outcome._replace(message=text)", "message_replaced"),
        ("TABLE['tool.x'] = entry", "table_changed"),
        ("TABLE.update(more)", "table_changed"),
        ("del TABLE['tool.a']", "table_changed"),
        ("TABLE |= more", "table_changed"),
    ],
)
def test_each_other_way_to_a_message_is_found(monkeypatch, line, rule):
    assert found(monkeypatch, other=f"{IMPORT}{line}\n") == {(OTHER, rule)}


def test_a_code_without_a_message_is_found_at_the_case_that_has_it(monkeypatch):
    codes = ("tool.a", "tool.d")
    assert found(monkeypatch, codes=codes) == {("evals/cases/01_a.yaml", "reason_unknown")}


def test_a_table_that_is_not_there_is_found(monkeypatch):
    assert found(monkeypatch, table="REASONS = None\n", codes=()) == {(TABLE, "table_missing")}
