"""What happened in one run, in order: as plain values, and as text made from these.

Texts of models and tools are shown cut and with what does not print escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hardgate.cases.record import ObservedCall, Record
from hardgate.cli.console import many
from hardgate.cli.running import Ran
from hardgate.fixtures.model_script import ErrorTurn, ModelScript, ToolCallsTurn, Turn
from hardgate.verdicts.text import indented, one_line, printable
from hardgate.verdicts.verdict import PASS, CheckResult, Verdict

VALUE_CHARACTERS = 160
LINE_CHARACTERS = 400
EVENTS_SHOWN = 1000
MARK, NO_MARK = ">>", "  "
# Each answer of the model, failed ones included, is an event of such a type.
ANSWER_EVENT = "model.response."


def to_plain(ran: Ran) -> dict[str, Any]:
    """The timeline as JSON values; `around` says at which events a failed check diverged."""
    assert ran.runnable is not None  # an item of the kind case
    loaded, script = ran.runnable.loaded, ran.runnable.script
    record = ran.record
    return {
        "schema_version": 1,
        "ok": ran.verdict.passed,
        "case": {"name": loaded.case.name, "path": loaded.path, "milestone": loaded.case.milestone},
        "input": loaded.case.input.text,
        "model_fixture": loaded.case.model_fixture,
        "model_turns": _turns(script, record),
        "events": [] if record is None else _events(record, ran.around),
        "tool_calls": [] if record is None else [call._asdict() for call in record.tool_calls],
        "ending": None if record is None else _ending(record),
        "checks": [check._asdict() for check in ran.verdict.checks],
        "findings": [finding._asdict() for finding in ran.verdict.findings],
    }


def _turns(script: ModelScript, record: Record | None) -> list[dict[str, Any]]:
    played = 0 if record is None else record.turns_consumed
    return [
        {"turn": number, "played": number <= played, "says": _says(turn)}
        for number, turn in enumerate(script.turns, start=1)
    ]


def _says(turn: Turn) -> str:
    """What the model answers in a turn, in one line."""
    if isinstance(turn, ErrorTurn):
        return f"fails: {turn.error_class}"
    if not isinstance(turn, ToolCallsTurn):
        return f"answers: {turn.text}"
    calls = [f"{call.name} {_short(call.arguments)} ({call.call_id})" for call in turn.calls]
    return f"calls: {', '.join(calls)}"


def _events(record: Record, around: Sequence[int]) -> list[dict[str, Any]]:
    """Each event; an answer of the model has the number of the turn that it came from."""
    events: list[dict[str, Any]] = []
    turn = 0
    for index, event in enumerate(record.events):
        plain = {"sequence": event.sequence, "type": event.type, "payload": dict(event.payload)}
        if event.type.startswith(ANSWER_EVENT) and turn < record.turns_consumed:
            turn += 1
            plain["turn"] = turn
        events.append({**plain, "around": index in around})
    return events


def _ending(record: Record) -> dict[str, Any]:
    return {
        "status": record.terminal_status,
        "failure_reason": record.failure_reason,
        "final_text": record.final_text,
        "steps": record.step_count,
        "model_calls": record.model_call_count,
        "tool_calls": record.tool_call_count,
        "limits_hit": list(record.limits_hit),
    }


def to_text(ran: Ran) -> str:
    """The timeline for people."""
    plain = to_plain(ran)
    case, verdict = plain["case"], ran.verdict
    state = "PASS" if verdict.passed else "FAIL"
    lines = [
        f"{state} {case['name']} (milestone {case['milestone']}): {case['path']}",
        f"input: {one_line(plain['input'], LINE_CHARACTERS)}",
        "",
        *_event_lines(plain),
        *_call_lines(() if ran.record is None else ran.record.tool_calls),
        *_ending_lines(plain["ending"]),
        *_check_lines(verdict),
    ]
    return "\n".join(lines).rstrip("\n")


def _event_lines(plain: Mapping[str, Any]) -> list[str]:
    """Events with the model's turns among them, then the turns that no event showed."""
    turns = {turn["turn"]: turn for turn in plain["model_turns"]}
    shown = plain["events"][:EVENTS_SHOWN]
    width = max((len(str(event["sequence"])) for event in shown), default=0)
    lines = [f"events ({len(plain['events'])}); {MARK} marks where a check diverged"]
    for event in shown:
        mark = MARK if event["around"] else NO_MARK
        line = f"{mark} {event['sequence']:>{width}} {event['type']} {_facts(event['payload'])}"
        lines.append(one_line(line.rstrip(), LINE_CHARACTERS))
        turn = turns.pop(event["turn"], None) if "turn" in event else None
        if turn is not None:
            lines.append(_turn_line(turn, " " * (width + len(MARK) + 2)))
    if len(plain["events"]) > len(shown):
        lines.append(f"   ... {len(plain['events']) - len(shown)} more, all in --json")
    lines += [_turn_line(turn, " " * (len(MARK) + 1)) for turn in turns.values()]
    return [*lines, ""]


def _turn_line(turn: Mapping[str, Any], indent: str) -> str:
    state = "" if turn["played"] else ", not played"
    return one_line(f"{indent}[turn {turn['turn']}{state}] model {turn['says']}", LINE_CHARACTERS)


def _facts(payload: Mapping[str, Any]) -> str:
    """The payload's values, without digests and generated ids, which say nothing to a reader."""
    return " ".join(
        f"{name}={_short(value)}"
        for name, value in payload.items()
        if not name.endswith("_sha256") and (not name.endswith("_id") or name == "call_id")
    )


def _short(value: object) -> str:
    import json

    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}..."


def _call_lines(calls: Iterable[ObservedCall]) -> list[str]:
    lines = []
    for call in calls:
        facts = [f"step {call.step}", call.status, call.reason_code or "no reason code"]
        facts.append("started" if call.started else "never started")
        facts.append("effect watermark set" if call.effect_sent else "no effect")
        facts += ["malformed arguments"] if call.malformed else []
        facts += ["no such tool in the session"] if call.invented else []
        arguments = "no JSON object" if call.arguments is None else _short(dict(call.arguments))
        lines.append(one_line(f"   {call.name} ({call.call_id}) {arguments}", LINE_CHARACTERS))
        lines.append(one_line(f"     {', '.join(facts)}", LINE_CHARACTERS))
    return [f"tool calls ({len(lines) // 2})", *lines, ""]


def _ending_lines(ending: Mapping[str, Any] | None) -> list[str]:
    if ending is None:
        return ["ending: the subject gave no record", ""]
    reason = f" ({ending['failure_reason']})" if ending["failure_reason"] else ""
    nouns = {"steps": "step", "model_calls": "model call", "tool_calls": "tool call"}
    counts = [many(ending[key], noun) for key, noun in nouns.items()]
    answer = "no final answer" if ending["final_text"] is None else ending["final_text"]
    return [
        f"ending: {ending['status']}{reason}; {', '.join(counts)}",
        f"   {indented(printable(answer, LINE_CHARACTERS), '   ')}",
        "",
    ]


def _check_lines(verdict: Verdict) -> list[str]:
    passed = sum(check.outcome == PASS for check in verdict.checks)
    lines = [f"checks ({passed} of {len(verdict.checks)} pass)"]
    for check in verdict.checks:
        lines += _check(check)
    for finding in verdict.findings:
        lines.append(one_line(f"{MARK} {finding.render()}", LINE_CHARACTERS))
    return lines


def _check(check: CheckResult) -> list[str]:
    place = f"{check.path}:{check.line}"
    if check.outcome == PASS:
        return [one_line(f"   pass {check.name} {place}", LINE_CHARACTERS)]
    values = (("expected", check.expected), ("observed", check.observed))
    lines = [one_line(f"{MARK} FAIL {check.name} {place}", LINE_CHARACTERS)]
    for word, value in values:
        lines.append(one_line(f"     {word}: {_short(value)}", LINE_CHARACTERS))
    return lines + ([f"     {one_line(check.message, LINE_CHARACTERS)}"] if check.message else [])
