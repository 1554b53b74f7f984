"""What decides a verdict's outcome, and what its file holds."""

import itertools
import json

import pytest

from hardgate.verdicts.network import ATTEMPTS, NETWORK_ON, NetworkProof
from hardgate.verdicts.verdict import (
    FAIL,
    LIMIT_HIT,
    NOTHING_EXAMINED,
    PASS,
    WHYS,
    CheckResult,
    Counterexample,
    Finding,
    Verdict,
    VerdictError,
    conclude,
    from_json,
    with_network,
)

OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
ON = NetworkProof(False, ("interface eth0 is up",), (), NETWORK_ON, "the network is on")
GOOD = CheckResult("terminal_status", PASS, "COMPLETED", "COMPLETED", "", "c.yaml", 9)
BAD = CheckResult("effects", FAIL, [], ["demo.write"], "unexpected: demo.write", "c.yaml", 3)
FOUND = Finding("src/a.py", 3, "layers", "agent_core.domain imports agent_core.ports")
IDENTITY = {"id": "gate.harness.id_grammar", "kind": "structural", "milestone": 0}


def made(**values) -> Verdict:
    return conclude(**{**IDENTITY, "network": OFF, **values})


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ({"checks": (GOOD,)}, PASS),
        ({"examined": 3, "unit": "files"}, PASS),
        ({}, FAIL),
        ({"trials": 100}, FAIL),
        ({"checks": (GOOD, BAD)}, FAIL),
        ({"checks": (CheckResult("x", "passed"),)}, FAIL),
        ({"checks": (GOOD,), "findings": (FOUND,)}, FAIL),
        ({"checks": (GOOD,), "limits_hit": ("events",)}, FAIL),
        ({"checks": (GOOD,), "network": ON}, FAIL),
        ({"checks": (GOOD,), "network": None}, PASS),
    ],
)
def test_outcome(values, outcome):
    assert made(**values).outcome == outcome


@pytest.mark.parametrize("rejected", [True, False])
@pytest.mark.parametrize("why", WHYS)
@pytest.mark.parametrize("network", [OFF, ON])
def test_a_counterexample_passes_only_when_rejected_for_its_reason(rejected, why, network):
    example = Counterexample("dropped", "layers", rejected, why)
    verdict = made(counterexample=example, findings=(FOUND,), network=network)
    assert verdict.passed == (rejected and why == "rejected" and network is OFF)


def test_what_looked_at_nothing_says_so():
    assert [finding.rule for finding in made().findings] == [NOTHING_EXAMINED]


def test_each_limit_that_was_hit_is_named():
    verdict = made(checks=(GOOD,), limits_hit=("events", "text"))
    assert [finding.rule for finding in verdict.findings] == [LIMIT_HIT, LIMIT_HIT]
    assert "events" in verdict.findings[0].message


def test_a_live_network_fails_a_verdict_that_passed():
    verdict = made(checks=(GOOD,), network=None)
    assert with_network(verdict, OFF).passed
    assert not with_network(verdict, ON).passed


def test_a_proof_does_not_make_a_failed_verdict_pass():
    assert not with_network(made(checks=(BAD,), network=None), OFF).passed


def test_findings_are_sorted_and_unique_whatever_their_order():
    findings = [Finding(path, line, "r", "m") for path in ("b.py", "a.py") for line in (10, 9)]
    texts = {
        made(examined=1, findings=(*order, *order)).to_json()
        for order in itertools.permutations(findings)
    }
    assert len(texts) == 1
    assert [finding["path"] for finding in json.loads(texts.pop())["findings"]] == [
        "a.py",
        "a.py",
        "b.py",
        "b.py",
    ]


@pytest.mark.parametrize(
    "verdict",
    [
        made(
            checks=(GOOD, BAD), findings=(FOUND,), trials=7, seed="calculator_tool", subject="s 1"
        ),
        made(examined=2, unit="files", network=None),
        made(counterexample=Counterexample("a", "b", False, "crashed", "Traceback")),
        made(checks=(CheckResult("x", FAIL, {"a": [1, 2.5, None, True]}, "\ud800 \x1b é"),)),
        made(checks=(GOOD,), network=ON, limits_hit=("events",)),
    ],
)
def test_a_file_reads_back_as_what_was_written(verdict):
    text = verdict.to_json()
    assert text.endswith("}\n") and text.isascii()
    assert from_json(text) == verdict
    assert from_json(text).to_json() == text


def test_not_a_number_is_never_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        made(checks=(CheckResult("x", FAIL, float("nan")),)).to_json()


def edited(**changes) -> str:
    plain = json.loads(made(checks=(GOOD,), counterexample=None).to_json())
    plain.update(changes)
    return json.dumps(plain)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a verdict"),
        ("[" * 100_000, "not a verdict"),
        ("[]", "expected an object, found list"),
        ('{"id": "a", "id": "b"}', "'id' occurs twice"),
        (edited(milestone=float("nan")), "NaN is no JSON number"),
        (edited(extra=1), "unknown key 'extra'"),
        (edited(milestone="0"), "verdict.milestone: expected int, found str"),
        (edited(examined=True), "verdict.examined: expected int, found bool"),
        (edited(trials="9"), "verdict.trials: expected int or null, found str"),
        (edited(kind="casual"), "'casual' is none of case, property"),
        (edited(outcome="ok"), "'ok' is neither pass nor fail"),
        (edited(checks=[]), "claims pass"),
        (edited(checks=["x"]), "checks[0]: expected an object, found str"),
        (edited(checks=[{"name": "x"}]), "checks[0]: the key 'outcome' is missing"),
        (edited(limits_hit=["events"]), "claims pass"),
        (edited(limits_hit=[1]), "limits_hit[0]: expected str, found int"),
        (edited(findings=[{"path": "", "line": 0, "rule": "r", "message": "m"}]), "claims pass"),
        (edited(network={**OFF.to_plain(), "attempts": {}}), "without the attempts"),
        (edited(network={"off": True}), "network: the key 'attempts' is missing"),
        (
            edited(
                counterexample={
                    "name": "n",
                    "reason": "r",
                    "rejected": True,
                    "why": "because",
                    "message": "",
                }
            ),
            "'because' is none of rejected",
        ),
    ],
)
def test_a_file_that_is_no_verdict_is_refused(text, said):
    with pytest.raises(VerdictError) as refused:
        from_json(text)
    assert said in str(refused.value)


def test_every_problem_of_a_file_is_named_at_once():
    plain = json.loads(edited(extra=1, milestone="0"))
    del plain["unit"]
    with pytest.raises(VerdictError) as refused:
        from_json(json.dumps(plain))
    assert len(refused.value.problems) == 3


def test_a_failing_file_may_stay_a_failure_without_evidence():
    """Fail closed: only a claim to pass has to be backed by what the file holds."""
    assert from_json(edited(outcome=FAIL)).outcome == FAIL
