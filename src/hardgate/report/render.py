"""The report as text for people and as JSON for machines; both say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from hardgate.report.faults import Fault
from hardgate.report.rows import FAIL, PASS, PENDING, Report, Row
from hardgate.verdicts.text import one_line

SCHEMA_VERSION = 1
COLUMNS = ("gate", "state", "kind", "size", "rejected", "result", "seconds")
LINE_CHARACTERS = 400
# Faults that no test of the target shows: the registry and what Bazel loaded do not fit.
_BEFORE_TESTS = ("no_target", "not_skipped", "wrong_tags")
_COLOURS = {PASS: "32", FAIL: "31", PENDING: "33"}


def to_json(report: Report, *, failed_only: bool = False) -> str:
    """The report as a JSON object, keys sorted: docs/reference/schemas/report.schema.json."""
    plain = {
        "schema_version": SCHEMA_VERSION,
        "ok": report.ok,
        "complete": report.complete,
        "selection": report.selection.plain(),
        "failed_only": failed_only,
        "milestone": report.milestone,
        "milestones": [asdict(totals) for totals in report.totals()],
        "gates": [asdict(row) for row in _listed(report, failed_only)],
        "cases": report.cases(),
        "problems": [asdict(problem) for problem in report.problems],
        "notes": report.notes,
    }
    return json.dumps(plain, indent=1, sort_keys=True) + "\n"


def to_text(report: Report, *, colour: bool, failed_only: bool = False) -> str:
    """The report for people. `failed_only` leaves out the rows of gates that did not fail."""
    rows = _listed(report, failed_only)
    table = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *table, strict=True)]
    by_milestone: dict[int, list[str]] = {}
    for row, cells in zip(rows, table, strict=True):
        line = "  " + _line(cells, widths)
        if colour:
            start = 2 + widths[0] + 2
            end = start + len(row.state)
            painted = f"\x1b[{_COLOURS[row.state]}m{row.state}\x1b[0m"
            line = line[:start] + painted + line[end:]
        by_milestone.setdefault(row.milestone, []).append(line)
    lines: list[str] = []
    for totals in report.totals():
        mark = "  <- the repository's milestone" if totals.milestone == report.milestone else ""
        counts = f"{totals.passed} pass, {totals.failed} fail, {totals.pending} pending"
        lines.append(f"Milestone {totals.milestone}: {_gates(totals.total)}: {counts}{mark}")
        if totals.milestone in by_milestone:
            lines += ["  " + _line(COLUMNS, widths), *by_milestone[totals.milestone]]
        lines.append("")
    lines += _cases(report)
    for row in rows:
        lines += _failure(row) if row.faults else []
    for problem in report.problems:
        lines += ["PROBLEM", *_fault(problem), ""]
    lines += [f"note: {one_line(note, LINE_CHARACTERS)}" for note in report.notes]
    lines.append(conclusion(report))
    return "\n".join(lines) + "\n"


def conclusion(report: Report) -> str:
    """The last line: how it went, counted."""
    states = [row.state for row in report.rows]
    counts = ", ".join(f"{states.count(state)} {state}" for state in (PASS, FAIL, PENDING))
    count = len(report.problems)
    problems = f", {count} problem{'' if count == 1 else 's'}" if count else ""
    words = report.selection.words()
    scope = f" (only {one_line(words)}: not the complete report)" if words else ""
    verdict = "OK" if report.ok else "NOT OK"
    return f"{verdict}: {_gates(len(states))}: {counts}{problems}{scope}"


def _gates(count: int) -> str:
    return f"{count} gate{'' if count == 1 else 's'}"


def _listed(report: Report, failed_only: bool) -> list[Row]:
    return [row for row in report.rows if row.state == FAIL or not failed_only]


def _cells(row: Row) -> tuple[str, ...]:
    kind = row.kind if row.case is None else f"{row.kind}:{row.case}"
    size = "-" if row.count is None else one_line(f"{row.count} {row.unit}".strip(), 40)
    rejected = "-" if row.state == PENDING else f"{row.rejected}/{row.counterexamples}"
    result = {True: "cached", False: "run", None: "-"}[row.cached]
    seconds = "-" if row.seconds is None else f"{row.seconds:.2f}"
    return (row.id, row.state, kind, size, rejected, result, seconds)


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cases(report: Report) -> list[str]:
    """The gates that each case backs; the way back is in the rows' column kind."""
    backed = report.cases()
    if not backed:
        return []
    width = max(map(len, backed))
    lines = [f"  {case.ljust(width)}  {', '.join(gates)}" for case, gates in backed.items()]
    return ["Cases and the gates they back", *lines, ""]


def _failure(row: Row) -> list[str]:
    lines = [f"FAIL {row.id}"]
    for fault in row.faults:
        lines += _fault(fault)
    tested = [fault.place for fault in row.faults if fault.rule not in _BEFORE_TESTS]
    repeat = [f"  repeat: bazel test {' '.join(dict.fromkeys(tested))}"] if tested else []
    return [*lines, *repeat, ""]


def _fault(fault: Fault) -> list[str]:
    """A fault and its details, each made safe to print and kept on a line of its own."""
    lines = [f"  {one_line(fault.render(), LINE_CHARACTERS)}"]
    return lines + [f"    {one_line(detail, LINE_CHARACTERS)}" for detail in fault.details]
