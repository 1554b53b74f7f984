"""Expectations about the run as a whole, its effects, and what is checked of every run."""

import pytest

from hardgate.cases.record import FileChanges, MissingToolResult, ObservedEvent
from hardgate.expectations.implicit import messages, tool_results
from hardgate.expectations.outcome import Outcome
from tests.unit.hardgate.expectations.samples import (
    RECORD,
    call,
    case,
    checks,
    failed,
    outcomes,
    with_calls,
)


@pytest.mark.parametrize(
    ("expected", "observed", "passes"),
    [
        ("completed", "COMPLETED", True),
        ("COMPLETED", "COMPLETED", True),
        ("cancelled", "COMPLETED", False),
        ("completed", "CANCELLED", False),
        ("failed", "FAILED", True),
    ],
)
def test_terminal_status(expected, observed, passes):
    record = RECORD._replace(terminal_status=observed)
    assert outcomes(record, terminal_status=expected)["terminal_status"] == [passes]


def test_a_failed_run_says_why():
    record = RECORD._replace(terminal_status="FAILED", failure_reason="max_steps_exceeded")
    check = checks(case(terminal_status="completed"), record)[0]
    assert (check.expected, check.observed) == ("COMPLETED", "FAILED")
    assert check.message == "the run failed: max_steps_exceeded"


@pytest.mark.parametrize(("steps", "passes"), [(1, True), (2, True), (3, False)])
def test_maximum_steps(steps, passes):
    record = RECORD._replace(step_count=steps)
    assert outcomes(record, maximum_steps=2)["maximum_steps"] == [passes]


@pytest.mark.parametrize(
    ("order", "missing"),
    [
        (["run.queued"], None),
        (["run.queued", "run.completed"], None),
        (["model.request.started", "tool.call.proposed", "model.request.started"], None),
        (["model.request.started", "model.request.started"], None),
        (["run.completed", "run.queued"], "run.queued after run.completed (event 10)"),
        (["run.queued", "run.queued"], "run.queued after run.queued (event 1)"),
        (["model.request.started"] * 3, "model.request.started after model.request.started"),
        (["tool.call.denied"], "tool.call.denied"),
        (["run.started", "tool.call.failed", "run.completed"], "tool.call.failed after"),
    ],
)
def test_event_order_is_a_subsequence(order, missing):
    check = checks(case(event_order=order))[0]
    assert check.name == "event_order"
    assert check.outcome == ("pass" if missing is None else "fail")
    if missing is not None:
        assert check.message.startswith(f"missing: {missing}")


def test_a_failed_event_order_points_at_the_missing_entry():
    loaded = case(terminal_status="completed", event_order=["run.queued", "tool.call.denied"])
    assert [check.line for check in checks(loaded) if check.name == "event_order"] == [7]


@pytest.mark.parametrize(
    ("codes", "passes"),
    [
        (["tool.succeeded"], [True]),
        (["tool.timeout"], [False]),
        (["tool.timeout", "tool.succeeded"], [False, True]),
    ],
)
def test_each_reason_code_is_a_check(codes, passes):
    assert outcomes(reason_codes=codes)["reason_codes"] == passes


WRITE = {"tool": "demo.write", "watermark": "set"}
SENT = call("demo.write", effect_sent=True)


@pytest.mark.parametrize(
    ("expected", "sent", "message"),
    [
        (None, [], ""),
        ([], [], ""),
        (None, [SENT], "unexpected: demo.write (1)"),
        ([WRITE], [SENT], ""),
        ([WRITE], [], "missing: demo.write (1)"),
        ([WRITE], [SENT, SENT], "unexpected: demo.write (1)"),
        ([{**WRITE, "count": 2}], [SENT, SENT], ""),
        ([{**WRITE, "count": 2}], [SENT], "missing: demo.write (1)"),
        ([WRITE], [call("demo.send", effect_sent=True)], "missing: demo.write (1); unexpected: d"),
        ([WRITE], [call("demo.write", effect_sent=False)], "missing: demo.write (1)"),
    ],
)
def test_effects_are_exactly_the_listed_watermarks(expected, sent, message):
    block = {"maximum_steps": 9} if expected is None else {"maximum_steps": 9, "effects": expected}
    check = next(one for one in checks(case(**block), with_calls(*sent)) if one.name == "effects")
    assert check.outcome == ("fail" if message else "pass")
    assert check.message.startswith(message)


def test_a_file_left_in_the_workspace_is_an_effect():
    loaded = case(maximum_steps=9)
    changes = FileChanges(created=("notes/a.txt",))
    names = {check.name: check for check in checks(loaded, changes=changes)}
    assert names["workspace"].outcome == "fail"
    assert names["workspace"].message == "unexpected, created: notes/a.txt"
    assert names["effects"].outcome == "pass"


MALFORMED = call(malformed=True)._replace(arguments=None)
INVENTED = call("made.up", invented=True)
ERRORED = RECORD._replace(terminal_status="FAILED", failure_reason="model_permanent_error")


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("errored_run", ERRORED),
        ("malformed_arguments", with_calls(MALFORMED)),
        ("invented_tool", with_calls(INVENTED)),
    ],
)
def test_implicit_checks_are_on_and_a_case_opts_out_of_each(name, record):
    opt_out = {"implicit": {f"allow_{name}": True}}
    check = f"implicit.{name}"
    assert failed(record, maximum_steps=9) == [check]
    assert failed(record, maximum_steps=9, **opt_out) == []
    # An opt-out that turns out unneeded is wrong too.
    assert failed(RECORD, maximum_steps=9) == []
    assert failed(RECORD, maximum_steps=9, **opt_out) == [check]


def test_a_case_that_states_a_failed_run_has_opted_out_of_it():
    assert failed(ERRORED, terminal_status="failed") == []
    assert failed(ERRORED, terminal_status="cancelled") == [
        "terminal_status",
        "implicit.errored_run",
    ]


def test_a_failure_reason_is_an_error_whatever_the_status():
    record = RECORD._replace(failure_reason="internal_error")
    assert failed(record, maximum_steps=9) == ["implicit.errored_run"]


@pytest.mark.parametrize(
    ("played", "exhausted", "names"),
    [
        (2, None, []),
        (1, None, ["fixture.unconsumed"]),
        (2, 3, ["fixture.exhausted"]),
        (1, 1, ["fixture.unconsumed", "fixture.exhausted"]),
    ],
)
def test_the_script_is_played_to_its_end_and_not_beyond(played, exhausted, names):
    record = RECORD._replace(turns_consumed=played, exhausted_at_step=exhausted)
    assert failed(record, maximum_steps=9) == names


def test_a_request_after_the_last_turn_names_its_step():
    record = RECORD._replace(exhausted_at_step=3)
    check = next(
        one for one in checks(case(maximum_steps=9), record) if one.name == "fixture.exhausted"
    )
    assert check.message == "missing: a turn for the request at step 3"
    assert check.line == 4, "the line of model_fixture"


@pytest.mark.parametrize(
    ("sequences", "passes"),
    [([1, 2, 3], True), ([1, 5, 9], True), ([1, 1], False), ([2, 1], False)],
)
def test_events_have_rising_sequences(sequences, passes):
    events = tuple(ObservedEvent(number, "run.queued", {}) for number in sequences)
    record = RECORD._replace(events=events)
    assert outcomes(record, maximum_steps=9)["record.complete"] == [passes]


@pytest.mark.parametrize(("sent", "said"), [(2, ""), (1, "missing: 1 of 2 messages")])
def test_every_message_of_a_conversation_is_sent(sent, said):
    (outcome,) = messages(2, RECORD._replace(messages_sent=sent))
    keys = ("input", "turns")
    assert outcome == Outcome("input.messages_sent", keys, not said, 2, sent, said, (9,))


def test_every_call_of_a_tool_with_recorded_results_has_one():
    name, keys = "fixture.missing_tool_result", ("fixtures", "tool_results")
    wanted = "a recorded result for every call"
    assert list(tool_results(RECORD)) == [Outcome(name, keys, True, wanted, [], "", (9,))]
    missing = (MissingToolResult("math.calculate", "ab", 1), MissingToolResult("demo.x", "cd", 2))
    (outcome,) = tool_results(RECORD._replace(missing_tool_results=missing))
    found = [
        "math.calculate at step 1, arguments ab",
        "demo.x at step 2, arguments cd",
    ]
    message = f"missing: a result of {found[0]}; {found[1]}"
    assert outcome == Outcome(name, keys, False, wanted, found, message, (4, 5))
