"""The checker says no, and for the right reason, to every defect that it is there for."""

import inspect
import re

import pytest

from tests.resilience import checker
from tests.resilience.simulator.defects import DEFECTS
from tests.resilience.simulator.history import History

HISTORIES = 200
UNDISTURBED = 20


def rules_broken_by(name: str) -> set[str]:
    """Of the first history in which the defect's own rule is broken."""
    found: set[str] = set()
    for number in range(HISTORIES):
        with DEFECTS[name].patch():
            result = History(f"defect {number}").play()
        broken = {violation.rule for violation in result.violations}
        found |= broken
        if DEFECTS[name].rule in broken:
            break
    return found


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_breaks_its_rule(name: str) -> None:
    assert DEFECTS[name].rule in rules_broken_by(name)


def test_without_a_defect_the_same_histories_break_no_rule() -> None:
    for number in range(UNDISTURBED):
        assert History(f"defect {number}").play().violations == []


def test_every_rule_has_a_defect_that_breaks_it() -> None:
    rules = set(re.findall(r'Violation\(\s*"(\w+)"', inspect.getsource(checker)))
    assert rules == {defect.rule for defect in DEFECTS.values()}
