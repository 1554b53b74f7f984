"""The verdict: the machine-readable outcome of one check, case or structural gate.

Everything that is printed (test log, test.xml, report) is made from these values. A verdict is
byte-identical for identical inputs: keys are sorted, and neither times nor host names nor process
ids belong in it (`hardgate.verdicts.output` writes those to a second file that is never compared).

A verdict passes only when something was checked, every check passed, nothing was found, no limit
cut the evidence short, and the network was proven off where a proof was taken. `conclude` is the
one place that decides so; `from_json` refuses a file that claims otherwise.
"""

import json
from itertools import pairwise
from typing import Any, NamedTuple

from hardgate.verdicts.network import NetworkProof, proves_off

HARNESS_VERSION = "0.1.0"

PASS = "pass"
FAIL = "fail"
KINDS: tuple[str, ...] = ("case", "property", "corpus", "structural")
# Why a counterexample was rejected, or what happened instead of a rejection.
REJECTED = "rejected"
NOT_REJECTED = "not_rejected"
OTHER_REASON = "other_reason"
NOT_REACHED = "not_reached"
CRASHED = "crashed"
TIMED_OUT = "timed_out"
WHYS: tuple[str, ...] = (
    REJECTED,
    NOT_REJECTED,
    OTHER_REASON,
    NOT_REACHED,
    CRASHED,
    TIMED_OUT,
)

NOTHING_EXAMINED = "nothing_examined"
LIMIT_HIT = "limit_hit"

# A JSON value: None, bool, int, float, str, list or dict with string keys.
Json = Any


class VerdictError(Exception):
    """A verdict file that cannot be read or that contradicts itself. `problems` holds every one."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class CheckResult(NamedTuple):
    """One expectation and what was observed for it. `path` and `line` say where it is written."""

    name: str
    outcome: str
    expected: Json = None
    observed: Json = None
    message: str = ""
    path: str = ""
    line: int = 0


class Finding(NamedTuple):
    """One thing that a structural check objects to. An empty path means the whole repository."""

    path: str
    line: int
    rule: str
    message: str

    def render(self) -> str:
        """`path:line: rule: message`, without the parts that are unknown."""
        place = f"{self.path}:{self.line}: " if self.path else ""
        return f"{place}{self.rule}: {self.message}"


class Counterexample(NamedTuple):
    """What became of a seeded defect that the check had to reject."""

    name: str
    reason: str
    rejected: bool
    why: str
    message: str = ""


class Verdict(NamedTuple):
    """The outcome of one check. Build it with `conclude`, which decides `outcome`."""

    id: str
    kind: str
    milestone: int
    outcome: str
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    examined: int = 0
    unit: str = ""
    trials: int | None = None
    seed: str | None = None
    network: NetworkProof | None = None
    counterexample: Counterexample | None = None
    limits_hit: tuple[str, ...] = ()
    subject: str | None = None
    harness: str = HARNESS_VERSION

    @property
    def passed(self) -> bool:
        return self.outcome == PASS

    def failed_checks(self) -> tuple[CheckResult, ...]:
        return tuple(check for check in self.checks if check.outcome != PASS)

    def to_json(self) -> str:
        """The file's text: sorted keys, one-space indent, a newline at the end."""
        plain = self._asdict()
        plain["checks"] = [check._asdict() for check in self.checks]
        plain["findings"] = [finding._asdict() for finding in self.findings]
        plain["network"] = None if self.network is None else self.network.to_plain()
        plain["counterexample"] = self.counterexample._asdict() if self.counterexample else None
        plain["limits_hit"] = list(self.limits_hit)
        # Escaped to ASCII: text from a model may hold lone surrogates, which UTF-8 cannot carry.
        return json.dumps(plain, sort_keys=True, indent=1, allow_nan=False) + "\n"


def conclude(
    *,
    id: str,
    kind: str,
    milestone: int,
    checks: tuple[CheckResult, ...] = (),
    findings: tuple[Finding, ...] = (),
    examined: int = 0,
    unit: str = "",
    trials: int | None = None,
    seed: str | None = None,
    network: NetworkProof | None = None,
    counterexample: Counterexample | None = None,
    limits_hit: tuple[str, ...] = (),
    subject: str | None = None,
) -> Verdict:
    """Decide the outcome. Findings are sorted; checks keep the order in which they were made.

    `examined` counts what was looked at, in units named by `unit` ("files"). A verdict that looked
    at nothing fails with the finding `nothing_examined`, one cut short with `limit_hit`. For a
    counterexample the outcome is whether the defect was rejected for its declared reason.
    """
    every = list(findings)
    if counterexample is None:
        if not checks and not examined:
            message = "nothing was examined: a check that looks at nothing cannot pass"
            every.append(Finding("", 0, NOTHING_EXAMINED, message))
        for limit in limits_hit:
            message = f"the limit {limit} was reached, so what lies beyond it was not examined"
            every.append(Finding("", 0, LIMIT_HIT, message))
    verdict = Verdict(
        id=id,
        kind=kind,
        milestone=milestone,
        outcome=FAIL,
        checks=tuple(checks),
        findings=tuple(sorted(set(every))),
        examined=examined,
        unit=unit,
        trials=trials,
        seed=seed,
        network=network,
        counterexample=counterexample,
        limits_hit=tuple(limits_hit),
        subject=subject,
    )
    return verdict._replace(outcome=_outcome(verdict))


def with_network(verdict: Verdict, network: NetworkProof) -> Verdict:
    """The same verdict with the proof of the process that publishes it; a live network fails it."""
    proven = verdict._replace(network=network)
    return proven._replace(outcome=_outcome(proven))


def _outcome(verdict: Verdict) -> str:
    if verdict.network is not None and not verdict.network.off:
        return FAIL
    if verdict.counterexample is not None:
        rejected = verdict.counterexample.rejected and verdict.counterexample.why == REJECTED
        return PASS if rejected else FAIL
    if verdict.findings or verdict.failed_checks() or verdict.limits_hit:
        return FAIL
    return PASS if verdict.checks or verdict.examined else FAIL


VERDICT_TYPES: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "kind": (str,),
    "milestone": (int,),
    "outcome": (str,),
    "checks": (list,),
    "findings": (list,),
    "examined": (int,),
    "unit": (str,),
    "trials": (int, type(None)),
    "seed": (str, type(None)),
    "network": (dict, type(None)),
    "counterexample": (dict, type(None)),
    "limits_hit": (list,),
    "subject": (str, type(None)),
    "harness": (str,),
}
ANY = (object,)
CHECK_TYPES: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "outcome": (str,),
    "expected": ANY,
    "observed": ANY,
    "message": (str,),
    "path": (str,),
    "line": (int,),
}
FINDING_TYPES: dict[str, tuple[type, ...]] = {
    "path": (str,),
    "line": (int,),
    "rule": (str,),
    "message": (str,),
}
COUNTEREXAMPLE_TYPES: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "reason": (str,),
    "rejected": (bool,),
    "why": (str,),
    "message": (str,),
}
NETWORK_TYPES: dict[str, tuple[type, ...]] = {
    "off": (bool,),
    "ways_out": (list, type(None)),
    "attempts": (dict,),
    "rule": (str,),
    "message": (str,),
}


def from_json(text: str) -> Verdict:
    """Read a verdict file's text. Raises VerdictError with every problem found."""
    try:
        plain = json.loads(
            text, object_pairs_hook=_without_duplicates, parse_constant=_no_such_number
        )
    except (ValueError, RecursionError) as error:
        raise VerdictError([f"not a verdict: {error}"]) from None
    problems: list[str] = []
    if not _shape_is(plain, VERDICT_TYPES, "verdict", problems):
        raise VerdictError(problems)
    for index, check in enumerate(plain["checks"]):
        _shape_is(check, CHECK_TYPES, f"checks[{index}]", problems)
    for index, finding in enumerate(plain["findings"]):
        _shape_is(finding, FINDING_TYPES, f"findings[{index}]", problems)
    for index, limit in enumerate(plain["limits_hit"]):
        if not isinstance(limit, str):
            problems.append(f"limits_hit[{index}]: expected str, found {type(limit).__name__}")
    if plain["network"] is not None:
        _shape_is(plain["network"], NETWORK_TYPES, "network", problems)
    if plain["counterexample"] is not None:
        _shape_is(plain["counterexample"], COUNTEREXAMPLE_TYPES, "counterexample", problems)
    if problems:
        raise VerdictError(problems)
    verdict = _build(plain)
    problems += _contradictions(verdict)
    if problems:
        raise VerdictError(problems)
    return verdict


def _build(plain: dict[str, Json]) -> Verdict:
    values = dict(plain)
    values["checks"] = tuple(CheckResult(**check) for check in plain["checks"])
    values["findings"] = tuple(Finding(**finding) for finding in plain["findings"])
    values["limits_hit"] = tuple(plain["limits_hit"])
    network = plain["network"]
    if network is not None:
        ways_out = network["ways_out"]
        values["network"] = NetworkProof(
            off=network["off"],
            ways_out=None if ways_out is None else tuple(ways_out),
            attempts=tuple(sorted(network["attempts"].items())),
            rule=network["rule"],
            message=network["message"],
        )
    if plain["counterexample"] is not None:
        values["counterexample"] = Counterexample(**plain["counterexample"])
    return Verdict(**values)


def _contradictions(verdict: Verdict) -> list[str]:
    problems: list[str] = []
    if verdict.kind not in KINDS:
        problems.append(f"kind: {verdict.kind!r} is none of {', '.join(KINDS)}")
    for index, check in enumerate(verdict.checks):
        if check.outcome not in (PASS, FAIL):
            problems.append(f"checks[{index}].outcome: {check.outcome!r} is neither pass nor fail")
    if verdict.counterexample is not None and verdict.counterexample.why not in WHYS:
        why = verdict.counterexample.why
        problems.append(f"counterexample.why: {why!r} is none of {', '.join(WHYS)}")
    if verdict.network is not None and verdict.network.off and not proves_off(verdict.network):
        problems.append("network: claims to be off without the attempts that prove it")
    if verdict.outcome not in (PASS, FAIL):
        problems.append(f"outcome: {verdict.outcome!r} is neither pass nor fail")
    elif verdict.outcome == PASS and _outcome(verdict) == FAIL:
        problems.append("outcome: claims pass, but its own checks, findings or proofs do not")
    return problems


def _shape_is(
    value: Json, types: dict[str, tuple[type, ...]], place: str, problems: list[str]
) -> bool:
    """Whether `value` is an object with exactly these keys and types; adds what is wrong."""
    if not isinstance(value, dict):
        problems.append(f"{place}: expected an object, found {type(value).__name__}")
        return False
    before = len(problems)
    for key in sorted(types.keys() - value.keys()):
        problems.append(f"{place}: the key {key!r} is missing")
    for key in sorted(value.keys() - types.keys()):
        problems.append(f"{place}: unknown key {key!r}; allowed: {', '.join(sorted(types))}")
    for key in sorted(types.keys() & value.keys()):
        allowed = types[key]
        # bool is a subclass of int, but `"examined": true` is no count.
        wrong_bool = isinstance(value[key], bool) and bool not in allowed and allowed != ANY
        if wrong_bool or not isinstance(value[key], allowed):
            names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in allowed)
            problems.append(f"{place}.{key}: expected {names}, found {type(value[key]).__name__}")
    return len(problems) == before


def _no_such_number(literal: str) -> Json:
    raise ValueError(f"{literal} is no JSON number")


def _without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = sorted(key for key, _ in pairs)
        twice = next(one for one, other in pairwise(keys) if one == other)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return result
