"""The counters that are read off a log."""

from datetime import UTC, datetime

import pytest

from agent_core.domain.events import ActorType, Event, EventType
from agent_core.evals.metrics import METRICS, counters


def event(event_type, **payload):
    return Event(
        id="e",
        session_id="s",
        run_id="r",
        sequence=1,
        event_type=EventType(event_type),
        payload_schema_version=1,
        actor_type=ActorType.RUNTIME,
        actor_id="a",
        payload=payload,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_an_empty_log_has_every_metric_at_zero():
    assert counters([], []) == dict.fromkeys(METRICS, 0)


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("runs_total", event("run.queued")),
        ("runs_failed_total", event("run.failed")),
        ("checkpoints_total", event("run.checkpointed")),
        ("model_attempts_total", event("model.request.started")),
        ("model_failures_total", event("model.response.failed")),
        ("tool_proposals_total", event("tool.call.proposed")),
        ("tool_starts_total", event("tool.call.started")),
        ("tool_failures_total", event("tool.call.failed")),
        ("tool_denials_total", event("tool.call.denied")),
        ("tool_uncertain_total", event("tool.call.uncertain")),
        ("tool_truncations_total", event("tool.call.completed", truncated=True)),
        ("tool_effects_total", event("tool.call.completed", effect_sent=True)),
    ],
)
def test_each_counts_its_own(name, one):
    other = event("session.created", truncated=False, effect_sent=False)
    found = counters([one, other, one], [])
    assert {key for key, value in found.items() if value} == {name}
    assert found[name] == 2


def test_tokens_are_summed():
    log = [
        event("model.response.completed", input_tokens=5, output_tokens=7),
        event("run.queued"),
        event("model.response.completed", input_tokens=1, output_tokens=0),
    ]
    found = counters(log, [])
    assert (found["input_tokens_total"], found["output_tokens_total"]) == (6, 7)


def test_effect_reviews_are_counted_beside_the_log():
    found = counters([], [], 2)
    assert {name: count for name, count in found.items() if count} == {"effect_reviews_total": 2}


def test_waits_are_counted_and_summed():
    found = counters([], [1, 0.25, 2])
    assert (found["waits_total"], found["waited_milliseconds_total"]) == (3, 3250)
