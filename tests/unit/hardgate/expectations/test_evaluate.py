"""What holds for all expectations: completeness, order, and that none of them passes on nothing."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.cases.expected import Expected
from hardgate.cases.record import FileChanges, ObservedEvent, ObservedItem
from hardgate.expectations.evaluate import EVALUATORS, as_checks
from hardgate.expectations.judging import Verification
from hardgate.expectations.outcome import Outcome
from hardgate.fixtures.judge import JudgeVerdict, ScriptedJudge
from hardgate.verdicts.verdict import CheckResult
from tests.unit.hardgate.expectations.samples import (
    EMPTY,
    RECORD,
    call,
    case,
    checks,
    failed,
    outcomes,
    with_calls,
)

# One passing value for each key, over a record it passes on.
CALCULATE = {"name": "math.calculate", "arguments_subset": {"expression": "17 * 23"}}
WRITE = {"tool": "demo.write", "watermark": "set"}
NO_CALLS = with_calls()
WROTE = with_calls(call("demo.write", effect_sent=True))
RAN_OUT = RECORD._replace(terminal_status="FAILED", failure_reason="max_steps_exceeded")
LABELLED = RECORD._replace(
    untrusted=True,
    private=False,
    blocked_sends=1,
    pending_approvals=0,
    metrics={"tool_truncations_total": 1},
    items=(
        ObservedItem("user_message", "user", private=False),
        ObservedItem("tool_result", "internal_tool", False, "math.calculate", "call_1"),
    ),
)


def with_events(types, payload=None):
    events = tuple(ObservedEvent(number, one, payload or {}) for number, one in enumerate(types, 1))
    return RECORD._replace(events=events)


ANSWER = RECORD.final_text
RUBRIC = "Says 391."
JUDGE = ScriptedJudge(
    rubric=RUBRIC,
    verdicts=(
        JudgeVerdict(answer=ANSWER, passed=True, reason="It does."),
        JudgeVerdict(answer="392", passed=False, reason="It does not."),
    ),
)
# What a key needs beside the record.
EVIDENCE = {
    "workspace": {"changes": FileChanges(created=("a.txt",), removed=("b.txt",))},
    "judge": {"judge": JUDGE},
    "verify": {"verification": Verification(0)},
}
# No subject can show these yet, so nothing passes and no case that uses one is run.
NOT_YET = {"artifacts"}
PASSING = {
    "terminal_status": ("completed", RECORD),
    "failure_reason": ("max_steps_exceeded", RAN_OUT),
    "stop_cause": ("max_turns", RAN_OUT),
    "final_text": (ANSWER, RECORD),
    "final_text_contains": (["391"], RECORD),
    "final_text_not_contains": (["392"], RECORD),
    "final_text_contains_any": (["390", "391"], RECORD),
    "final_text_matches": ("39[1]", RECORD),
    "tools": (["math.calculate"], RECORD),
    "tools_in_order": (["math.calculate"], RECORD),
    "tool_calls": ([CALCULATE], RECORD),
    "args": ([{"tool": "math.calculate", "key": "expression", "contains": "23"}], RECORD),
    "forbidden_tool_calls": (["demo.write"], RECORD),
    "no_tools": (True, NO_CALLS),
    "tool_started_count": (1, RECORD),
    "ended_on_failed_call": (False, RECORD),
    "maximum_steps": (2, RECORD),
    "maximum_model_calls": (2, RECORD),
    "maximum_tool_calls": (1, RECORD),
    "model_calls": (2, RECORD),
    "event_order": (["run.queued", "run.completed"], RECORD),
    "effects": ([WRITE], WROTE),
    "workspace": ({"created": ["a.txt"], "removed": ["b.txt"]}, RECORD),
    "reason_codes": (["tool.succeeded"], RECORD),
    "approval_requested": (False, RECORD),
    "pending_approvals": (0, LABELLED),
    "blocked_sends": (1, LABELLED),
    "taint": ({"untrusted": True, "private": False}, LABELLED),
    "trust": ([{"item": "tool_result", "level": "internal_tool"}], LABELLED),
    "distinct_prefixes": (1, with_events(["model.request.started"] * 2, {"prefix_sha256": "a"})),
    "minimum_compactions": (1, with_events(["context.compacted"])),
    "metrics": ({"tool_truncations_total": 1}, LABELLED),
    "absent_strings": (["sesame"], RECORD),
    "judge": (RUBRIC, RECORD),
    "verify": ("test -f a.txt", RECORD),
}


def case_with(key, value):
    """A case that expects this, with the fixtures that go with it."""
    fixtures = {"judge": "one"} if key == "judge" else {}
    return case(fixtures, **{key: value})


ALWAYS = {
    "effects",
    "effects.missing_watermark",
    "workspace",
    "implicit.errored_run",
    "implicit.malformed_arguments",
    "implicit.invented_tool",
    "fixture.unconsumed",
    "fixture.exhausted",
    "record.complete",
}


def test_every_key_of_the_schema_has_an_evaluator():
    fields = set(Expected.model_fields) - {"implicit"}
    assert fields == {*EVALUATORS, *EVIDENCE, "effects", *NOT_YET}
    assert fields == {*PASSING, *NOT_YET}


@pytest.mark.parametrize("key", PASSING)
def test_every_populated_key_gives_at_least_one_check_of_its_own(key):
    value, record = PASSING[key]
    found = checks(case_with(key, value), record, **EVIDENCE.get(key, {}))
    own = [check for check in found if check.name.partition(".")[0] == key]
    assert own
    assert [check for check in own if check.outcome != "pass" or check.message] == []
    others = ALWAYS - {"implicit.errored_run"} if record is RAN_OUT else ALWAYS
    assert {check.name for check in found} == {check.name for check in own} | others


@pytest.mark.parametrize("key", PASSING)
def test_no_expectation_passes_on_an_empty_record(key):
    value, _ = PASSING[key]
    found = checks(case_with(key, value), EMPTY, **EVIDENCE.get(key, {}))
    assert found
    assert {check.outcome for check in found} == {"fail"}
    assert all(check.message for check in found)


# An expectation and what says the opposite of it.
NEGATIONS = [
    ({"terminal_status": "completed"}, {"terminal_status": "failed"}),
    ({"terminal_status": "completed"}, {"terminal_status": "cancelled"}),
    ({"final_text_matches": "391"}, {"final_text_matches": r"\A(?![\s\S]*391)[\s\S]"}),
    ({"no_tools": True}, {"tool_calls": [{"name": "math.calculate"}]}),
    (
        {"forbidden_tool_calls": ["math.calculate"]},
        {"tool_calls": [{"name": "math.calculate"}]},
    ),
    (
        {"tool_calls": [{"name": "math.calculate", "count": 1}]},
        {"tool_calls": [{"name": "math.calculate", "count": 2}]},
    ),
    ({"effects": [WRITE]}, {"maximum_steps": 9}),
    ({"effects": [WRITE]}, {"effects": [{**WRITE, "count": 2}]}),
    ({"effects": [WRITE]}, {"no_tools": True}),
    (
        {"implicit": {"allow_invented_tool": True}, "maximum_steps": 9},
        {"maximum_steps": 9},
    ),
    (
        {"implicit": {"allow_malformed_arguments": True}, "maximum_steps": 9},
        {"maximum_steps": 9},
    ),
    ({"implicit": {"allow_errored_run": True}, "maximum_steps": 9}, {"maximum_steps": 9}),
]
RECORDS = [
    EMPTY,
    RECORD,
    NO_CALLS,
    WROTE,
    with_calls(call(), call()),
    with_calls(call("demo.write", effect_sent=True), call("demo.write", effect_sent=True)),
    with_calls(call("made.up", invented=True)),
    with_calls(call(malformed=True)),
    RECORD._replace(terminal_status="FAILED", failure_reason="internal_error"),
    RECORD._replace(terminal_status="CANCELLED", final_text=None),
    RECORD._replace(final_text="something else"),
]


@pytest.mark.parametrize(("one", "other"), NEGATIONS)
def test_an_expectation_and_its_negation_never_both_pass(one, other):
    passing = {(not failed(record, **one), not failed(record, **other)) for record in RECORDS}
    assert (True, True) not in passing
    assert any(True in pair for pair in passing), "neither ever passes: the pair shows nothing"


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("key", PASSING)
def test_a_check_has_a_message_exactly_when_it_failed(record, key):
    for check in checks(case_with(key, PASSING[key][0]), record):
        assert bool(check.message) == (check.outcome == "fail"), check


ARGUMENTS = {"name": "math.calculate", "count": 3, "arguments_subset": {"expression": "1"}}
FAILED_RUN = RECORD._replace(terminal_status="FAILED", failure_reason="internal_error")


@pytest.mark.parametrize(
    ("expected", "record", "name", "parts"),
    [
        (
            {"tool_calls": [{"name": "math.calculate", "count": 3}]},
            RECORD,
            "tool_calls.count",
            ("3 calls of math.calculate", "1 call of math.calculate", "missing: 2 calls"),
        ),
        (
            {"tool_calls": [{"name": "math.calculate", "count": 1}]},
            with_calls(call(), call(), call()),
            "tool_calls.count",
            ("1 call of math.calculate", "3 calls of math.calculate", "unexpected: 2 calls"),
        ),
        (
            {"tool_calls": [{"name": "demo.write"}]},
            RECORD,
            "tool_calls.name",
            ("at least 1 call of demo.write", "0 calls of demo.write", "missing: demo.write"),
        ),
        (
            {"tool_calls": [ARGUMENTS]},
            with_calls(call(arguments={"expression": "1"})),
            "tool_calls.arguments_subset",
            ("{'expression': '1'}", "[{'expression': '1'}]", "missing: 2 of 3 calls"),
        ),
        ({"maximum_steps": 1}, RECORD, "maximum_steps", ("at most 1", "2", "1 steps too many")),
        (
            {"maximum_steps": 9},
            FAILED_RUN,
            "implicit.errored_run",
            ("no errored_run", "['internal_error']", "internal_error; a case opts out with"),
        ),
        (
            {"maximum_steps": 9},
            RECORD._replace(terminal_status="FAILED"),
            "implicit.errored_run",
            ("no errored_run", "['FAILED']", "unexpected: FAILED"),
        ),
        (
            {"maximum_steps": 9},
            RECORD._replace(turns_total=5),
            "fixture.unconsumed",
            ("5 turns played", "2 turns played", "unexpected: left over of the script: 3 turns"),
        ),
    ],
)
def test_what_a_failed_check_says(expected, record, name, parts):
    check = next(one for one in checks(case(**expected), record) if one.name == name)
    assert check.outcome == "fail"
    assert (str(check.expected), str(check.observed)) == parts[:2]
    assert parts[2] in check.message


EVENTS = st.lists(st.sampled_from(["a.x", "b.x", "c.x"]), max_size=8)


@settings(derandomize=True, database=None, deadline=None, max_examples=200)
@given(EVENTS, EVENTS.filter(bool), st.data())
def test_an_unrelated_event_never_changes_event_order(types, order, data):
    place = data.draw(st.integers(0, len(types)))
    more = [*types[:place], "unrelated.event", *types[place:]]
    before = outcomes(with_events(types), event_order=order)["event_order"]
    after = outcomes(with_events(more), event_order=order)["event_order"]
    assert before == after


@settings(derandomize=True, database=None, deadline=None, max_examples=200)
@given(EVENTS, EVENTS.filter(bool))
def test_event_order_agrees_with_the_definition_of_a_subsequence(types, order):
    subsequences = set(itertools.combinations(types, len(order)))
    found = outcomes(with_events(types), event_order=order)["event_order"]
    assert found == [tuple(order) in subsequences]


UNORDERED = {
    "final_text_contains": ["391", "392", "17"],
    "forbidden_tool_calls": ["demo.write", "math.calculate", "demo.send"],
    "reason_codes": ["tool.succeeded", "tool.timeout", "tool.output_invalid"],
    "effects": [WRITE, {"tool": "demo.send", "watermark": "set", "count": 2}],
    "tool_calls": [
        {"name": "math.calculate", "arguments_subset": {"expression": "17 * 23"}},
        {"name": "math.calculate", "arguments_subset": {"expression": "1"}},
        {"name": "demo.write"},
    ],
}


@pytest.mark.parametrize("key", UNORDERED)
def test_permuting_an_unordered_list_changes_no_outcome(key):
    made = [call(), call("demo.write"), call("demo.send", effect_sent=True)]
    results = {
        tuple(sorted(failed(with_calls(*order), **{key: list(values)})))
        for values in itertools.permutations(UNORDERED[key])
        for order in itertools.permutations(made)
    }
    assert len(results) == 1


def test_checks_come_in_the_order_of_the_schema_and_name_their_lines():
    loaded = case(maximum_steps=2, terminal_status="completed", final_text_contains=["391", "17"])
    found = [(check.name, check.line) for check in checks(loaded)[:4]]
    assert found == [
        ("terminal_status", 7),
        ("final_text_contains", 8),
        ("final_text_contains", 8),
        ("maximum_steps", 6),
    ]


LINES = {"fixture": 4, "record": 1}


@pytest.mark.parametrize("key", PASSING)
def test_every_check_names_the_line_of_what_asks_for_it(key):
    value, record = PASSING[key]
    before = {"maximum_steps": 9} if key != "maximum_steps" else {"no_tools": True}
    loaded = case({"judge": "one"} if key == "judge" else {}, **before, **{key: value})
    for check in checks(loaded, record, **EVIDENCE.get(key, {})):
        about = check.name.partition(".")[0]
        assert check.line == (7 if about == key else LINES.get(about, 6)), check.name


def test_outcomes_of_a_whole_case_become_checks():
    outcomes = [
        Outcome("delta.outcome", ("expected", "maximum_steps"), True, "same", ["A", "A"]),
        Outcome("delta.x", ("model_fixture",), False, "same", ["A", "B"], "they differ"),
    ]
    path = "evals/cases/01_sample.yaml"
    assert as_checks(case(maximum_steps=2), outcomes) == (
        CheckResult("delta.outcome", "pass", "same", ["A", "A"], "", path, 6),
        CheckResult("delta.x", "fail", "same", ["A", "B"], "they differ", path, 4),
    )
