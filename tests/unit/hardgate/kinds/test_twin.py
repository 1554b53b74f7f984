"""What becomes of a defect: rejected only for its reason, reached, and by a check that ended."""

import time

import pytest

from hardgate.kinds.twin import (
    Ending,
    TimeLimitReached,
    judge,
    not_in_place,
    run_with_limit,
    time_limit,
)


@pytest.mark.parametrize(
    ("ending", "why", "words"),
    [
        (Ending(reached=True, failed=True, reasons=["a", "b"]), "rejected", "rejected for b"),
        (Ending(reached=True, failed=False, reasons=[]), "not_rejected", "passes"),
        (Ending(reached=True, failed=False, reasons=["b"]), "not_rejected", "passes"),
        (Ending(reached=True, failed=True, reasons=["a", "c"]), "other_reason", "found a, c"),
        (Ending(reached=True, failed=True), "other_reason", "found no reason at all"),
        (Ending(reached=False, failed=True, reasons=["b"]), "not_reached", "without looking"),
        (Ending(reached=False), "not_reached", "without looking"),
        (
            Ending(reached=True, failed=True, reasons=["b"], crash="KeyError: 'x'"),
            "crashed",
            "KeyError: 'x'",
        ),
        (
            Ending(reached=True, failed=True, reasons=["b"], crash="longer", timed_out=True),
            "timed_out",
            "longer",
        ),
    ],
)
def test_judge(ending, why, words):
    result = judge("name", "b", ending)
    assert (result.name, result.reason, result.why) == ("name", "b", why)
    assert result.rejected == (why == "rejected")
    assert words in result.message


def test_a_reason_is_a_whole_name():
    ending = Ending(reached=True, failed=True, reasons=["layer_order_of_tests"])
    assert judge("name", "layer_order", ending).why == "other_reason"


def test_a_defect_that_has_no_place_was_not_reached():
    result = not_in_place("name", "b", "the text is gone")
    assert (result.rejected, result.why) == (False, "not_reached")
    assert "the text is gone" in result.message


def raise_(error):
    raise error


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda: None, ("", False)),
        (lambda: raise_(ValueError("first\nsecond")), ("ValueError: first", False)),
        (lambda: raise_(AssertionError), ("AssertionError", False)),
        (lambda: raise_(SystemExit(0)), ("SystemExit: 0", False)),
        (lambda: raise_(ImportError("no module")), ("ImportError: no module", False)),
    ],
)
def test_how_a_run_ended(run, expected):
    assert run_with_limit(run, 60) == expected


def test_a_run_that_swallows_errors_is_stopped_all_the_same():
    def run():
        while True:
            try:
                time.sleep(5)
            except Exception:
                continue

    assert run_with_limit(run, 0.01) == ("longer than 0.01 seconds", True)


def test_the_limit_ends_with_its_block():
    with time_limit(0.01):
        pass
    time.sleep(0.02)
    with pytest.raises(TimeLimitReached), time_limit(0.01):
        time.sleep(5)
