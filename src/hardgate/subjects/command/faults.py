"""What is wrong with how an agent behaved, whatever its case expects, and why its run failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hardgate.cases import outside
from hardgate.cases.command import CommandSubject
from hardgate.cases.record import Fault
from hardgate.documents.wording import choices, quoted
from hardgate.subjects.command.answer import Answer
from hardgate.subjects.command.events import Seen
from hardgate.subjects.command.process import Ended
from hardgate.subjects.command.report import (
    ReportedCapabilities,
    ReportedEffect,
    ReportedEvent,
    ReportedLabel,
)
from hardgate.wire.checks import EXHAUSTED, Violation
from hardgate.wire.mcp.results import Finding

WALL_SECONDS = "agent.wall_seconds"
OUTPUT_BYTES = "agent.output_bytes"
TURN_LIMIT = "agent.turn_limit"
UNCONTROLLED = "agent.uncontrolled"
LEFT_BEHIND = "agent.processes_left_behind"
API = "wire.api"
MALFORMED = "report.malformed"
PROMISE = "report.promise"
UNKNOWN_CALL = "report.unknown_call"
EFFECT_REPEATED = "report.effect_repeated"
ANSWER_MISSING = "answer.missing"

# The text with which a run is stopped at its limit of requests.
TURNS = "turn_limit"

_OF_LIMIT = {
    "wall_seconds": WALL_SECONDS,
    "stdout_bytes": OUTPUT_BYTES,
    "stderr_bytes": OUTPUT_BYTES,
    "report_bytes": MALFORMED,
    TURNS: TURN_LIMIT,
}
# In the order in which they explain a run: what comes first made the others happen.
_REASONS = (
    (WALL_SECONDS, "wall_seconds"),
    (OUTPUT_BYTES, "output_bytes"),
    (TURN_LIMIT, "turn_limit"),
    (UNCONTROLLED, "uncontrolled"),
    ("wire.", "protocol_violation"),
)
_LATER_REASONS = (
    (LEFT_BEHIND, "processes_left_behind"),
    (MALFORMED, "report_malformed"),
    (UNKNOWN_CALL, "report_malformed"),
    (EFFECT_REPEATED, "effect_repeated"),
    (PROMISE, "report_promise"),
    (ANSWER_MISSING, "answer_missing"),
    ("mcp.", "mcp_violation"),
)
_MOST_SHOWN = 5


def faults(
    spec: CommandSubject, ended: Ended, answer: Answer, log: Seen, mcp: Sequence[Finding] = ()
) -> tuple[Fault, ...]:
    """Everything that is wrong, one fault for each rule. `mcp` is what MCP servers found."""
    return (
        *_limits(spec, ended),
        *_requests(log),
        *_api(spec, log),
        *_mcp(mcp),
        *_processes(ended),
        *_reports(spec, ended, log),
        *([Fault(ANSWER_MISSING, answer.problem)] if answer.problem else []),
    )


def failure_reason(ended: Ended, found: Sequence[Fault]) -> str | None:
    """Why a run failed; None for one that is in order."""
    names = [fault.name for fault in found]
    first = _first(names, _REASONS)
    if first is not None:
        return first
    if ended.signal is not None:
        return outside.SIGNAL
    if ended.exit_code != 0:
        return outside.EXIT_CODE
    return _first(names, _LATER_REASONS)


def _first(names: Sequence[str], reasons: Sequence[tuple[str, str]]) -> str | None:
    """The first reason of which some fault has the beginning."""
    for rule, reason in reasons:
        if any(name.startswith(rule) for name in names):
            return reason
    return None


def _limits(spec: CommandSubject, ended: Ended) -> Iterator[Fault]:
    limits = spec.limits
    allowed = {
        WALL_SECONDS: f"at most {limits.wall_seconds:g} seconds",
        OUTPUT_BYTES: f"at most {limits.output_bytes} bytes on stdout and on stderr",
    }
    for limit in ended.limits_hit:
        rule = _OF_LIMIT.get(limit, UNCONTROLLED)
        message = f"the agent was ended at the limit {limit}"
        if rule == UNCONTROLLED:
            message = f"the agent got out of control: {limit}"
        yield Fault(rule, message, allowed.get(rule), limit)


def _requests(log: Seen) -> Iterator[Fault]:
    """The rules of the provider that requests broke. A request after the last turn is a check of
    the script."""
    by_rule: dict[str, list[int]] = {}
    first: dict[str, Violation] = {}
    for violation, index in log.refusals:
        if violation.rule != EXHAUSTED:
            first.setdefault(violation.rule, violation)
            by_rule.setdefault(violation.rule, []).append(index)
    for rule, violation in first.items():
        count = len(by_rule[rule])
        message = violation.message + (f" (and {count - 1} more)" if count > 1 else "")
        around = tuple(by_rule[rule][:_MOST_SHOWN])
        yield Fault(rule, message, violation.expected, violation.received, around)


def _api(spec: CommandSubject, log: Seen) -> Iterator[Fault]:
    others = [one for one in log.requests if one.api not in (spec.api, None)]
    if spec.api is not None and others:
        names = sorted({str(one.api) for one in others})
        message = f"unexpected: {choices(names)}"
        around = tuple(one.event for one in others[:_MOST_SHOWN])
        yield Fault(API, message, spec.api, names, around)


def _mcp(findings: Sequence[Finding]) -> Iterator[Fault]:
    for rule in dict.fromkeys(one.rule for one in findings):
        same = [one for one in findings if one.rule == rule]
        more = f" (and {len(same) - 1} more)" if len(same) > 1 else ""
        first = same[0]
        message = f"{first.server_id}: {first.message}{more}"
        yield Fault(rule, message, first.expected, first.received)


def _processes(ended: Ended) -> Iterator[Fault]:
    if ended.left_behind:
        message = f"{ended.left_behind} of its processes were alive when the agent had ended"
        yield Fault(LEFT_BEHIND, message, 0, ended.left_behind)


def _reports(spec: CommandSubject, ended: Ended, log: Seen) -> Iterator[Fault]:
    problems = list(ended.report_problems)
    for one in ended.reports:
        if isinstance(one, ReportedEvent) and one.event in outside.SEEN_EVENTS:
            message = f"line {one.line}: found the event {quoted(one.event)}, which Hardgate sees"
            problems.append(f"{message} itself; allowed: another name")
    if problems:
        more = len(problems) - _MOST_SHOWN
        shown = problems[:_MOST_SHOWN] + ([f"and {more} more"] if more > 0 else [])
        yield Fault(MALFORMED, "; ".join(shown), [], len(problems))
    promised = {
        name
        for one in ended.reports
        if isinstance(one, ReportedCapabilities)
        for name in one.reports
    }
    broken = [name for name in spec.reports if name not in promised]
    unlabelled = _unlabelled(ended, log) if outside.LABELS in spec.reports else []
    if broken:
        message = f"the agent did not promise to report {choices(broken)}"
        yield Fault(PROMISE, message, list(spec.reports), sorted(promised))
    elif unlabelled:
        message = f"the agent reported no label of the results of {choices(unlabelled)}"
        yield Fault(PROMISE, message, "a label of each result of a tool", unlabelled)
    yield from _unknown_calls(ended, log)
    yield from _repeated_effects(ended)


def _unlabelled(ended: Ended, log: Seen) -> list[str]:
    """The calls whose results came back without a label: the report is not complete."""
    labelled = {one.call_id for one in ended.reports if isinstance(one, ReportedLabel)}
    return [call_id for call_id in log.results if call_id not in labelled]


def _unknown_calls(ended: Ended, log: Seen) -> Iterator[Fault]:
    """Effects and labels of calls that the model never made, promised or not."""
    names = log.call_names
    unknown = []
    for one in ended.reports:
        if isinstance(one, ReportedEffect):
            if one.tool not in names.get(one.call_id, ()):
                unknown.append(f"an effect of {quoted(one.tool)} in {quoted(one.call_id)}")
        elif (
            isinstance(one, ReportedLabel) and one.call_id is not None and one.call_id not in names
        ):
            unknown.append(f"a label of {quoted(one.call_id)}")
    if unknown:
        message = f"the agent reported, without such a call, {'; '.join(unknown[:_MOST_SHOWN])}"
        yield Fault(UNKNOWN_CALL, message, sorted(names), len(unknown))


def _repeated_effects(ended: Ended) -> Iterator[Fault]:
    """Calls with two watermarks: the second effect may have repeated the first."""
    times = Counter(one.call_id for one in ended.reports if isinstance(one, ReportedEffect))
    repeated = [call_id for call_id, count in times.items() if count > 1]
    if repeated:
        message = f"the agent reported more than one effect of {choices(repeated[:_MOST_SHOWN])}"
        observed = {call_id: times[call_id] for call_id in repeated[:_MOST_SHOWN]}
        yield Fault(EFFECT_REPEATED, message, "one effect of a call", observed)
