"""What becomes of a defect: rejected only for its reason, reached, and by a check that ended."""

import time

import pytest

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.kinds.entry import DeclaredCounterexample, GateEntry
from hardgate.kinds.twin import (
    Ending,
    judge,
    run_twin,
)
from hardgate.verdicts.time_limit import TimeLimitReached, time_limit
from hardgate.verdicts.verdict import CheckResult, Finding, conclude


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


ENTRY = GateEntry("gate.a.b", "a", "b", "property", 0, "gates/a.yaml", 1)


def verdict_of(tree, run, limit_seconds=60):
    """The verdict of a twin whose defect lays a file over `a.txt`."""
    sources = OverlayTree(ManifestTree({}))
    sources.write("a.txt", "1")
    sources.write("gates/defects/a/c/a.txt", "2")
    declared = DeclaredCounterexample("c", "clause", tree)
    return run_twin(ENTRY, declared, sources, run, limit_seconds)


def gate_verdict(tree, **parts):
    tree.read("a.txt")
    return conclude(id="gate.a.b", kind="property", milestone=0, **parts)


FAILED_CHECK = CheckResult(name="clause", outcome="fail", expected=1, observed=2)


def test_a_failed_check_is_a_reason_like_a_finding():
    verdict = verdict_of(
        "gates/defects/a/c", lambda tree: gate_verdict(tree, checks=(FAILED_CHECK,), trials=7)
    )
    assert (verdict.outcome, verdict.counterexample.why) == ("pass", "rejected")
    assert (verdict.checks, verdict.trials) == ((FAILED_CHECK,), 7)


def test_a_gate_that_examined_nothing_has_that_as_its_reason():
    verdict = verdict_of("gates/defects/a/c", gate_verdict)
    assert (verdict.outcome, verdict.counterexample.why) == ("fail", "other_reason")
    assert "found nothing_examined" in verdict.counterexample.message


def raising(error):
    def run(tree):
        tree.read("a.txt")
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (AssertionError(), "AssertionError"),
        (SystemExit(0), "SystemExit: 0"),
        (ImportError("no module"), "ImportError: no module"),
    ],
)
def test_a_check_that_raises_has_rejected_nothing(error, message):
    verdict = verdict_of("gates/defects/a/c", raising(error))
    assert (verdict.outcome, verdict.counterexample.why) == ("fail", "crashed")
    assert verdict.counterexample.message.endswith(f": {message}")


def test_a_check_that_swallows_errors_is_stopped_all_the_same():
    def run(tree):
        while tree.read("a.txt"):
            try:
                time.sleep(5)
            except Exception:
                continue

    verdict = verdict_of("gates/defects/a/c", run, limit_seconds=0.01)
    assert (verdict.outcome, verdict.counterexample.why) == ("fail", "timed_out")
    assert "longer than 0.01 seconds" in verdict.counterexample.message


def test_a_defect_that_has_no_place_was_not_reached():
    verdict = verdict_of("gates/defects/a/none", gate_verdict)
    assert (verdict.outcome, verdict.counterexample.why) == ("fail", "not_reached")
    assert "holds no file" in verdict.counterexample.message


def test_the_limit_ends_with_its_block():
    with time_limit(0.01):
        pass
    time.sleep(0.02)
    with pytest.raises(TimeLimitReached), time_limit(0.01):
        time.sleep(5)


def agent_verdict(run):
    """The verdict of a twin whose defect is in the agent that the process was given."""
    declared = DeclaredCounterexample("c", "clause", agent="forgetful")
    return run_twin(ENTRY, declared, OverlayTree(ManifestTree({})), run, 60)


def test_a_broken_agent_that_ran_and_was_refused_is_rejected():
    verdict = agent_verdict(
        lambda tree: conclude(
            id="gate.a.b",
            kind="case",
            milestone=0,
            checks=(FAILED_CHECK,),
            examined=2,
            unit="events",
        )
    )
    assert (verdict.outcome, verdict.counterexample.why) == ("pass", "rejected")


def test_a_broken_agent_that_was_not_started_is_not_rejected():
    verdict = agent_verdict(
        lambda tree: conclude(
            id="gate.a.b",
            kind="case",
            milestone=0,
            findings=(Finding("evals/cases/01_a.yaml", 1, "clause", "not there"),),
        )
    )
    assert (verdict.outcome, verdict.counterexample.why) == ("fail", "not_reached")
