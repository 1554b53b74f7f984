"""Keys of a case that ask for something which not every subject can do yet.

The schema accepts them from the start, so that a case can be written ahead of its milestone. A case
that is to run is refused when it uses one that its subject has no ability for: nothing in a case is
ever ignored.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hardgate.cases.expected import Expected
from hardgate.cases.model import Case
from hardgate.cases.planned import PlannedRun
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import quoted


class Ability(NamedTuple):
    """Something a subject may be able to do: what it is, and the milestone that brings it."""

    milestone: int
    meaning: str


ABILITIES: dict[str, Ability] = {
    "clock_steps": Ability(1, "clocks that the harness moves"),
    "run_limits": Ability(1, "limits of a run that a case sets"),
    "turns": Ability(1, "several messages in one conversation"),
    "tool_results": Ability(1, "tools that give recorded results"),
    "trust_labels": Ability(1, "labels of trust on the pieces of a conversation"),
    "metrics": Ability(1, "counters"),
    "cancellation": Ability(2, "runs that can be cancelled"),
    "workers": Ability(2, "worker processes that can be killed"),
    "user_input": Ability(2, "runs that wait for an answer of the user"),
    "trajectories": Ability(3, "cases made from recorded runs"),
    "cost": Ability(3, "prices of model calls"),
    "approvals": Ability(4, "approvals"),
    "private_labels": Ability(4, "labels of privacy, and the interlock that reads them"),
    "streaming": Ability(5, "clients that read a stream of events"),
    "artifacts": Ability(6, "artifacts"),
    "compaction": Ability(7, "conversations that are summarized"),
    "long_sessions": Ability(7, "sessions in which something happens between turns"),
    "mcp_servers": Ability(8, "scripted MCP servers"),
    "skills": Ability(8, "skill packages"),
    "memory": Ability(9, "memories"),
}

_OF_ACTION = {
    "approve": "approvals",
    "deny": "approvals",
    "cancel": "cancellation",
    "kill_worker": "workers",
    "answer": "user_input",
    "disconnect": "streaming",
}
_OF_FIXTURE = {
    "tool_results": "tool_results",
    "compact_at_tokens": "compaction",
    "mcp_servers": "mcp_servers",
    "skills": "skills",
}
_OF_EXPECTATION = {
    "approval_requested": "approvals",
    "pending_approvals": "approvals",
    "blocked_sends": "private_labels",
    "trust": "trust_labels",
    "minimum_compactions": "compaction",
    "artifacts": "artifacts",
    "metrics": "metrics",
}
_OF_CAUSE = {"interrupted": "cancellation", "cost_budget": "cost"}

Needed = Iterator[tuple[Keys, str]]


def need_problems(
    run: PlannedRun, document: Document, abilities: frozenset[str], *, runs_now: bool
) -> Iterator[Problem]:
    """A problem for each key that needs an ability which the subject does not have.

    A case that does not run yet (its milestone is still to come) is refused only if its milestone
    is earlier than the one that brings the ability.
    """
    for keys, name in _needed(run, document):
        ability = ABILITIES[name]
        too_early = run.case.milestone < ability.milestone
        if name in abilities or not (runs_now or too_early):
            continue
        message = (
            f"found {quoted(str(keys[-1]))}, which needs {ability.meaning}; "
            "the subject has none yet; "
        )
        if too_early:
            message += (
                f"milestone {ability.milestone} brings them; "
                f"allowed: in a case of milestone {ability.milestone} or later"
            )
        else:
            message += "allowed: with a subject that offers them"
        yield document.problem(keys, f"case.needs_{name}", message, at_key=True)


def _needed(run: PlannedRun, document: Document) -> Needed:
    """The keys that need an ability, with its name."""
    yield from _of_case(run.case)
    for name in run.case.fixtures.model_fields_set:
        if name in _OF_FIXTURE:
            yield run.keys(document, ("fixtures", name)), _OF_FIXTURE[name]
    limits = run.case.fixtures.run_limits
    if limits.model_fields_set:
        yield run.keys(document, ("fixtures", "run_limits")), "run_limits"
    if limits.max_cost_micros is not None:
        yield run.keys(document, ("fixtures", "run_limits", "max_cost_micros")), "cost"
    if run.case.clock.advance_on_step is not None:
        yield run.keys(document, ("clock", "advance_on_step")), "clock_steps"
    if run.case.input is not None and run.case.input.turns is not None:
        yield run.keys(document, ("input", "turns")), "turns"
    for name in run.carry:
        yield ("arms", run.arm_index or 0, "carry"), name
    for keys, name in _of_expected(run.expected):
        yield (*run.at, *keys), name


def _of_case(case: Case) -> Needed:
    if case.source == "trajectory":
        yield ("source",), "trajectories"
    if case.session is not None:
        yield ("session",), "long_sessions"
        for name in ("memory_write_turn", "memory_correction_turn"):
            if getattr(case.session, name) is not None:
                yield ("session", name), "memory"
    for index, one in enumerate(case.interventions):
        yield ("interventions", index, "action"), _OF_ACTION[one.action]


def _of_expected(expected: Expected) -> Needed:
    for name in expected.model_fields_set:
        if name in _OF_EXPECTATION:
            yield (name,), _OF_EXPECTATION[name]
    if expected.taint is not None:
        if expected.taint.untrusted is not None:
            yield ("taint", "untrusted"), "trust_labels"
        if expected.taint.private is not None:
            yield ("taint", "private"), "private_labels"
    if expected.stop_cause in _OF_CAUSE:
        yield ("stop_cause",), _OF_CAUSE[expected.stop_cause]
    for index, span in enumerate(expected.trust or ()):
        if span.private is not None:
            yield ("trust", index, "private"), "private_labels"
