"""Which ends of a program count as proven: an honest one, and no other, each by its name."""

import socket

import pytest

from gates.checks import harness_egress
from gates.checks.harness_egress import ATTEMPTS, OFF, State, an_answer_is_no_refusal, judge_program
from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.kinds.checking import Violation
from hardgate.verdicts.network import NetworkProof, prove
from hardgate.verdicts.verdict import conclude, with_network

PASSING = conclude(id="gate.a.b", kind="property", milestone=0, examined=1, unit="things")
REFUSED = dict.fromkeys(ATTEMPTS, "ENETUNREACH")
ON = [
    State(("interface eth0 is up",), True, REFUSED),
    State((), False, REFUSED),
    State((), True, {**REFUSED, "udp": "REACHED"}),
    State(None, True, {**REFUSED, "tcp": "ETIMEDOUT"}),
]


def honest(probe, scratch):
    return publish(scratch, with_network(PASSING, prove(probe)))


def publish(scratch, verdict):
    (scratch / "verdict.json").write_text(verdict.to_json(), encoding="utf-8")
    return 0 if verdict.passed else 1


def rule_of(program, state):
    with pytest.raises(Violation) as violation:
        judge_program(program, state)
    return violation.value.rule


@pytest.mark.parametrize("state", [OFF, OFF._replace(ways_out=None), *ON])
def test_an_honest_program_is_accepted_in_every_state(state):
    judge_program(honest, state)


@pytest.mark.parametrize("state", ON)
def test_a_program_that_passes_with_a_network_is_found(state):
    assert rule_of(lambda probe, scratch: publish(scratch, PASSING), state) == "passes_with_network"


@pytest.mark.parametrize(
    "proof",
    [
        None,
        NetworkProof(True, (), (), "", ""),
        NetworkProof(True, (), (("dns", "EPERM"), ("tcp", "EPERM")), "", ""),
    ],
)
def test_a_passing_verdict_without_the_whole_proof_is_found(proof):
    def program(probe, scratch):
        return publish(scratch, PASSING._replace(network=proof))

    assert rule_of(program, OFF) == "proof_missing"


def test_a_program_that_publishes_nothing_has_no_proof():
    assert rule_of(lambda probe, scratch: 0, OFF) == "proof_missing"


def test_a_program_that_fails_without_a_network_is_found():
    assert rule_of(lambda probe, scratch: 1, OFF) == "fails_without_network"


def test_an_attempt_beside_a_way_out_is_found():
    def program(probe, scratch):
        probe.attempt("tcp")
        return honest(probe, scratch)

    assert rule_of(program, ON[0]) == "sent_with_network_on"


@pytest.mark.parametrize("kind", ["listening", "closed", "datagram"])
def test_an_answer_that_is_taken_for_a_refusal_is_found(kind, monkeypatch):
    an_answer_is_no_refusal(kind, 1)
    monkeypatch.setattr(harness_egress.network, "_connect", lambda *place: "EPERM")
    with pytest.raises(Violation, match=kind) as violation:
        an_answer_is_no_refusal(kind, 1)
    assert violation.value.rule == "answer_taken_for_refusal"


def test_the_place_that_something_is_at_is_open_while_it_is_looked_at():
    with harness_egress._something_there("listening", 1) as (kind, address):
        with socket.socket(socket.AF_INET, kind) as other:
            other.connect(address)


CASE = "name: x\nmilestone: 2\ninput: {text: Hi}\nmodel_fixture: m\nexpected: {no_tools: true}\n"
KILLS = "interventions: [{at: before_effect, action: kill_worker}]\n"


def test_cases_with_processes_of_their_own_are_told_apart():
    tree = OverlayTree(ManifestTree({}))
    tree.write("evals/cases/01_x.yaml", CASE)
    tree.write("evals/cases/02_x.yaml", CASE + KILLS)
    told = [harness_egress._kills_workers(tree, name) for name in (*tree.paths(), "structural")]
    assert told == [False, True, False]
