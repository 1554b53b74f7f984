"""When an intervention's turn has come: which triggers count, and which of them is the one."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from agent_core.application.inline import run_inline
from agent_core.domain.errors import NotFound, StaleState
from agent_core.domain.events import ActorType, Event, EventType
from agent_core.evals.interventions import Watch, service_calls
from hardgate.cases.model import Intervention, Where
from hardgate.cases.record import ObservedIntervention

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def event(event_type, run_id="run", **payload):
    return Event(
        id="e",
        session_id="s",
        run_id=run_id,
        event_type=EventType(event_type),
        payload_schema_version=1,
        actor_type=ActorType.RUNTIME,
        actor_id="test",
        payload=payload,
        created_at=NOW,
        sequence=1,
    )


def call(event_type="tool.call.started", tool="math.calculate", call_id="c1", step=1):
    return event(event_type, tool_name=tool, call_id=call_id, step_number=step)


def point(name, tool="math.calculate", call_id="c1", step=1):
    row = SimpleNamespace(tool_name=tool, call_id=call_id, step_number=step)
    return name, SimpleNamespace(id="run"), row


def one(at, action="cancel", **more):
    where = more.pop("where", None)
    where = None if where is None else Where(**where)
    return Intervention(at=at, action=action, where=where, **more)


def told(watch, *triggers):
    for trigger in triggers:
        if isinstance(trigger, Event):
            watch.on_event(trigger)
        else:
            run_inline(watch.at_point(*trigger))


STARTED = event("run.started")
OTHERS = [
    call(tool="demo.unsafe_write"),
    call(call_id="c2"),
    call(step=2),
    call(),
]


@pytest.mark.parametrize(
    ("intervention", "triggers", "fired_at", "seen", "fitting"),
    [
        (one("run.started"), [STARTED], 0, 1, 1),
        (one("run.started"), [event("run.queued")], None, 0, 0),
        (one("run.started"), [event("run.started", run_id=None)], None, 0, 0),
        (one("run.started", occurrence=2), [STARTED], None, 1, 1),
        (one("run.started", occurrence=2), [STARTED, STARTED, STARTED], 1, 3, 3),
        (one("user_input_requested"), [event("run.waiting_for_user")], 0, 1, 1),
        (one("before_effect"), [point("after_effect"), point("before_effect")], 1, 1, 1),
        (one("pipeline.3.before"), [point("pipeline.3.after")], None, 0, 0),
        (one("pipeline.1.before"), [point("pipeline.11.before")], None, 0, 0),
        (one("pipeline.3.after"), [point("pipeline.3.after")], 0, 1, 1),
        (one("tool.call.started", where={"tool": "math.calculate"}), OTHERS, 1, 4, 3),
        (one("tool.call.started", where={"call_id": "c2"}), OTHERS, 1, 4, 1),
        (one("tool.call.started", where={"step": 2}), OTHERS, 2, 4, 1),
        (one("tool.call.started", where={"step": 3}), OTHERS, None, 4, 0),
        (
            one("tool.call.started", where={"tool": "math.calculate", "call_id": "c1", "step": 1}),
            OTHERS,
            3,
            4,
            1,
        ),
        (
            one("tool.call.started", occurrence=3, where={"tool": "math.calculate"}),
            OTHERS,
            3,
            4,
            3,
        ),
        (one("run.started", where={"tool": "math.calculate"}), [STARTED], None, 1, 0),
        (one("pipeline.9.after", where={"step": 2}), [point("pipeline.9.after")], None, 1, 0),
        (
            one("pipeline.9.after", where={"tool": "x.y"}),
            [point("pipeline.9.after"), point("pipeline.9.after", tool="x.y")],
            1,
            2,
            1,
        ),
    ],
)
def test_which_trigger_is_the_one(intervention, triggers, fired_at, seen, fitting):
    count, at = 0, []
    watch = Watch([intervention], lambda one, run_id: at.append((count, run_id)))
    for trigger in triggers:
        told(watch, trigger)
        count += 1
    assert at == ([] if fired_at is None else [(fired_at, "run")])
    assert watch.seen == (ObservedIntervention(fired_at is not None, seen, fitting),)


def test_several_fire_in_their_order_and_each_is_on_record_before_it_acts():
    acted = []

    def act(one, run_id):
        acted.append((one.action, [each.fired for each in watch.seen]))

    changes = []
    wanted = [one("run.started", "answer", text="x"), one("run.queued"), one("run.started")]
    watch = Watch(wanted, act, on_change=lambda: changes.append(watch.seen))
    told(watch, STARTED)
    assert acted == [("answer", [True, False, False]), ("cancel", [True, False, True])]
    assert [sum(each.fired for each in change) for change in changes] == [1, 2]


def test_what_an_intervention_brings_about_is_counted_too():
    """Committing within a listener: the second waits for what the first one causes."""

    def act(one, run_id):
        if one.at == "run.started":
            told(watch, event("run.cancelled"))

    watch = Watch([one("run.started"), one("run.cancelled", "answer", text="x")], act)
    told(watch, STARTED)
    assert [each.fired for each in watch.seen] == [True, True]


def test_another_process_goes_on_counting():
    first = Watch([one("run.started", occurrence=3)], lambda *_: pytest.fail("too early"))
    told(first, STARTED, STARTED)
    acted = []
    second = Watch([one("run.started", occurrence=3)], lambda *_: acted.append(1), first.seen)
    told(second, STARTED, STARTED)
    assert acted == [1]
    first.go_on(second.seen)
    assert first.seen == (ObservedIntervention(True, 4, 4),)


class Services:
    def __init__(self, error=None):
        self.calls = []
        self.error = error

    async def cancel(self, *arguments):
        self.calls.append(("cancel", *arguments))
        if self.error:
            raise self.error

    async def answer(self, *arguments):
        self.calls.append(("answer", *arguments))
        if self.error:
            raise self.error


def test_they_go_through_the_services():
    services = Services()
    act = service_calls(lambda: services, in_worker=False)
    assert act(one("run.started"), "run") is None
    assert act(one("run.started", "answer", text="Blue."), "run") is None
    assert services.calls == [("cancel", "run"), ("answer", "run", "Blue.")]


@pytest.mark.parametrize("error", [NotFound("gone"), StaleState("not asked"), ValueError("empty")])
def test_what_a_service_refuses_is_told(error):
    act = service_calls(lambda: Services(error), in_worker=False)
    watch = Watch([one("run.started")], act)
    told(watch, STARTED)
    assert watch.seen == (ObservedIntervention(True, 1, 1, str(error)),)


def test_nobody_is_killed_where_no_worker_is_and_what_there_is_not_is_told():
    act = service_calls(lambda: Services(), in_worker=False)
    assert act(one("run.queued", "kill_worker"), "run") == "no worker was at work"
    assert act(one("run.queued", "approve"), "run") == "this runtime has no approve"
