"""The page about resilience names every fault that is counted and every rule that is checked."""

import re
from pathlib import Path

from tests.resilience.simulator.campaign import MAXIMUM_TIMES, TIMES
from tests.resilience.simulator.defects import DEFECTS
from tests.resilience.simulator.faults import KILLED, KINDS

PAGE = Path("docs/reference/resilience.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> set[str]:
    """The code spans in the first column of the table below a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\|([^|]*)\|", section, re.MULTILINE)
    return {span for row in rows for span in re.findall(r"`([^`]+)`", row)}


def test_every_fault_has_a_row() -> None:
    faults = {kind for kind in KINDS if not kind.startswith(KILLED)}
    assert first_cells("Histories in one process") == faults


def test_every_rule_has_a_row() -> None:
    assert first_cells("What has to hold") == {defect.rule for defect in DEFECTS.values()}


def test_the_number_of_times_is_that_of_the_program() -> None:
    assert f"{TIMES}=10 " in PAGE
    assert f"at most {MAXIMUM_TIMES:,}\ntimes" in PAGE
