"""The report as text for people and as JSON for machines; both say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from hardgate.report.rows import FAIL, PASS, PENDING, Report, Row
from hardgate.verdicts.text import one_line, printable

_COLOURS = {PASS: "32", FAIL: "31", PENDING: "33"}
COLUMNS = ("gate", "state", "kind", "size", "rejected", "result", "seconds")
LINE_CHARACTERS = 400


def to_json(report: Report) -> str:
    """The report as a JSON object, keys sorted."""
    plain = {
        "schema_version": 1,
        "ok": report.ok,
        "complete": not report.selection,
        "selection": report.selection,
        "milestone": report.milestone,
        "milestones": [asdict(totals) for totals in report.totals()],
        "gates": [{**asdict(row), "area": row.area} for row in report.rows],
        "problems": report.problems,
        "notes": report.notes,
    }
    return json.dumps(plain, indent=1, sort_keys=True) + "\n"


def to_text(report: Report, *, colour: bool, failed_only: bool = False) -> str:
    """The report for people. `failed_only` leaves out the rows of gates that did not fail."""
    rows = [row for row in report.rows if row.state == FAIL or not failed_only]
    table = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *table, strict=True)]
    lines: list[str] = []
    for totals in report.totals():
        mark = "  <- the repository's milestone" if totals.milestone == report.milestone else ""
        counts = f"{totals.total} gates: {totals.passed} pass, {totals.failed} fail"
        lines.append(f"Milestone {totals.milestone}: {counts}, {totals.pending} pending{mark}")
        chosen = [i for i, row in enumerate(rows) if row.milestone == totals.milestone]
        if chosen:
            lines.append("  " + _line(COLUMNS, widths))
            lines += ["  " + _coloured(table[i], widths, rows[i].state, colour) for i in chosen]
        lines.append("")
    lines += _failures(row for row in rows if row.reasons)
    lines += [_problem(problem) for problem in report.problems]
    lines += [f"note: {printable(note)}" for note in report.notes]
    lines.append(_conclusion(report))
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    result = {True: "cached", False: "run", None: "-"}[row.cached]
    rejected = f"{row.rejected}/{row.counterexamples}" if row.state != PENDING else "-"
    seconds = "-" if row.seconds is None else f"{row.seconds:.2f}"
    return (row.id, row.state, row.kind, one_line(row.size) or "-", rejected, result, seconds)


def _line(cells: Iterable[str], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _coloured(cells: tuple[str, ...], widths: list[int], state: str, colour: bool) -> str:
    line = _line(cells, widths)
    if not colour:
        return line
    start = widths[0] + 2
    end = start + len(state)
    return f"{line[:start]}\x1b[{_COLOURS[state]}m{line[start:end]}\x1b[0m{line[end:]}"


def _failures(rows: Iterable[Row]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        lines.append(f"FAIL {row.id}")
        for reason in row.reasons:
            lines += ["  " + one_line(line, LINE_CHARACTERS) for line in reason.split("\n")]
        lines += [f"  repeat: bazel test {row.target}", ""]
    return lines


def _problem(problem: str) -> str:
    lines = [one_line(line, LINE_CHARACTERS) for line in problem.split("\n")]
    return "PROBLEM " + "\n  ".join(lines)


def _conclusion(report: Report) -> str:
    states = [row.state for row in report.rows]
    counts = ", ".join(f"{states.count(state)} {state}" for state in (PASS, FAIL, PENDING))
    scope = f" (selection: {report.selection}; not the complete report)" if report.selection else ""
    problems = f", {len(report.problems)} problems" if report.problems else ""
    verdict = "OK" if report.ok else "NOT OK"
    return f"{verdict}: {len(states)} gates: {counts}{problems}{scope}"
