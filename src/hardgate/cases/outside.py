"""What can be asked of an agent that is only seen from outside, and what it has to report itself.

Such an agent is a process: what it sends to the model, writes and leaves is seen, what goes on in
it is not. A case that asks for more is refused, since nothing could ever be found wrong.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hardgate.cases.command import DEFAULT, CommandSubject
from hardgate.cases.expected import EventFilter, Expected
from hardgate.cases.model import Case
from hardgate.cases.planned import PlannedRun, planned_runs
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import did_you_mean, quoted

NOT_OBSERVABLE = "case.not_observable"
NOT_CONTROLLABLE = "case.not_controllable"
PAGE = "docs/reference/agent-report.md"

# The failure reasons of a record. Those that a case may expect end a run that was in order; the
# others fail every case, each with a check of its own.
EXIT_CODE, SIGNAL = "agent_exit_code", "agent_signal"
EXPECTABLE_REASONS = frozenset({EXIT_CODE, SIGNAL})
# The check that fails where the scripted provider is at fault and not the agent.
PROVIDER_BROKE = "wire.internal_error"

# The events that Hardgate makes of what it sees.
AGENT_STARTED = "agent.started"
AGENT_ENDED = "agent.ended"
MODEL_REQUEST = "model.request"
MODEL_ANSWER = "model.response.completed"
MODEL_ERROR = "model.response.failed"
REQUEST_REFUSED = "model.request.refused"
TOOL_PROPOSED = "tool.call.proposed"
TOOL_ANSWERED = "tool.call.answered"
# What scripted MCP servers were asked; of these and the others nobody knows which came first.
MCP_CALLED = "mcp.tool.called"
SEEN_EVENTS = frozenset(
    {
        AGENT_STARTED,
        AGENT_ENDED,
        MODEL_REQUEST,
        MODEL_ANSWER,
        MODEL_ERROR,
        REQUEST_REFUSED,
        TOOL_PROPOSED,
        TOOL_ANSWERED,
    }
)

EVENTS, EFFECTS, LABELS = "events", "effects", "labels"


class Need(NamedTuple):
    """What an expectation needs: one of the reports, or, with None, what no agent can report."""

    report: str | None


# The keys of `expected` that are seen from outside, whatever their value.
SEEN = frozenset(
    {
        "terminal_status",
        "failure_reason",
        "stop_cause",
        "final_text",
        "final_text_contains",
        "final_text_not_contains",
        "final_text_contains_any",
        "final_text_matches",
        "tools",
        "tools_in_order",
        "tool_calls",
        "args",
        "forbidden_tool_calls",
        "no_tools",
        "ended_on_failed_call",
        "maximum_steps",
        "maximum_model_calls",
        "maximum_tool_calls",
        "model_calls",
        "event_order",
        "workspace",
        "absent_strings",
        "judge",
        "verify",
        "implicit",
    }
)
NEEDS: Mapping[str, Need] = {
    "tool_started_count": Need(None),
    "effects": Need(EFFECTS),
    "reason_codes": Need(None),
    "approval_requested": Need(EVENTS),
    "pending_approvals": Need(None),
    "blocked_sends": Need(None),
    "taint": Need(LABELS),
    "trust": Need(LABELS),
    "distinct_prefixes": Need(None),
    "minimum_compactions": Need(EVENTS),
    "artifacts": Need(None),
    "metrics": Need(None),
}
# The keys of the case and of `fixtures` that a process cannot be made to obey, and what to do.
_CASE_KEYS = {
    "agent_id": "the command says which agent runs",
    "principal": "pass it by the command or its environment",
    "policy_profile": "pass it by the command or its environment",
    "clock": "the clock of another process does not move with a case",
    "interventions": "nothing can be done in another process at a point in its run",
    "session": "a command is one run",
}
_FIXTURE_KEYS = {
    "tools": "the agent offers its own tools; forbidden_tool_calls says which may not be called",
    "tool_results": "the agent runs its own tools",
    "run_limits": "subject.limits are those of a command",
    "compact_at_tokens": "the agent decides that itself",
    "skills": "put what the agent reads in its workspace",
}


def vocabulary(subject: CommandSubject) -> Vocabulary:
    """The names that may stand in a case about an agent; it knows its own tools and events."""
    return Vocabulary(
        terminal_statuses=frozenset({"COMPLETED", "FAILED"}),
        event_types=None if EVENTS in subject.reports else SEEN_EVENTS | {MCP_CALLED},
        tools=None,
        reason_codes=None,
        principals=None,
        policy_profiles=None,
        failure_reasons=EXPECTABLE_REASONS,
        outside=True,
    )


def outside_problems(case: Case, document: Document) -> list[Problem]:
    """A problem for each key of a case that could not be obeyed or never be seen."""
    subject = case.subject or DEFAULT
    problems = list(_comparison(case, document))
    for run in planned_runs(case):
        problems += [
            *_controls(run, document),
            *_expectations(run, document, subject),
            *_values(run, document, subject),
            *_event_order(run, document),
        ]
    return problems


def _comparison(case: Case, document: Document) -> Iterator[Problem]:
    if case.delta is not None and case.delta.policy_failures is not None:
        yield _unseen(document, ("delta", "policy_failures"), Need(None))


def _controls(run: PlannedRun, document: Document) -> Iterator[Problem]:
    case = run.case
    for name, instead in _CASE_KEYS.items():
        if name in case.model_fields_set:
            keys = run.keys(document, (name,))
            yield _refused(document, keys, NOT_CONTROLLABLE, "which no command obeys", instead)
    for name, instead in _FIXTURE_KEYS.items():
        if name in case.fixtures.model_fields_set:
            keys = run.keys(document, ("fixtures", name))
            yield _refused(document, keys, NOT_CONTROLLABLE, "which no command obeys", instead)
    if case.input is not None and case.input.turns is not None:
        keys = run.keys(document, ("input", "turns"))
        instead = "a command gets one message, input.text"
        yield _refused(document, keys, NOT_CONTROLLABLE, "which no command obeys", instead)
    if run.carry:
        keys = ("arms", run.arm_index or 0, "carry")
        instead = "put what the agent keeps in its workspace"
        yield _refused(document, keys, NOT_CONTROLLABLE, "which no command obeys", instead)


def _expectations(
    run: PlannedRun, document: Document, subject: CommandSubject
) -> Iterator[Problem]:
    expected = run.expected
    for name in (one for one in Expected.model_fields if one in expected.model_fields_set):
        if name in NEEDS and NEEDS[name].report not in subject.reports:
            yield _unseen(document, (*run.at, name), NEEDS[name])
    for index, call in enumerate(expected.tool_calls or ()):
        if call.reason_code is not None:
            yield _unseen(document, (*run.at, "tool_calls", index, "reason_code"), Need(None))


def _values(run: PlannedRun, document: Document, subject: CommandSubject) -> Iterator[Problem]:
    """Values of keys that are seen, which no run could show."""
    expected = run.expected
    if expected.stop_cause not in (None, "completed"):
        message = (
            f"found {expected.stop_cause}, which is not seen from outside; allowed: completed, "
            "or failure_reason"
        )
        yield document.problem((*run.at, "stop_cause"), NOT_OBSERVABLE, message)
    if expected.ended_on_failed_call is not None and subject.api != "anthropic_messages":
        message = (
            "found 'ended_on_failed_call', which is not seen from outside: of the three APIs "
            "only one says that a tool failed; allowed: with subject.api anthropic_messages"
        )
        keys = (*run.at, "ended_on_failed_call")
        yield document.problem(keys, NOT_OBSERVABLE, message, at_key=True)
    for index, effect in enumerate(expected.effects):
        if effect.watermark == "clear" and EFFECTS in subject.reports:
            keys = (*run.at, "effects", index, "watermark")
            yield _unseen(document, keys, Need(None))


def _event_order(run: PlannedRun, document: Document) -> Iterator[Problem]:
    """Each source of events has its own list: nobody can tell which of two came first."""
    listed = [
        one.event if isinstance(one, EventFilter) else one for one in run.expected.event_order or ()
    ]
    for index, name in enumerate(listed):
        if _source(name) != _source(listed[0]):
            message = (
                f"found {quoted(name)}, which {_source(name)}, behind {quoted(listed[0])}, which "
                f"{_source(listed[0])}, and their order is not known; allowed: events of one source"
                f"{did_you_mean(name, SEEN_EVENTS)}"
            )
            keys = (*run.at, "event_order", index)
            yield document.problem(keys, NOT_OBSERVABLE, message)
            return


def _source(event: str) -> str:
    if event in SEEN_EVENTS:
        return "the provider sees"
    return "an MCP server sees" if event == MCP_CALLED else "the agent reports"


def _unseen(document: Document, keys: Keys, need: Need) -> Problem:
    instead = f"have the agent report {need.report} ({PAGE}) and say so in subject.reports"
    if need.report is None:
        instead = "leave it out, an agent cannot report it either"
    return _refused(
        document, keys, NOT_OBSERVABLE, "which cannot be observed from outside", instead
    )


def _refused(document: Document, keys: Keys, rule: str, why: str, instead: str) -> Problem:
    message = f"found {quoted(str(keys[-1]))}, {why}: {instead}"
    return document.problem(keys, rule, message, at_key=True)
