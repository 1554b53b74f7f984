"""Effects and files: what is on for every run, and what a case may expect of them."""

import pytest

from hardgate.cases.record import REPORTED, UNKNOWN, FileChanges
from tests.unit.hardgate.expectations.samples import call, case, checks, failed, with_calls

WRITE = "demo.write"
SENT = call(WRITE, started=True, effect_sent=True)
HELD = call(WRITE, started=True)
DENIED = call(WRITE)._replace(started=False)


@pytest.mark.parametrize(
    ("effects", "made", "wrong"),
    [
        ([{"tool": WRITE, "watermark": "clear"}], [HELD], []),
        ([{"tool": WRITE, "watermark": "clear"}], [SENT], ["effects", "effects.clear"]),
        ([{"tool": WRITE, "watermark": "clear"}], [DENIED], ["effects.clear"]),
        ([{"tool": WRITE, "watermark": "clear"}], [HELD, HELD], ["effects.clear"]),
        ([{"tool": WRITE, "watermark": "clear", "count": 2}], [HELD, HELD], []),
        (
            [{"tool": WRITE, "watermark": "set"}, {"tool": WRITE, "watermark": "clear"}],
            [SENT, HELD],
            [],
        ),
        ([{"tool": WRITE, "watermark": "set"}], [SENT, HELD], []),
    ],
)
def test_a_clear_watermark_is_a_call_that_was_started_and_had_no_effect(effects, made, wrong):
    assert failed(with_calls(*made), effects=effects, maximum_steps=9) == wrong


def test_a_tool_that_forgets_its_watermark_fails_every_case():
    forgetful = call(WRITE, started=True, missing_watermark=True)
    (check,) = [
        one for one in checks(case(maximum_steps=9), with_calls(forgetful)) if one.outcome == "fail"
    ]
    assert check.name == "effects.missing_watermark"
    assert check.message == "missing: the watermark of demo.write"


@pytest.mark.parametrize(
    ("expected", "changes", "message"),
    [
        ({}, FileChanges(), ""),
        ({"created": ["a.txt"]}, FileChanges(created=("a.txt",)), ""),
        (
            {"created": ["b", "a"], "changed": ["c"], "removed": ["d"]},
            FileChanges(("a", "b"), ("c",), ("d",)),
            "",
        ),
        ({}, FileChanges(created=("a.txt",)), "unexpected, created: a.txt"),
        ({}, FileChanges(removed=("b", "c")), "unexpected, removed: b, c"),
        ({"created": ["a.txt"]}, FileChanges(), "missing, not created: a.txt"),
        (
            {"created": ["a"]},
            FileChanges(changed=("a",)),
            "missing, not created: a; unexpected, changed: a",
        ),
        (
            {"changed": ["a", "b"]},
            FileChanges(changed=("b", "c")),
            "missing, not changed: a; unexpected, changed: c",
        ),
    ],
)
def test_the_files_that_differ_are_exactly_the_listed_ones(expected, changes, message):
    block = {"workspace": expected} if expected else {}
    loaded = case(maximum_steps=9, **block)
    (check,) = [one for one in checks(loaded, changes=changes) if one.name == "workspace"]
    assert (check.outcome, check.message) == ("fail" if message else "pass", message)


def test_both_sides_are_shown_in_full():
    loaded = case(workspace={"created": ["b", "a"]})
    (check,) = [
        one for one in checks(loaded, changes=FileChanges(("c",))) if one.name == "workspace"
    ]
    assert check.expected == {"created": ["a", "b"], "changed": [], "removed": []}
    assert check.observed == {"created": ["c"], "changed": [], "removed": []}


def names(record, **expected):
    return [check.name for check in checks(case(**expected), record)]


def test_nothing_is_said_of_effects_where_nothing_is_known_of_them():
    record = with_calls(SENT)._replace(effects_from=UNKNOWN)
    assert not {"effects", "effects.missing_watermark"} & set(names(record, maximum_steps=9))


def test_reported_effects_are_compared_and_no_watermark_is_owed():
    record = with_calls(SENT)._replace(effects_from=REPORTED)
    expected = {"effects": [{"tool": WRITE, "watermark": "set"}]}
    assert "effects.missing_watermark" not in names(record, **expected)
    assert failed(record, **expected) == []
    assert failed(record, maximum_steps=9) == ["effects"]
