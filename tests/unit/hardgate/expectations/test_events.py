"""Event order with filters: events of one type are told apart by what they are about."""

import pytest

from hardgate.cases.record import ObservedEvent
from tests.unit.hardgate.expectations.samples import RECORD, case, checks

LOG = (
    ("run.started", {}),
    ("tool.call.proposed", {"tool_name": "demo.a", "call_id": "c1", "step_number": 1}),
    ("tool.call.proposed", {"tool_name": "demo.b", "call_id": "c2", "step_number": 1}),
    ("tool.call.started", {"tool_name": "demo.b", "call_id": "c2", "step_number": 1}),
    ("tool.call.started", {"tool_name": "demo.a", "call_id": "c3", "step_number": 2}),
    ("run.completed", {}),
)
OBSERVED = RECORD._replace(
    events=tuple(ObservedEvent(number, name, payload) for number, (name, payload) in enumerate(LOG))
)
PROPOSED, STARTED = "tool.call.proposed", "tool.call.started"


def of(event, **filters):
    return {"event": event, **filters}


@pytest.mark.parametrize(
    ("order", "missing"),
    [
        ([of(PROPOSED)], None),
        ([of(PROPOSED, tool="demo.b"), of(STARTED, tool="demo.a")], None),
        ([of(PROPOSED, tool="demo.a", call_id="c1", step=1), "run.completed"], None),
        (["run.started", of(STARTED, step=2)], None),
        ([of(STARTED, call_id="c2"), of(STARTED, call_id="c3")], None),
        ([of(STARTED, tool="demo.a"), of(STARTED, tool="demo.b")], "started (tool demo.b) after"),
        (
            [of(PROPOSED, tool="demo.a"), of(PROPOSED, tool="demo.a")],
            "proposed (tool demo.a) after",
        ),
        ([of(STARTED, call_id="c1")], "tool.call.started (call_id c1)"),
        ([of(STARTED, tool="demo.a", step=1)], "tool.call.started (tool demo.a, step 1)"),
        ([of("run.started", step=1)], "run.started (step 1)"),
    ],
)
def test_an_event_fits_when_every_filter_does(order, missing):
    check = checks(case(event_order=order), OBSERVED)[0]
    assert check.name == "event_order"
    assert check.outcome == ("pass" if missing is None else "fail")
    assert (missing or "") in check.message


def test_what_is_expected_is_shown_with_its_filters():
    check = checks(case(event_order=["run.started", of(STARTED, tool="demo.c")]), OBSERVED)[0]
    assert check.expected == ["run.started", "tool.call.started (tool demo.c)"]
    assert check.message == ("missing: tool.call.started (tool demo.c) after run.started (event 0)")
