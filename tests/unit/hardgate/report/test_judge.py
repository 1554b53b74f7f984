"""Each way in which the target of an active gate fails to count as passed, with its exact text."""

import json
from dataclasses import replace

import pytest

from hardgate.report import results
from hardgate.report.faults import Fault
from hardgate.report.judge import DETAILS_MAX, judge
from hardgate.report.results import TargetResult
from hardgate.verdicts.verdict import CheckResult, Counterexample, Finding
from tests.unit.hardgate.report.samples import (
    LABEL,
    OFF,
    ON,
    TWIN,
    gate,
    passed,
    verdict,
)

GATE = gate()
EXAMPLE = GATE.counterexamples[0]
FOUND = Finding("src/a.py", 3, "shape_lost", "the outcome has no status")
BAD = CheckResult("effects", "fail", [], ["demo.write"], "unexpected", "evals/cases/c.yaml", 9)


def fault_of(result, judged=GATE, twin=None, label=LABEL) -> Fault | None:
    return judge(label, result, judged, twin).fault


def failed(made, **values) -> TargetResult:
    return TargetResult(LABEL, results.FAILED, verdict=made.to_json(), **values)


def test_a_gate_that_holds():
    judged = judge(LABEL, passed(LABEL, verdict(GATE)), GATE)
    assert judged.fault is None
    assert judged.verdict == verdict(GATE)


def test_a_counterexample_that_is_rejected():
    assert fault_of(passed(TWIN, verdict(GATE, EXAMPLE)), twin=EXAMPLE, label=TWIN) is None


# What Bazel says -> the report's rule, message and details.
WITHOUT_A_VERDICT = {
    "nothing": (
        None,
        "no_result",
        "Bazel has no result for it; a flag or a filter may have left it out",
        (),
    ),
    "skipped": (
        TargetResult(LABEL, results.SKIPPED),
        "skipped",
        "Bazel skipped it; a gate at or below the repository's milestone has to run",
        (),
    ),
    "aborted": (
        TargetResult(LABEL, results.ABORTED, "user_interrupted"),
        "no_result",
        "Bazel ended without a result for it (user_interrupted)",
        (),
    ),
    "crashed check": (
        TargetResult(
            LABEL, results.FAILED_TO_BUILD, "the check crashed: exit code 1", output="a\nb"
        ),
        "failed_to_build",
        "FAILED TO BUILD: the check crashed: exit code 1",
        ("a", "b"),
    ),
    "not built for no reason": (
        TargetResult(LABEL, results.FAILED_TO_BUILD),
        "failed_to_build",
        "FAILED TO BUILD: no reason",
        (),
    ),
    "failed process": (
        TargetResult(LABEL, results.FAILED, output="usage: verdict_test\nexit"),
        "failed",
        "it failed without a verdict",
        ("usage: verdict_test", "exit"),
    ),
    "timeout": (
        TargetResult(LABEL, results.FAILED, "timeout"),
        "failed",
        "it failed (timeout) without a verdict",
        (),
    ),
    "passed without outputs": (
        TargetResult(LABEL, results.PASSED, no_verdict="the test wrote no outputs"),
        "no_verdict",
        "Bazel counts it as passed, but there is no verdict to be read",
        ("the test wrote no outputs",),
    ),
    "passed with garbage": (
        TargetResult(LABEL, results.PASSED, verdict="garbage"),
        "verdict_unreadable",
        "Bazel counts it as passed, but there is no verdict to be read",
        ("not a verdict: Expecting value: line 1 column 1 (char 0)",),
    ),
    "passed with a list": (
        TargetResult(LABEL, results.PASSED, verdict="[]"),
        "verdict_unreadable",
        "Bazel counts it as passed, but there is no verdict to be read",
        ("verdict: expected an object, found list",),
    ),
}


@pytest.mark.parametrize("name", WITHOUT_A_VERDICT)
def test_without_a_verdict(name):
    result, rule, message, details = WITHOUT_A_VERDICT[name]
    assert fault_of(result) == Fault(LABEL, rule, message, details)


def test_the_findings_of_a_failed_gate_are_shown():
    fault = fault_of(failed(verdict(GATE, findings=(FOUND,))))
    assert fault == Fault(
        LABEL, "failed", "1 finding", ("src/a.py:3: shape_lost: the outcome has no status",)
    )


def test_the_failed_checks_of_a_failed_gate_are_shown():
    good = CheckResult("terminal_status", "pass", "COMPLETED", "COMPLETED")
    fault = fault_of(
        failed(verdict(GATE, checks=(good, BAD, replace_name(BAD)), findings=(FOUND,)))
    )
    assert fault == Fault(
        LABEL,
        "failed",
        "2 of 3 checks failed, 1 finding",
        (
            "src/a.py:3: shape_lost: the outcome has no status",
            "evals/cases/c.yaml:9: effects: expected [], observed ['demo.write']. unexpected",
            "bare: expected [], observed ['demo.write']",
        ),
    )


def replace_name(check: CheckResult) -> CheckResult:
    return CheckResult("bare", check.outcome, check.expected, check.observed)


def test_many_findings_are_cut():
    found = tuple(Finding("a.py", line, "rule", "message") for line in range(1, 31))
    fault = fault_of(failed(verdict(GATE, findings=found)))
    assert fault is not None
    assert fault.message == "30 findings"
    assert len(fault.details) == DETAILS_MAX + 1
    assert fault.details[-1] == "... and 18 more"


def test_a_live_network_is_named():
    fault = fault_of(failed(verdict(GATE, network=ON)))
    details = ("network_on: the network is on",)
    assert fault == Fault(LABEL, "failed", "the network was not off", details)


def test_a_failed_test_with_a_passing_verdict():
    fault = fault_of(failed(verdict(GATE), detail="timeout", output="killed"))
    message = "it failed (timeout) although its verdict passes"
    assert fault == Fault(LABEL, "failed", message, ("killed",))


def test_a_failed_test_with_an_unreadable_verdict():
    result = TargetResult(LABEL, results.FAILED, verdict="{", output="killed")
    assert fault_of(result) == Fault(LABEL, "failed", "it failed without a verdict", ("killed",))


@pytest.mark.parametrize(
    "why", ["not_rejected", "other_reason", "not_reached", "crashed", "timed_out"]
)
def test_a_counterexample_that_is_not_rejected_says_why(why):
    example = Counterexample("dropped", "shape_lost", False, why, "the check said nothing")
    made = verdict(GATE, counterexample=example, findings=(FOUND,))
    assert fault_of(failed(made), twin=EXAMPLE) == Fault(
        LABEL,
        "counterexample_not_rejected",
        f"the counterexample was not rejected for shape_lost: {why}",
        ("the check said nothing", "src/a.py:3: shape_lost: the outcome has no status"),
    )


OTHER = gate("gate.tool.other", milestone=1, kind="case", check="case:one", sources=[])
DOUBTED = {
    "another gate": (
        verdict(OTHER),
        None,
        "verdict_of_another",
        "its verdict is about gate.tool.other, kind case, milestone 1",
    ),
    "another kind": (
        verdict(GATE, kind="corpus"),
        None,
        "verdict_of_another",
        "its verdict is about gate.tool.shape, kind corpus, milestone 0",
    ),
    "another milestone": (
        verdict(GATE, milestone=2),
        None,
        "verdict_of_another",
        "its verdict is about gate.tool.shape, kind structural, milestone 2",
    ),
    "a failing verdict": (
        verdict(GATE, findings=(FOUND,)),
        None,
        "verdict_fails",
        "Bazel counts it as passed, its verdict does not",
    ),
    "nothing examined": (
        verdict(GATE, examined=0),
        None,
        "verdict_fails",
        "Bazel counts it as passed, its verdict does not",
    ),
    "no network proof": (
        verdict(GATE, network=None),
        None,
        "network_unproven",
        "its verdict holds no proof that the network was off",
    ),
    "a twin's verdict for the gate": (
        verdict(GATE, EXAMPLE),
        None,
        "verdict_of_another",
        "its verdict is about the counterexample dropped (shape_lost), not about the gate itself",
    ),
    "the gate's verdict for a twin": (
        verdict(GATE),
        EXAMPLE,
        "verdict_of_another",
        "its verdict is about the gate itself, not about the counterexample dropped (shape_lost)",
    ),
    "another twin's verdict": (
        verdict(GATE, counterexample=Counterexample("swapped", "shape_lost", True, "rejected")),
        EXAMPLE,
        "verdict_of_another",
        "its verdict is about the counterexample swapped (shape_lost), "
        "not about the counterexample dropped (shape_lost)",
    ),
    "rejected for another reason than the registry's": (
        verdict(GATE, counterexample=Counterexample("dropped", "too_long", True, "rejected")),
        EXAMPLE,
        "verdict_of_another",
        "its verdict is about the counterexample dropped (too_long), "
        "not about the counterexample dropped (shape_lost)",
    ),
}


@pytest.mark.parametrize("name", DOUBTED)
def test_a_pass_whose_verdict_does_not_count(name):
    made, twin, rule, message = DOUBTED[name]
    fault = fault_of(passed(LABEL, made), twin=twin)
    assert fault is not None
    assert (fault.rule, fault.message) == (rule, message)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"network": OFF.to_plain() | {"attempts": {}}}, "network: claims to be off without"),
        ({"examined": 0}, "outcome: claims pass"),
        ({"findings": [FOUND._asdict()]}, "outcome: claims pass"),
        ({"trials": "many"}, "verdict.trials: expected int or null"),
        ({"surplus": 1}, "verdict: unknown key 'surplus'"),
    ],
)
def test_a_pass_whose_verdict_contradicts_itself(change, problem):
    plain = json.loads(verdict(GATE).to_json()) | change
    result = replace(passed(LABEL, verdict(GATE)), verdict=json.dumps(plain))
    fault = fault_of(result)
    assert fault is not None
    assert fault.rule == "verdict_unreadable"
    assert any(problem in line for line in fault.details)


def test_a_repeated_key_of_a_verdict_is_refused():
    text = verdict(GATE, findings=(FOUND,)).to_json().replace('"fail"', '"fail", "outcome": "pass"')
    fault = fault_of(replace(passed(LABEL, verdict(GATE)), verdict=text))
    assert fault is not None
    assert fault.details == ("not a verdict: the key 'outcome' occurs twice in one object",)


PROPERTY = gate(kind="property", trials=1000, sources=[])
CORPUS = gate(kind="corpus", corpus="evals/corpora/x", minimum_members=40, sources=[])
CHECK = CheckResult("holds", "pass")


@pytest.mark.parametrize(
    ("judged", "values", "rule", "message"),
    [
        (PROPERTY, {"trials": 999}, "too_few_trials", "found 999 trials; allowed: at least 1000"),
        (PROPERTY, {}, "too_few_trials", "found 0 trials; allowed: at least 1000"),
        (CORPUS, {"examined": 39}, "too_few_members", "found 39 members; allowed: at least 40"),
    ],
)
def test_too_little_was_tried(judged, values, rule, message):
    made = verdict(judged, checks=(CHECK,), **({"examined": 0} | values))
    assert fault_of(passed(LABEL, made), judged) == Fault(LABEL, rule, message)


@pytest.mark.parametrize(
    ("judged", "values"),
    [(PROPERTY, {"trials": 1000, "examined": 0}), (CORPUS, {"examined": 40, "unit": "members"})],
)
def test_enough_was_tried(judged, values):
    assert fault_of(passed(LABEL, verdict(judged, checks=(CHECK,), **values)), judged) is None


def test_a_counterexample_may_be_rejected_before_all_trials():
    made = verdict(PROPERTY, EXAMPLE, trials=3)
    assert fault_of(passed(TWIN, made), PROPERTY, EXAMPLE, TWIN) is None
