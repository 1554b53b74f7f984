"""The timeline for people. Texts of models and tools are cut; what does not print is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hardgate.cases.record import WATERMARKS
from hardgate.cli.console import many
from hardgate.verdicts.text import indented, one_line, printable, shortened

VALUE_CHARACTERS = 160
LINE_CHARACTERS = 400
EVENTS_SHOWN = 1000
ITEMS_SHOWN = 200
MARK, NO_MARK = ">>", "  "
_COUNTED = {"steps": "step", "model_calls": "model call", "tool_calls": "tool call"}
_LAST = ("exceeded", "untrusted", "private", "blocked_sends", "pending_approvals", "metrics")

Plain = Mapping[str, Any]


def to_text(plain: Plain) -> str:
    """The text of what `timeline.to_plain` gives."""
    case = plain["case"]
    state = "PASS" if plain["ok"] else "FAIL"
    lines = [f"{state} {case['name']} (milestone {case['milestone']}): {case['path']}"]
    for run in plain["runs"]:
        lines += _run(run)
    lines += ["", *_checks(plain)]
    return "\n".join(lines)


def _run(run: Plain) -> Iterator[str]:
    if run["arm"] is not None:
        yield f"\narm {run['arm']}"
    outside = run["ending"] is not None and run["ending"]["effects_from"] != WATERMARKS
    if not outside:
        yield _line(f"principal {run['principal']}, policy profile {run['policy_profile']}")
    for message in run["messages"]:
        yield _line(f"input: {message}")
    yield ""
    yield from _events(run["events"], run["model_turns"])
    yield ""
    yield from _calls(run["tool_calls"], outside=outside)
    if run["conversation"] is not None:
        yield ""
        yield from _conversation(run["conversation"])
    yield ""
    yield from _ending(run["ending"])


def _events(events: Sequence[Plain], model_turns: Sequence[Plain]) -> Iterator[str]:
    """Events with the model's turns among them, then the turns that no event showed."""
    turns = {turn["turn"]: turn for turn in model_turns}
    shown = events[:EVENTS_SHOWN]
    width = max((len(str(event["sequence"])) for event in shown), default=0)
    yield f"events ({len(events)}); {MARK} marks where a check diverged"
    for event in shown:
        mark = MARK if event["around"] else NO_MARK
        facts = _facts(event["payload"])
        yield _line(f"{mark} {event['sequence']:>{width}} {event['type']} {facts}".rstrip())
        turn = turns.pop(event.get("turn"), None)
        if turn is not None:
            yield _turn(turn, " " * (len(MARK) + 1 + width + 1))
    if len(events) > len(shown):
        yield f"   ... {len(events) - len(shown)} more, all in --json"
    for turn in turns.values():
        yield _turn(turn, "   ")


def _turn(turn: Plain, indent: str) -> str:
    played = "" if turn["played"] else ", not played"
    if turn["kind"] == "tool_calls":
        calls = [f"{call['name']} {_short(call['arguments'])} ({call['call_id']})"
                 for call in turn["calls"]]  # fmt: skip
        says = f"calls {', '.join(calls)}"
    elif turn["kind"] == "error":
        says = f"fails: {turn['error_class']}"
    else:
        says = f"answers: {turn['text']}"
    return _line(f"{indent}[turn {turn['turn']}{played}] the model {says}")


def _facts(payload: Plain) -> str:
    """The payload's values, without digests and generated ids, which say nothing to a reader."""
    return " ".join(
        f"{name}={shortened(name, _as_text(value), VALUE_CHARACTERS)}"
        for name, value in payload.items()
        if not name.endswith("_sha256") and (not name.endswith("_id") or name == "call_id")
    )


def _calls(calls: Sequence[Plain], *, outside: bool) -> Iterator[str]:
    """Each call with what became of it, as far as that is seen from outside."""
    yield f"tool calls ({len(calls)})"
    for call in calls:
        arguments = "no JSON object" if call["arguments"] is None else _short(call["arguments"])
        yield _line(f"   {call['name']} ({call['call_id']}) {arguments}")
        facts = [f"step {call['step']}", call["status"]]
        if not outside:
            facts.append(call["reason_code"] or "no reason code")
            facts.append("started" if call["started"] else "never started")
            facts.append("effect watermark set" if call["effect_sent"] else "no effect watermark")
        elif call["effect_sent"]:
            facts.append("effect reported")
        facts += ["forgot its watermark"] if call["missing_watermark"] else []
        facts += ["malformed arguments"] if call["malformed"] else []
        facts += ["no such tool in the session"] if call["invented"] else []
        yield _line(f"     {', '.join(facts)}")


def _conversation(items: Sequence[Plain]) -> Iterator[str]:
    """Each piece with its labels."""
    yield f"conversation ({many(len(items), 'piece')}), with its labels"
    for item in items[:ITEMS_SHOWN]:
        about = [item[name] for name in ("tool", "call_id") if item[name] is not None]
        labels = [item["trust"], *(["private"] if item["private"] else [])]
        yield _line(f"   {' '.join([item['kind'], *about])}: {', '.join(labels)}")
    if len(items) > ITEMS_SHOWN:
        yield f"   ... {len(items) - ITEMS_SHOWN} more, all in --json"


def _ending(ending: Plain | None) -> Iterator[str]:
    if ending is None:
        yield "ending: the subject gave no record"
        return
    reason = f" ({ending['failure_reason']})" if ending["failure_reason"] else ""
    counts = [many(ending[key], noun) for key, noun in _COUNTED.items()]
    counts += [many(ending["messages_sent"], "message")] if ending["messages_sent"] != 1 else []
    yield _line(f"ending: {ending['status']}{reason}; {', '.join(counts)}")
    answer = "no final answer" if ending["final_text"] is None else ending["final_text"]
    yield f"   {indented(printable(answer, LINE_CHARACTERS), '   ')}"
    for name in _LAST:
        if name in ending:
            yield _line(f"   {name}: {_short(ending[name])}")
    for result in ending["missing_tool_results"]:
        yield _line(f"   no recorded result: {result['tool']} {result['arguments_sha256']}")
    for limit in ending["limits_hit"]:
        yield _line(f"   limit reached: {limit}")


def _checks(plain: Plain) -> Iterator[str]:
    checks = plain["checks"]
    passed = sum(check["outcome"] == "pass" for check in checks)
    yield f"checks ({passed} of {len(checks)} pass)"
    for check in checks:
        place = f"{check['path']}:{check['line']}"
        if check["outcome"] == "pass":
            yield _line(f"   pass {check['name']} {place}")
            continue
        yield _line(f"{MARK} FAIL {check['name']} {place}")
        yield _line(f"     expected: {_short(check['expected'])}")
        yield _line(f"     observed: {_short(check['observed'])}")
        if check["message"]:
            yield _line(f"     {check['message']}")
    for finding in plain["findings"]:
        place = f"{finding['path']}:{finding['line']}: " if finding["path"] else ""
        yield _line(f"{MARK} {place}{finding['rule']}: {finding['message']}")


def _short(value: object) -> str:
    return shortened("", _as_text(value), VALUE_CHARACTERS)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _line(text: str) -> str:
    return one_line(text, LINE_CHARACTERS)
