"""What an agent reports about itself: JSON lines on a descriptor (docs/reference/agent-report.md).

Every line stands for itself. A line that breaks the protocol is told as a problem and left out;
the others count, in the order in which they were written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hardgate.documents.wording import choices, did_you_mean, quoted, shown
from hardgate.wire.json_body import BadJson, parse_object
from hardgate.wire.limits import Limits

REPORT_LIMIT_BYTES = 4 * 1024 * 1024
LINE_LIMIT_BYTES = 64 * 1024
LINES_LIMIT = 10_000
DEPTH_LIMIT = 16
VALUES_LIMIT = 5_000
NAME_LIMIT_CHARACTERS = 100
ID_LIMIT_CHARACTERS = 200
PROBLEMS_LIMIT = 20

CAPABILITIES = ("events", "effects", "labels")
TRUST_LEVELS = (
    "platform",
    "trusted_configuration",
    "user",
    "internal_tool",
    "memory",
    "knowledge",
    "external_untrusted",
)
NAME_PATTERN = "[a-z][a-z0-9_]*"
DOTTED_PATTERN = r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+"

_LIMITS = Limits(json_depth=DEPTH_LIMIT, json_values=VALUES_LIMIT)


class ReportedCapabilities(NamedTuple):
    """What the agent promises to report completely: any of `events`, `effects` and `labels`."""

    line: int
    reports: tuple[str, ...]


class ReportedEvent(NamedTuple):
    """Something that happened in the agent; `event` is a dotted name."""

    line: int
    event: str
    payload: Mapping[str, Any]


class ReportedEffect(NamedTuple):
    """The watermark of a call: written right before its effect, so that it may have happened."""

    line: int
    call_id: str
    tool: str


class ReportedLabel(NamedTuple):
    """The labels of one piece of the conversation; `private` is None where the agent left it out.

    `call_id` says of which call, where the piece belongs to one.
    """

    line: int
    item: str
    trust: str
    call_id: str | None = None
    private: bool | None = None


class ReportedAnswer(NamedTuple):
    """The answer that the agent declares; the last one counts."""

    line: int
    text: str


Report = ReportedCapabilities | ReportedEvent | ReportedEffect | ReportedLabel | ReportedAnswer


class _Key(NamedTuple):
    """One key of a report: whether a value may stand there, and which ones may, in words."""

    fits: Callable[[Any], bool]
    allowed: str
    required: bool = True


class _Form(NamedTuple):
    """One type of report: its keys besides `type`, and what is made of them and of the line."""

    keys: Mapping[str, _Key]
    make: Callable[..., Report]


def parse_reports(data: bytes) -> tuple[tuple[Report, ...], tuple[str, ...]]:
    """The reports in what an agent wrote, and what is wrong with the other lines, for people.

    The first twenty problems are told, then how many more there are.
    """
    *lines, rest = data.split(b"\n")
    reports: list[Report] = []
    problems: list[str] = []
    for number, line in enumerate(lines[:LINES_LIMIT], start=1):
        report, wrong = _parse(number, line)
        problems += [f"line {number}: {one}" for one in wrong]
        if report is not None:
            reports.append(report)
    if len(lines) > LINES_LIMIT:
        problems.append(f"found {len(lines)} lines; allowed: at most {LINES_LIMIT}")
    elif rest:
        message = "found no line feed at its end, so it may be cut; allowed: whole lines"
        problems.append(f"line {len(lines) + 1}: {message}")
    if len(problems) > PROBLEMS_LIMIT:
        more = len(problems) - PROBLEMS_LIMIT
        problems[PROBLEMS_LIMIT:] = [f"and {more} more problems"]
    return tuple(reports), tuple(problems)


def _parse(number: int, line: bytes) -> tuple[Report | None, list[str]]:
    """The report on one line, or what is wrong with it."""
    if len(line) > LINE_LIMIT_BYTES:
        return None, [f"found {len(line)} bytes; allowed: at most {LINE_LIMIT_BYTES} in a line"]
    try:
        value = parse_object(line, _LIMITS, "it")
    except BadJson as error:
        return None, [f"{error}; allowed: one JSON object in each line"]
    type_ = value.pop("type", None)
    form = _FORMS.get(type_) if isinstance(type_, str) else None
    if form is None:
        guess = did_you_mean(type_, _FORMS) if isinstance(type_, str) else ""
        found = f"the type {shown(type_)}" if type_ is not None else "no type"
        return None, [f"found {found}; allowed: {choices(_FORMS)}{guess}"]
    problems = list(_problems(value, form))
    if (type_ == "capabilities") != (number == 1):
        found = f"found {type_}" if number == 1 else "found capabilities"
        problems.append(f"{found}; allowed: capabilities in the first line, and nowhere else")
        # What it says still counts, but for a promise that comes too late.
        if number == 1 and len(problems) == 1:
            return form.make(number, **value), problems
    return (None, problems) if problems else (form.make(number, **value), [])


def _problems(value: Mapping[str, Any], form: _Form) -> list[str]:
    """Everything that is wrong with the keys of one report."""
    problems: list[str] = []
    for key in value:
        if key not in form.keys:
            allowed = choices(("type", *form.keys))
            guess = did_you_mean(key, form.keys)
            problems.append(f"found the key {quoted(key)}; allowed: {allowed}{guess}")
    for key, rule in form.keys.items():
        if key not in value:
            if rule.required:
                problems.append(f"{key}: found nothing; allowed: {rule.allowed}")
        elif not rule.fits(value[key]):
            problems.append(f"{key}: found {shown(value[key])}; allowed: {rule.allowed}")
    return problems


def _is_text(limit_characters: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value) <= limit_characters


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, str)
        and len(value) <= NAME_LIMIT_CHARACTERS
        and re.fullmatch(pattern, value, re.ASCII) is not None
    )


def _is_promise(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return False
    return set(value) <= set(CAPABILITIES) and len(set(value)) == len(value)


_CALL_ID = _Key(_is_text(ID_LIMIT_CHARACTERS), f"a text of 1 to {ID_LIMIT_CHARACTERS} characters")
_FORMS = {
    "capabilities": _Form(
        {"reports": _Key(_is_promise, f"a list of {choices(CAPABILITIES)}, each once or not")},
        lambda line, reports: ReportedCapabilities(line, tuple(reports)),
    ),
    "event": _Form(
        {
            "event": _Key(_matches(DOTTED_PATTERN), "a dotted name such as mail.queued"),
            "payload": _Key(lambda value: isinstance(value, dict), "an object"),
        },
        ReportedEvent,
    ),
    "effect": _Form({"call_id": _CALL_ID, "tool": _CALL_ID}, ReportedEffect),
    "label": _Form(
        {
            "item": _Key(_matches(NAME_PATTERN), "a name such as tool_result (a-z, 0-9 and _)"),
            "trust": _Key(lambda value: value in TRUST_LEVELS, choices(TRUST_LEVELS)),
            "call_id": _CALL_ID._replace(required=False),
            "private": _Key(lambda value: isinstance(value, bool), "true or false", required=False),
        },
        ReportedLabel,
    ),
    "answer": _Form({"text": _Key(lambda value: isinstance(value, str), "a text")}, ReportedAnswer),
}
