"""That the benchmark of one case runs the suite's cases and refuses one that fails."""

import pytest

from benchmarks import one_case
from hardgate.verdicts.verdict import CheckResult, conclude


def test_every_case_has_a_row_for_each_step() -> None:
    rows = one_case.measure(2)
    assert [(row["case"], row["step"]) for row in rows] == [
        (case, step) for case in one_case.CASES for step in ("run and judge", "read")
    ]
    assert all(row["CPU ms"] > 0 and row["checks"] > 8 for row in rows)


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_a_case_that_fails_ends_the_program(outcome: str) -> None:
    check = CheckResult("final_text_contains", outcome, "a", "b", "")
    verdict = conclude(id="case.x", kind="case", milestone=1, checks=(check,), examined=1)
    if outcome == "pass":
        one_case.must_pass("x", verdict)
    else:
        with pytest.raises(SystemExit, match="'x' fails: final_text_contains"):
            one_case.must_pass("x", verdict)


def test_a_case_without_checks_ends_the_program() -> None:
    verdict = conclude(id="case.x", kind="case", milestone=1, examined=1)
    with pytest.raises(SystemExit, match="it has no checks"):
        one_case.must_pass("x", verdict)
