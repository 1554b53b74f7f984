"""What happened in a case, in order, as plain values; `timeline_text` makes text of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardgate.cases.model import Case
from hardgate.cases.record import Record
from hardgate.cli.running import Ran
from hardgate.fixtures.model_script import ErrorTurn, ModelScript, ToolCallsTurn, Turn
from hardgate.kinds.case_run import RanRun
from hardgate.subjects.collection import RunnableRun

# Each answer of the model, failed ones included, is an event of such a type.
ANSWER_EVENT = "model.response."
# Of a record, what is told where the subject can tell it.
_SAID = ("exceeded", "untrusted", "private", "blocked_sends", "pending_approvals", "metrics")


def to_plain(ran: Ran) -> dict[str, Any]:
    """The timeline as JSON values: one run, or one for each arm of the case.

    `around` says at which events a failed check diverged.
    """
    assert ran.runnable is not None  # an item of the kind case
    loaded = ran.runnable.loaded
    return {
        "schema_version": 1,
        "ok": ran.verdict.passed,
        "case": {"name": loaded.case.name, "path": loaded.path, "milestone": loaded.case.milestone},
        "runs": [_run(*pair) for pair in zip(ran.runnable.runs, ran.runs, strict=True)],
        "checks": [check._asdict() for check in ran.verdict.checks],
        "findings": [finding._asdict() for finding in ran.verdict.findings],
    }


def _run(runnable: RunnableRun, ran: RanRun) -> dict[str, Any]:
    record, case = ran.record, runnable.planned.case
    return {
        "arm": runnable.planned.arm,
        "subject": None if case.subject is None else case.subject.model_dump(mode="json"),
        "principal": case.principal,
        "policy_profile": case.policy_profile,
        "messages": _messages(case),
        "model_fixture": case.model_fixture,
        "model_turns": _turns(runnable.script, record),
        "events": [] if record is None else _events(record, ran.around),
        "tool_calls": [] if record is None else [call._asdict() for call in record.tool_calls],
        "conversation": None if record is None else _conversation(record),
        "ending": None if record is None else _ending(record),
    }


def _messages(case: Case) -> list[str]:
    """What the user sends."""
    if case.input is None:
        return []
    return [case.input.text] if case.input.text is not None else list(case.input.turns or ())


def _turns(script: ModelScript, record: Record | None) -> list[dict[str, Any]]:
    played = 0 if record is None else record.turns_consumed
    return [
        {"turn": number, "played": number <= played, **_says(turn)}
        for number, turn in enumerate(script.turns, start=1)
    ]


def _says(turn: Turn) -> dict[str, Any]:
    """What the model answers in a turn."""
    if isinstance(turn, ErrorTurn):
        return {"kind": "error", "error_class": turn.error_class, "text": turn.text}
    if not isinstance(turn, ToolCallsTurn):
        return {"kind": "final", "text": turn.text}
    calls = [
        {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
        for call in turn.calls
    ]
    return {"kind": "tool_calls", "text": turn.text, "calls": calls}


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


def _conversation(record: Record) -> list[dict[str, Any]] | None:
    """The pieces of the conversation with their labels; None where the subject cannot tell."""
    return None if record.items is None else [item._asdict() for item in record.items]


def _ending(record: Record) -> dict[str, Any]:
    said = {name: getattr(record, name) for name in _SAID}
    missing = [result._asdict() for result in record.missing_tool_results]
    return {
        "status": record.terminal_status,
        "failure_reason": record.failure_reason,
        "final_text": record.final_text,
        "steps": record.step_count,
        "model_calls": record.model_call_count,
        "tool_calls": record.tool_call_count,
        "messages_sent": record.messages_sent,
        "missing_tool_results": missing,
        "limits_hit": list(record.limits_hit),
        "effects_from": record.effects_from,
        **{
            name: dict(value) if name == "metrics" else value
            for name, value in said.items()
            if value is not None
        },
    }
