"""What a worker process of a case is told and tells: nothing is lost on the way."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.events import ActorType, Event, EventType
from agent_core.evals.worker_job import Job, Report, script_position
from hardgate.cases.loader import load_case
from hardgate.cases.record import ObservedIntervention
from hardgate.fixtures.model_script import load_script
from hardgate.fixtures.tool_results import load_tool_results

CASE = b"""\
name: sample
milestone: 2
input: {turns: [First., Second.]}
model_fixture: sample
clock: {start: 2026-02-03T04:05:06.789Z, advance_on_step: 90s}
fixtures: {tools: [math.calculate], run_limits: {max_steps: 4}}
interventions:
  - {at: after_effect, action: kill_worker, occurrence: 2, where: {tool: a.b, step: 3}}
  - {at: user_input_requested, action: answer, text: Blue.}
expected: {terminal_status: completed}
"""
SCRIPT = b"""\
turns:
  - kind: tool_calls
    calls:
      - {call_id: c1, name: math.calculate, arguments: {a: null, b: [1, 2.5, true], c: {d: x}}}
      - {call_id: c2, name: math.calculate, arguments: "{bad"}
    usage: {input_tokens: 3, output_tokens: 4}
  - {kind: error, error_class: rate_limit, text: half, after_bytes: 2, retry_after_seconds: 1.5}
  - {kind: final, text: Done.}
"""
RESULTS = b"""\
results:
  - {tool: math.calculate, arguments: {a: null}, output: {n: null, x: 1}, content: one}
"""


def job(results=None, seen=()):
    return Job(
        case=load_case("01_sample.yaml", CASE).case,
        script=load_script("sample.yaml", SCRIPT),
        tool_results=results,
        url="sqlite:////x/é.db",
        tenant_id="tenant_eval",
        number=3,
        start=datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC),
        turns_played=2,
        seen=seen,
    )


@pytest.mark.parametrize("results", [None, load_tool_results("sample.yaml", RESULTS)])
@pytest.mark.parametrize("seen", [(), (ObservedIntervention(True, 4, 2, "why"),)])
def test_a_job_comes_through(results, seen):
    sent = job(results, seen)
    text = sent.to_json()
    assert "\n" not in text
    received = Job.from_json(text)
    assert received.case.expected is None
    case = sent.case.model_copy(update={"expected": None, "arms": None})
    assert received.case == case
    assert received._replace(case=case) == sent._replace(case=case)


def test_a_report_comes_through_and_the_last_whole_one_counts():
    first = Report((ObservedIntervention(True, 1, 1),), [1.5], ["id"])
    second = first._replace(waits_seconds=[1.5, 2.0])
    lines = f"{first.to_json()}\n{second.to_json()}\n"
    assert Report.last_of(lines) == second
    assert Report.last_of(lines[:-1]) == first
    assert Report.last_of("") is None
    assert Report.last_of(first.to_json()) is None


def log(*types):
    return [
        Event(
            id="e",
            session_id="s",
            run_id="r",
            event_type=EventType(event_type),
            payload_schema_version=1,
            actor_type=ActorType.RUNTIME,
            actor_id="test",
            payload={"step_number": step},
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            sequence=number,
        )
        for number, (event_type, step) in enumerate(types, 1)
    ]


ASKED, ANSWERED, FAILED = (
    "model.request.started",
    "model.response.completed",
    "model.response.failed",
)


@pytest.mark.parametrize(
    ("events", "position"),
    [
        ([], (0, None)),
        ([(ASKED, 1)], (0, None)),
        ([(ASKED, 1), (ASKED, 1)], (0, None)),
        ([(ASKED, 1), (ANSWERED, 1)], (1, None)),
        ([(ASKED, 1), (FAILED, 1), (ASKED, 1), (ANSWERED, 1)], (2, None)),
        ([(ANSWERED, 1), (ANSWERED, 2), (FAILED, 3)], (2, 3)),
        ([(ANSWERED, 1), (ANSWERED, 2), (FAILED, 3), (FAILED, 4)], (2, 3)),
    ],
)
def test_a_script_goes_on_after_the_last_turn_on_record(events, position):
    assert script_position(log(*events), 2) == position
