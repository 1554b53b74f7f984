"""The process of a gate that runs in its own test: what becomes of each way a check can end."""

import json
import time

import pytest

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.kinds import in_process
from hardgate.kinds.entry import MissingCodeError
from hardgate.kinds.in_process import run_process
from hardgate.verdicts.network import NetworkProof
from hardgate.verdicts.verdict import CheckResult, conclude

ATTEMPTS = (("dns", "EAI_AGAIN"), ("tcp", "ENETUNREACH"), ("tcp_ipv6", "ENETUNREACH"))
PROOF = NetworkProof(True, (), tuple(sorted((*ATTEMPTS, ("udp", "ENETUNREACH")))), "", "")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the process with a runner; returns (exit code, verdict or None, stdout, stderr)."""
    entry = {"id": "gate.x.y", "area": "x", "slug": "y", "kind": "property", "milestone": 1}
    entry |= {"path": "gates/x.yaml", "line": 3, "check": "gates/checks/x.py::y"}
    entry["counterexamples"] = [{"name": "swapped", "reason": "order"}]
    (tmp_path / "entry.json").write_text(json.dumps(entry))
    (tmp_path / "manifest").write_text("")
    monkeypatch.setenv("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path))
    monkeypatch.delenv("XML_OUTPUT_FILE", raising=False)
    monkeypatch.setattr(in_process, "prove", lambda: PROOF)

    def running(runner, *more):
        options = [f"--entry={tmp_path}/entry.json", f"--manifest={tmp_path}/manifest"]
        code = run_process("property", runner, [*options, "--repeat=bazel test //x", *more])
        file = tmp_path / "verdict.json"
        verdict = json.loads(file.read_text()) if file.exists() else None
        return code, verdict, *capsys.readouterr()

    return running


def passing(entry, tree, options):
    check = CheckResult("order", "pass", "sorted", "sorted")
    return conclude(id=entry.id, kind=entry.kind, milestone=entry.milestone, checks=(check,))


def raising(error):
    def runner(entry, tree, options):
        raise error

    return runner


def test_a_passing_check_is_published_with_its_proof(run):
    code, verdict, out, _ = run(passing)
    assert (code, verdict["outcome"], verdict["network"]["off"]) == (0, "pass", True)
    assert out.startswith("PASS gate.x.y")


def test_a_network_that_is_on_fails_a_passing_check(run, monkeypatch):
    on = NetworkProof(False, ("interface eth0 is up",), (), "network_on", "the network is on")
    monkeypatch.setattr(in_process, "prove", lambda: on)
    code, verdict, out, _ = run(passing)
    assert (code, verdict["outcome"]) == (1, "fail")
    assert "network_on: the network is on" in out


@pytest.mark.parametrize(
    ("error", "rule"),
    [
        (ValueError("odd"), "check_crashed"),
        (MissingCodeError("there is no module gates/checks/x.py"), "check_missing"),
    ],
)
def test_a_check_that_does_not_run_to_its_end_fails(run, error, rule):
    code, verdict, _, _ = run(raising(error))
    assert (code, [finding["rule"] for finding in verdict["findings"]]) == (1, [rule])


def test_a_check_that_takes_too_long_fails(run, monkeypatch):
    monkeypatch.setattr(in_process, "DEFAULT_LIMIT_SECONDS", 0.05)
    code, verdict, _, _ = run(lambda entry, tree, options: time.sleep(30))
    assert (code, verdict["findings"][0]["rule"]) == (1, "time_limit_seconds")


def test_a_malformed_file_is_no_verdict(run):
    problem = Problem("evals/x.txt", 1, 2, "corpus.no_separator", "found no line '---'")
    code, verdict, _, err = run(raising(DefinitionError([problem])))
    assert (code, verdict) == (4, None)
    assert err == "evals/x.txt:1:2: corpus.no_separator: found no line '---'\n"


def test_an_unknown_counterexample_is_a_usage_error(run):
    code, verdict, _, err = run(passing, "--counterexample=swaped")
    assert (code, verdict) == (2, None)
    assert "gate.x.y has no counterexample 'swaped'; it declares: swapped" in err


def test_a_defect_that_is_not_there_rejects_nothing(run):
    code, verdict, _, _ = run(passing, "--counterexample=swapped")
    assert (code, verdict["counterexample"]["why"]) == (1, "not_reached")
