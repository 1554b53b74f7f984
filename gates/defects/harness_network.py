"""The counterexamples of gate.harness.no_egress."""

from __future__ import annotations

from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited


def _prove_everywhere(bench: Bench, old: str, new: str) -> None:
    """Changes the proof in each program that makes it."""
    # Imported here: the other counterexamples of the area must not pay for a case's process.
    from hardgate.kinds import case, verdict_test
    from hardgate.verdicts import network

    for module in (case, verdict_test, network):
        bench.replace(module, "prove", edited(old, new))


def datagrams_not_tried(bench: Bench) -> None:
    """The attempt over UDP is dropped, because nothing answers a datagram anyway."""
    _prove_everywhere(bench, "for name in ATTEMPTS:", 'for name in ("dns", "tcp", "tcp_ipv6"):')


def timeout_taken_for_refusal(bench: Bench) -> None:
    """Whatever was not answered counts as refused."""
    _prove_everywhere(bench, "answer not in REFUSALS", "answer == REACHED")


def routes_ignored(bench: Bench) -> None:
    """A way out does not matter as long as every attempt is refused."""
    _prove_everywhere(bench, "if ways_out:", "if False:")


def unreadable_taken_for_off(bench: Bench) -> None:
    """Where the routes cannot be read, there are none."""
    _prove_everywhere(
        bench, "return NetworkProof(False, None, (), NETWORK_UNKNOWN, message)", "ways_out = None"
    )


def network_without_consequence(bench: Bench) -> None:
    """The proof is recorded and has no part in the outcome."""
    from hardgate.verdicts import verdict

    edit = edited("verdict.network is not None and not verdict.network.off", "False")
    bench.replace(verdict, "_outcome", edit)


def case_published_unproven(bench: Bench) -> None:
    """The process of a case publishes its verdict without looking at the network."""
    from hardgate.kinds import case

    bench.replace(case, "main", edited("network = prove(probe)", "network = None"))


def proof_kept_short(bench: Bench) -> None:
    """Of the proof only its result is kept."""
    _prove_everywhere(
        bench, "NetworkProof(True, ways_out, tuple(attempts)", "NetworkProof(True, ways_out, ()"
    )


def connections_tried_first(bench: Bench) -> None:
    """The attempts are made before anybody has looked for a way out."""
    _prove_everywhere(bench, "    if ways_out:", '    probe.attempt("tcp")\n    if ways_out:')


def every_answer_a_refusal(bench: Bench) -> None:
    """A connection counts as refused whatever came of it."""
    from hardgate.verdicts import network

    edit = edited("return REACHED if code == 0 else", 'return "EPERM" if code >= 0 else')
    bench.replace(network, "_connect", edit)


def ipv6_required(bench: Bench) -> None:
    """Over IPv6 the refusal of a sandbox does not count as one."""
    _prove_everywhere(
        bench,
        "answer not in REFUSALS",
        'answer not in REFUSALS or (name, answer) == ("tcp_ipv6", "EPERM")',
    )
