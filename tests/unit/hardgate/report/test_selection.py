"""Which gates and targets a report is about, and what Bazel is told to run for it."""

from itertools import product

import pytest

from hardgate.report.selection import Selection
from tests.unit.hardgate.report.samples import gate, tags_of

AREAS, KINDS, MILESTONES = ("event", "tool"), ("case", "structural"), (0, 1, 10)


def every_gate():
    """A gate for each combination of area, kind and milestone."""
    for area, kind, milestone in product(AREAS, KINDS, MILESTONES):
        more = {"check": "case:one", "sources": []} if kind == "case" else {}
        identity = f"gate.{area}.{kind}_{milestone}"
        yield gate(identity, kind=kind, milestone=milestone, **more)


GATES = list(every_gate())
SELECTIONS = [
    Selection(*values) for values in product((None, 1, 10), (None, "tool"), (None, "case"))
]


def bazel_runs(tag_filter: str, tags: frozenset[str]) -> bool:
    """How Bazel reads --test_tag_filters: one wanted tag, and no unwanted one."""
    words = tag_filter.split(",")
    wanted = {word for word in words if not word.startswith("-")}
    unwanted = {word[1:] for word in words if word.startswith("-")}
    return bool(tags & wanted) and not tags & unwanted


@pytest.mark.parametrize("selection", SELECTIONS, ids=Selection.words)
def test_options_are_joined_by_and_for_rows_targets_and_bazel(selection):
    tag_filter = selection.tag_filter(GATES)
    for one in GATES:
        expected = (
            selection.milestone in (None, one.milestone)
            and selection.area in (None, one.area)
            and selection.kind in (None, str(one.kind))
        )
        assert selection.has(one) is expected
        assert selection.has_tags(tags_of(one)) is expected
        assert bazel_runs(tag_filter, tags_of(one)) is expected
        assert bazel_runs(tag_filter, tags_of(one, "counterexample", "pending")) is expected


@pytest.mark.parametrize("selection", SELECTIONS, ids=Selection.words)
def test_entries_that_cannot_be_read_always_run_and_show(selection):
    tags = frozenset({"gate", "invalid"})
    assert selection.has_tags(tags)
    assert bazel_runs(selection.tag_filter(GATES), tags)


def test_targets_that_are_no_gates_are_not_run():
    assert not bazel_runs(Selection().tag_filter(GATES), frozenset({"case", "milestone:1"}))


def test_the_filter_that_bazel_is_given():
    assert Selection().tag_filter(GATES) == "gate"
    assert Selection(area="tool").tag_filter(GATES) == "area:tool,invalid"
    both = Selection(milestone=1, kind="case")
    assert both.tag_filter(GATES) == "milestone:1,invalid,-kind:structural"


def test_words():
    assert Selection().words() == ""
    assert Selection(4, "tool", "case").words() == "milestone 4, area tool, kind case"
    assert Selection(0).plain() == {"milestone": "0"}


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (
            Selection(area="tols"),
            "--area: found 'tols'; did you mean 'tool'?; gates have event or tool",
        ),
        (Selection(area="x"), "--area: found 'x'; gates have event or tool"),
        (Selection(milestone=2), "--milestone: found '2'; gates have 0, 1 or 10"),
        (
            Selection(kind="structual"),
            "--kind: found 'structual'; did you mean 'structural'?; gates have case or structural",
        ),
        (Selection(area="tool", kind="x"), "--kind: found 'x'; gates have case or structural"),
    ],
)
def test_a_value_that_no_gate_has(selection, said):
    assert selection.why_empty(GATES) == said


def test_values_that_no_gate_has_together():
    gates = [gate("gate.tool.a"), gate("gate.event.b", milestone=3)]
    said = "no gate has milestone 3, area tool"
    assert Selection(milestone=3, area="tool").why_empty(gates) == said
    assert Selection().why_empty([]) == "no gate has been registered"
