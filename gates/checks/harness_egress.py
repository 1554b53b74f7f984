"""The proof that the network is off: no target passes without it, and none with a live network.

A trial runs one program of the harness to its end in a generated state of the network: a case of
the suite, the test that reads a structural verdict, or the process of a gate. What is judged is
what the build sees, the exit code and the published verdict. Each case of the suite is run at least
once with the network off; that it really is off is proven by the process of this gate itself. A
case that kills workers takes seconds, so it is run just once, and the trials draw from the others.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from hardgate.cases.loader import load_case
from hardgate.documents.tree import Tree
from hardgate.kinds import case, in_process, verdict_test
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext
from hardgate.verdicts import network
from hardgate.verdicts.verdict import Verdict, VerdictError, conclude, from_json

ATTEMPTS = ("dns", "tcp", "tcp_ipv6", "udp")
REFUSED = ("ENETUNREACH", "EHOSTUNREACH", "EPERM", "EAI_AGAIN", "EAI_NONAME")
# Somebody answered, or something is on its way.
SENT = ("REACHED", "EINPROGRESS", "ETIMEDOUT", "ECONNREFUSED", "ECONNRESET", "EAI_99")
_VERDICT = "verdict.json"


class State(NamedTuple):
    """What a process finds: ways out (None: the system does not tell), and how attempts end."""

    ways_out: tuple[str, ...] | None
    readable: bool
    answers: Mapping[str, str]

    @property
    def is_off(self) -> bool:
        ended = all(self.answers[name] in REFUSED for name in ATTEMPTS)
        return self.readable and not self.ways_out and ended


OFF = State((), True, dict.fromkeys(ATTEMPTS, "ENETUNREACH"))


class Scripted:
    """A probe that finds a state, and keeps the attempts that were made."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.attempted: list[str] = []

    def ways_out(self) -> tuple[str, ...] | None:
        if not self._state.readable:
            raise PermissionError(errno.EACCES, "not for you")
        return self._state.ways_out

    def attempt(self, name: str) -> str:
        self.attempted.append(name)
        return self._state.answers[name]


Program = Callable[[Scripted, Path], int]


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    programs = _programs(context.tree)
    drawn = sorted(name for name in programs if not _kills_workers(context.tree, name))
    states = _states(st)

    def passes_only_with_proof(program: str, state: State) -> None:
        judge_program(programs[program], state)

    context.for_all(
        passes_only_with_proof,
        examples=[{"program": name, "state": OFF} for name in programs],
        program=st.sampled_from(drawn),
        state=states,
    )
    kinds = st.sampled_from(["listening", "closed", "datagram"])
    context.for_all(an_answer_is_no_refusal, kind=kinds, backlog=st.integers(1, 1000))


def judge_program(program: Program, state: State) -> None:
    """A program passes exactly in a network that is off, and publishes the whole proof then."""
    probe = Scripted(state)
    code, verdict = _published(program, probe)
    if not state.is_off:
        require(code != 0, "passes_with_network", f"exit code 0 in {state}")
    if state.ways_out:
        require(not probe.attempted, "sent_with_network_on", f"tried {probe.attempted}")
    if code == 0:
        proof = None if verdict is None else verdict.network
        made = {} if proof is None else dict(proof.attempts)
        whole = set(made) == set(ATTEMPTS) and all(answer in REFUSED for answer in made.values())
        require(proof is not None and proof.off and whole, "proof_missing", f"proven by {made}")
    require(code == 0 or not state.is_off, "fails_without_network", f"exit code {code}")


def an_answer_is_no_refusal(kind: str, backlog: int) -> None:
    """What the real probe sees of something that is there does not count as a refusal."""
    with _something_there(kind, backlog) as (socket_kind, address):
        answer = network._connect(socket.AF_INET, socket_kind, address)
    require(answer not in REFUSED, "answer_taken_for_refusal", f"{kind}: {answer}")


@contextlib.contextmanager
def _something_there(kind: str, backlog: int) -> Iterator[tuple[int, tuple[str, int]]]:
    """A place on the loopback: with a listener, just closed, or that takes datagrams."""
    socket_kind = socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, socket_kind) as there:
        there.bind(("127.0.0.1", 0))
        address = there.getsockname()
        if kind == "listening":
            there.listen(backlog)
        if kind == "closed":
            there.close()
        yield socket_kind, address


def _published(program: Program, probe: Scripted) -> tuple[int, Verdict | None]:
    """The exit code of a program, and its verdict where it published one that can be read."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as scratch:
        places = {"TEST_UNDECLARED_OUTPUTS_DIR": scratch, "XML_OUTPUT_FILE": ""}
        said = io.StringIO()
        with mock.patch.dict(os.environ, places), contextlib.redirect_stdout(said):
            code = program(probe, Path(scratch))
        try:
            return code, from_json(Path(scratch, _VERDICT).read_text(encoding="utf-8"))
        except (FileNotFoundError, VerdictError):
            return code, None


def _programs(tree: Tree) -> dict[str, Program]:
    """Every case of the suite, and one of each other kind of target, by name."""
    programs: dict[str, Program] = {"structural": _structural, "process": _process}
    for path in tree.glob("evals/cases/*.yaml"):
        programs[path] = _case(path)
    require(len(programs) > 2, "suite_missing", "there is no case under evals/cases")
    return programs


def _kills_workers(tree: Tree, program: str) -> bool:
    """Whether a program is a case with worker processes of its own."""
    if not tree.exists(program):
        return False
    interventions = load_case(program, tree.read(program)).case.interventions
    return any(one.action == "kill_worker" for one in interventions)


def _case(path: str) -> Program:
    from agent_cli.subject import reference_subject

    subject = reference_subject()
    words = ["--case", path, "--fixtures", "evals/fixtures", "--milestone", "99", "--repeat", "it"]
    return lambda probe, scratch: case.main(words, subject, probe)


def _structural(probe: Scripted, scratch: Path) -> int:
    made = scratch / "made.json"
    made.write_text(_passing("structural").to_json(), encoding="utf-8")
    return verdict_test.main([str(made), "--repeat", "it"], probe)


def _process(probe: Scripted, scratch: Path) -> int:
    entry, manifest = scratch / "entry.json", scratch / "manifest"
    plain = {"id": "gate.a.b", "area": "a", "slug": "b", "kind": "property", "milestone": 0}
    entry.write_text(json.dumps(plain | {"path": "gates/a.yaml", "line": 1}), encoding="utf-8")
    manifest.write_text("", encoding="utf-8")
    words = ["--entry", str(entry), "--manifest", str(manifest), "--repeat", "it"]
    with (
        mock.patch.object(in_process, "prove", lambda: network.prove(probe)),
        # The time limit of this gate is set already, and there is one alarm for a process.
        mock.patch.object(in_process, "time_limit", contextlib.nullcontext),
    ):
        return in_process.run_process("property", lambda *_: _passing("property"), words)


def _passing(kind: str) -> Verdict:
    """A verdict that nothing but the network can fail."""
    return conclude(id="gate.a.b", kind=kind, milestone=0, examined=1, unit="things")


def _states(st: Any) -> Any:
    """States that are nearly off: most of them differ from it in one thing."""
    refused = st.sampled_from(REFUSED)
    answers = st.fixed_dictionaries(dict.fromkeys(ATTEMPTS, refused))
    spoilt = st.builds(
        lambda base, name, answer: base | {name: answer},
        answers,
        st.sampled_from(ATTEMPTS),
        st.sampled_from(SENT),
    )
    ways = st.sampled_from([(), None, ("interface eth0 is up",), ("route through tun0", "eth1")])
    return st.one_of(
        st.builds(State, st.sampled_from([(), None]), st.just(True), spoilt),
        st.builds(State, ways, st.booleans(), answers),
        st.builds(State, ways, st.just(True), answers | spoilt),
    )
