"""The registry, the targets and the results, compared as sets."""

from dataclasses import replace

import pytest

from hardgate.report.faults import Fault
from hardgate.report.results import ABORTED, FAILED, PASSED, SKIPPED, TargetResult
from hardgate.report.rows import FAIL, PASS, PENDING, Report, Target, Totals, compare
from hardgate.report.selection import Selection
from hardgate.verdicts.verdict import CheckResult, Finding
from tests.unit.hardgate.report.samples import (
    LABEL,
    TWIN,
    gate,
    good_results,
    label_of,
    passed,
    tags_of,
    targets_of,
    verdict,
)

ACTIVE = gate()
SECOND = gate("gate.event.order", counterexamples=[])
LATER = gate("gate.tool.later", milestone=3, kind="case", check="case:one", sources=[])
LATER_LABEL = "//gates:tool/later"


def report(gates, results=None, targets=None, milestone=0, selection=None) -> Report:
    """The report of a workspace, by default one where everything is in order."""
    results = good_results(*gates, milestone=milestone) if results is None else results
    targets = targets_of(*gates) if targets is None else targets
    rows, problems = compare(gates, milestone, "gates", targets, results, selection)
    return Report(milestone, rows, problems, selection or Selection())


def faults(made: Report) -> list[tuple[str, str, str]]:
    rows = [fault for row in made.rows for fault in row.faults]
    return [(fault.place, fault.rule, fault.message) for fault in (*rows, *made.problems)]


def without(results, *labels):
    return {label: result for label, result in results.items() if label not in labels}


def test_everything_in_order():
    made = report([LATER, ACTIVE])
    assert made.ok
    assert faults(made) == []
    first, second = made.rows
    assert (first.id, first.state, first.target) == (ACTIVE.id, PASS, LABEL)
    assert (first.area, first.milestone, first.kind, first.case) == ("tool", 0, "structural", None)
    assert (first.count, first.unit) == (61, "files")
    assert (first.rejected, first.counterexamples) == (1, 1)
    assert (first.cached, first.seconds) == (False, 0.5)
    assert (second.id, second.state, second.target) == (LATER.id, PENDING, LATER_LABEL)
    assert (second.count, second.cached, second.seconds) == (None, None, None)
    assert made.totals() == [Totals(0, 1, 1, 0, 0), Totals(3, 1, 0, 0, 1)]


def test_a_gate_without_a_result_is_a_failure_and_no_blank():
    made = report([ACTIVE], results={})
    assert not made.ok
    assert made.rows[0].state == FAIL
    said = "Bazel has no result for it; a flag or a filter may have left it out"
    assert faults(made) == [(LABEL, "no_result", said), (TWIN, "no_result", said)]
    assert made.totals() == [Totals(0, 1, 0, 1, 0)]


def test_a_twin_without_a_result_fails_its_gate():
    made = report([ACTIVE], without(good_results(ACTIVE), TWIN))
    assert [place for place, rule, _ in faults(made) if rule == "no_result"] == [TWIN]
    assert (made.rows[0].state, made.rows[0].rejected) == (FAIL, 0)


def test_an_active_gate_without_a_counterexample_is_a_failure():
    said = "it has no counterexample, so nothing shows that it can fail"
    assert faults(report([SECOND])) == [("//gates:event/order", "no_counterexample", said)]


def test_a_registered_gate_that_bazel_does_not_know():
    made = report([ACTIVE], results={}, targets=[])
    said = "no target tagged `gate` of this name; the registry and what Bazel loaded differ"
    assert faults(made) == [(LABEL, "no_target", said), (TWIN, "no_target", said)]


def test_a_result_of_a_target_that_is_not_tagged_does_not_count():
    made = report([ACTIVE], targets=targets_of(ACTIVE)[:1])
    assert [(place, rule) for place, rule, _ in faults(made)] == [(TWIN, "no_target")]
    assert made.rows[0].rejected == 0


def test_a_pending_gate_that_bazel_does_not_know():
    made = report([LATER], results={}, targets=[])
    assert [(place, rule) for place, rule, _ in faults(made)] == [(LATER_LABEL, "no_target")]
    assert made.rows[0].state == FAIL


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (None, "it has no result"),
        (TargetResult(LATER_LABEL, FAILED), "it is failed"),
        (TargetResult(LATER_LABEL, ABORTED, "unknown"), "it is aborted"),
        (passed(LATER_LABEL, verdict(LATER)), "it is passed"),
    ],
)
def test_a_pending_gate_has_to_be_skipped(result, found):
    results = {} if result is None else {LATER_LABEL: result}
    made = report([LATER], results, targets_of(LATER)[:1])
    said = f"pending until milestone 3, so Bazel has to skip it; {found}"
    assert faults(made) == [(LATER_LABEL, "not_skipped", said)]
    assert made.rows[0].state == FAIL


def test_the_twins_of_a_pending_gate_need_no_target():
    assert report([LATER], targets=targets_of(LATER)[:1]).ok


def test_the_twins_of_a_pending_gate_have_to_be_skipped_where_they_exist():
    twin = f"{LATER_LABEL}.counterexample.dropped"
    results = good_results(LATER) | {twin: TargetResult(twin, PASSED)}
    assert [(place, rule) for place, rule, _ in faults(report([LATER], results))] == [
        (twin, "not_skipped")
    ]


def test_the_gate_of_a_reached_milestone_may_not_be_skipped():
    made = report([LATER], good_results(LATER, milestone=0), milestone=3)
    assert {rule for _, rule, _ in faults(made)} == {"skipped"}


def test_a_target_with_other_tags_than_its_entry():
    wrong = [Target(LABEL, tags_of(LATER)), targets_of(ACTIVE)[1]]
    said = (
        "found the tags area:tool, gate, kind:case, milestone:3; "
        "its entry asks for area:tool, gate, kind:structural, milestone:0"
    )
    assert faults(report([ACTIVE], targets=wrong)) == [(LABEL, "wrong_tags", said)]


@pytest.mark.parametrize("swapped", [True, False])
def test_only_twins_are_tagged_as_counterexamples(swapped):
    more = [("counterexample",), ()] if swapped else [("counterexample",), ("counterexample",)]
    targets = [Target(LABEL, tags_of(ACTIVE, *more[0])), Target(TWIN, tags_of(ACTIVE, *more[1]))]
    places = [place for place, rule, _ in faults(report([ACTIVE], targets=targets))]
    assert places == ([LABEL, TWIN] if swapped else [LABEL])


def test_further_tags_are_allowed():
    targets = [replace(one, tags=one.tags | {"pending", "cpu:2"}) for one in targets_of(ACTIVE)]
    assert report([ACTIVE], targets=targets).ok


def test_a_target_that_no_entry_asks_for():
    stray = Target("//gates:tool/forgotten", tags_of(ACTIVE))
    result = passed(stray.label, verdict(ACTIVE))
    made = report(
        [ACTIVE], good_results(ACTIVE) | {stray.label: result}, [*targets_of(ACTIVE), stray]
    )
    said = "a target tagged `gate` that no registry entry asks for"
    assert faults(made) == [(stray.label, "stray_target", said)]
    assert not made.ok


INVALID = Target("//gates:invalid/tool.3.1", frozenset({"gate", "invalid"}))


def test_an_entry_that_cannot_be_read_is_shown_with_its_finding():
    found = Finding("gates/tool.yaml", 3, "registry.kind", "column 9: found kind 'x'")
    made = replace(passed(INVALID.label, verdict(ACTIVE, findings=(found,))), status=FAILED)
    shown = report(
        [ACTIVE], good_results(ACTIVE) | {INVALID.label: made}, [*targets_of(ACTIVE), INVALID]
    )
    assert shown.problems == [
        Fault(
            INVALID.label,
            "invalid_entry",
            "an entry that can't be read; its findings are below",
            ("gates/tool.yaml:3: registry.kind: column 9: found kind 'x'",),
        )
    ]


@pytest.mark.parametrize("result", [None, TargetResult(INVALID.label, FAILED, verdict="{")])
def test_an_entry_that_cannot_be_read_and_was_not_run(result):
    results = good_results(ACTIVE) | ({} if result is None else {INVALID.label: result})
    made = report([ACTIVE], results, [*targets_of(ACTIVE), INVALID])
    said = "an entry that can't be read; try: bazel test //gates:invalid/tool.3.1"
    assert faults(made) == [(INVALID.label, "invalid_entry", said)]


def test_no_gates_at_all_is_not_in_order():
    assert not report([]).ok


def test_cached_only_when_everything_was():
    twin_ran = good_results(ACTIVE)
    twin_ran[LABEL] = replace(twin_ran[LABEL], cached=True, seconds=1.5)
    row = report([ACTIVE], twin_ran).rows[0]
    assert (row.cached, row.seconds) == (False, 1.75)
    all_cached = {label: replace(one, cached=True) for label, one in twin_ran.items()}
    assert report([ACTIVE], all_cached).rows[0].cached is True


def test_seconds_of_the_gate_and_its_twins_are_added_up():
    second = {"name": "swapped", "reason": "shape_lost"}
    both = gate(counterexamples=[{"name": "dropped", "reason": "shape_lost"}, second])
    assert report([both]).rows[0].seconds == 0.75


def test_a_failed_twin_still_counts_its_seconds():
    results = good_results(ACTIVE)
    results[TWIN] = replace(results[TWIN], status=FAILED, verdict=None, seconds=2.0)
    row = report([ACTIVE], results).rows[0]
    assert (row.state, row.seconds, row.rejected) == (FAIL, 2.25, 0)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ({"trials": 1000}, (1000, "trials")),
        ({"examined": 40, "unit": "members"}, (40, "members")),
        ({"examined": 0, "checks": (CheckResult("a", "pass"),)}, (1, "checks")),
    ],
)
def test_the_size_of_a_gate(values, size):
    results = good_results(ACTIVE) | {LABEL: passed(LABEL, verdict(ACTIVE, **values))}
    row = report([ACTIVE], results).rows[0]
    assert (row.count, row.unit) == size


def test_a_case_and_the_gates_it_backs_are_shown_both_ways():
    backed = {"milestone": 0, "kind": "case", "sources": []}
    gates = [
        gate("gate.tool.b", check="case:one", **backed),
        gate("gate.tool.a", check="case:one", **backed),
        gate("gate.tool.c", check="case:two", **backed),
        ACTIVE,
    ]
    made = report(gates)
    assert made.ok
    assert {row.id: row.case for row in made.rows} == {
        "gate.tool.a": "one",
        "gate.tool.b": "one",
        "gate.tool.c": "two",
        ACTIVE.id: None,
    }
    assert made.cases() == {"one": ["gate.tool.a", "gate.tool.b"], "two": ["gate.tool.c"]}


def test_a_selection_has_rows_of_its_gates_only():
    event = gate("gate.event.order")
    made = report([event, ACTIVE, LATER], selection=Selection(area="tool"))
    assert [row.id for row in made.rows] == [ACTIVE.id, LATER.id]
    assert made.ok
    assert not made.complete
    both = report([event, ACTIVE, LATER], selection=Selection(area="tool", milestone=3))
    assert [row.id for row in both.rows] == [LATER.id]


def test_the_pending_gates_of_a_selection_have_to_be_skipped():
    results = without(good_results(ACTIVE, LATER), LATER_LABEL)
    made = report([ACTIVE, LATER], results, selection=Selection(area="tool"))
    assert [(place, rule) for place, rule, _ in faults(made)] == [(LATER_LABEL, "not_skipped")]


def test_other_gates_targets_are_no_strays_of_a_selection():
    event = gate("gate.event.order")
    made = report([event, ACTIVE], selection=Selection(area="tool", kind="structural"))
    assert made.problems == []


def test_strays_and_invalid_entries_of_a_selection():
    strays = [
        Target("//gates:tool/old", tags_of(ACTIVE)),
        Target("//gates:event/old", tags_of(SECOND)),
    ]
    targets = [*targets_of(ACTIVE), *strays, INVALID]
    made = report([ACTIVE], targets=targets, selection=Selection(area="tool"))
    assert [problem.place for problem in made.problems] == [INVALID.label, "//gates:tool/old"]


def test_another_package():
    target = label_of(ACTIVE).replace("//gates", "//team/gates")
    rows, problems = compare([ACTIVE], 0, "team/gates", targets_of(ACTIVE), good_results(ACTIVE))
    assert rows[0].target == target
    assert {fault.rule for fault in rows[0].faults} == {"no_target"}
    assert [problem.rule for problem in problems] == ["stray_target", "stray_target"]


def test_the_repository_s_milestone_has_totals_even_without_gates():
    made = report([LATER], milestone=1)
    assert made.totals() == [Totals(1, 0, 0, 0, 0), Totals(3, 1, 0, 0, 1)]
    assert [one.milestone for one in report([LATER], selection=Selection(3)).totals()] == [3]


def test_the_skipped_label_of_another_gate_is_no_skip_of_this_one():
    results = {LATER_LABEL: TargetResult(LATER_LABEL, SKIPPED)} | good_results(ACTIVE)
    other = gate("gate.tool.sooner", milestone=2, kind="case", check="case:one", sources=[])
    made = report(
        [ACTIVE, LATER, other], results, targets_of(ACTIVE, LATER)[:3] + targets_of(other)[:1]
    )
    assert ("//gates:tool/sooner", "not_skipped") in [
        (place, rule) for place, rule, _ in faults(made)
    ]
