"""A run of case 2 as a record, and cases made of an `expected` block."""

import json
from typing import Any

from hardgate.cases.loader import LoadedCase, load_case
from hardgate.cases.record import ObservedCall, ObservedEvent, Record
from hardgate.expectations.evaluate import Evaluation, Evidence, evaluate
from hardgate.verdicts.verdict import PASS, CheckResult

CALCULATE = ObservedCall(
    name="math.calculate",
    arguments={"expression": "17 * 23"},
    call_id="call_1",
    step=1,
    status="SUCCEEDED",
    reason_code="tool.succeeded",
    started=True,
)
_TOOL = {"tool_name": "math.calculate", "call_id": "call_1", "step_number": 1}
_EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("run.queued", {}),
    ("run.started", {}),
    ("model.request.started", {"step_number": 1}),
    ("model.response.completed", {"step_number": 1}),
    ("tool.call.proposed", _TOOL),
    ("tool.call.completed", {**_TOOL, "reason_code": "tool.succeeded"}),
    ("model.request.started", {"step_number": 2}),
    ("model.response.completed", {"step_number": 2}),
    ("assistant.message.completed", {"text": "17 multiplied by 23 is 391."}),
    ("run.completed", {"step_count": 2}),
]
RECORD = Record(
    terminal_status="COMPLETED",
    failure_reason=None,
    final_text="17 multiplied by 23 is 391.",
    step_count=2,
    model_call_count=2,
    tool_call_count=1,
    tool_calls=(CALCULATE,),
    events=tuple(
        ObservedEvent(number, name, payload) for number, (name, payload) in enumerate(_EVENTS, 1)
    ),
    turns_consumed=2,
    turns_total=2,
)
EMPTY = Record(
    terminal_status="COMPLETED",
    failure_reason=None,
    final_text="",
    step_count=0,
    model_call_count=0,
    tool_call_count=0,
    tool_calls=(),
    events=(),
    turns_consumed=0,
    turns_total=0,
)


def case(fixtures: Any = None, /, **expected: Any) -> LoadedCase:
    """A case that expects this; values are written as JSON, which is YAML."""
    lines = ["name: sample\n", "milestone: 1\n", "input: {text: x}\n", "model_fixture: y\n"]
    lines += ["expected:\n"]
    lines += [f"  {key}: {json.dumps(value)}\n" for key, value in expected.items()]
    lines += [f"fixtures: {json.dumps(fixtures)}\n"] if fixtures else []
    text = "".join(lines)
    return load_case("evals/cases/01_sample.yaml", text.encode())


def evaluation(loaded: LoadedCase, record: Record = RECORD, **more: Any) -> Evaluation:
    """The checks of the only run of a case; `more` is other evidence than the record."""
    (planned,) = loaded.runs
    return evaluate(loaded, planned, Evidence(record, **more))


def checks(loaded: LoadedCase, record: Record = RECORD, **more: Any) -> tuple[CheckResult, ...]:
    return evaluation(loaded, record, **more).checks


def outcomes(record: Record = RECORD, **expected: Any) -> dict[str, list[bool]]:
    """By name of the check, whether each check of that name passed."""
    found: dict[str, list[bool]] = {}
    for check in checks(case(**expected), record):
        found.setdefault(check.name, []).append(check.outcome == PASS)
    return found


def failed(record: Record = RECORD, **expected: Any) -> list[str]:
    """The names of the checks that failed."""
    return [check.name for check in checks(case(**expected), record) if check.outcome != PASS]


def call(name: str = "math.calculate", arguments: Any = None, **more: Any) -> ObservedCall:
    return CALCULATE._replace(name=name, arguments=arguments or {}, **more)


def with_calls(*made: ObservedCall) -> Record:
    return RECORD._replace(tool_calls=made)
