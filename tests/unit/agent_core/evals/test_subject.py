"""The reference runtime behind Hardgate's port: what a run leaves in the record."""

from datetime import UTC, datetime
from functools import partial

import pytest

from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.bootstrap import Identity, build_pinned_runtime, builtin_tools
from agent_core.domain.deployment import ConfigurationProblem, ConfigurationRefused
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import SideEffectClass, ToolResult
from agent_core.evals.subject import ReferenceSubject
from agent_core.ports.tools import Tool
from hardgate.cases.loader import load_case
from hardgate.documents.problems import DefinitionError
from hardgate.fixtures.model_script import load_script
from hardgate.subjects.port import SubjectError

CASE = """\
name: sample
milestone: 1
input: {text: What is 6 times 7?}
model_fixture: sample
expected: {maximum_steps: 9}
"""
CALL = "{kind: tool_calls, calls: [{call_id: c1, name: %s, arguments: %s}]}"
FINAL = "{kind: final, text: It is 42.}"


def allowing(side_effect):
    rules = dict(NO_EFFECTS.rules) | {side_effect: Rule(PolicyEffect.ALLOW)}
    return RuleSetPolicy(RuleSet("allowing", rules, NO_EFFECTS.overlay))


IDENTITY = Identity(
    principals={
        "eval.standard": Principal("eval.standard", frozenset({"demo.write"})),
        "eval.restricted": Principal("eval.restricted"),
    },
    policies={
        "eval.default": RuleSetPolicy(NO_EFFECTS),
        "eval.permissive": allowing(SideEffectClass.EXTERNAL_WRITE),
    },
)


def subject_of(compose, identity=IDENTITY):
    return ReferenceSubject(compose, lambda: identity)


@pytest.fixture
def subject():
    return subject_of(build_pinned_runtime)


def run(subject, *turns, case=CASE):
    script = load_script("models/sample.yaml", f"turns: [{', '.join(turns)}]".encode())
    return subject.run(load_case("01_sample.yaml", case.encode()).case, script, "/nowhere")


def call(name="math.calculate", arguments='{expression: "6 * 7"}'):
    return CALL % (name, arguments)


def test_a_run_with_one_call(subject):
    record = run(subject, call(), FINAL)
    assert (record.terminal_status, record.failure_reason) == ("COMPLETED", None)
    assert record.final_text == "It is 42."
    assert (record.step_count, record.model_call_count, record.tool_call_count) == (2, 2, 1)
    assert (record.turns_consumed, record.turns_total, record.exhausted_at_step) == (2, 2, None)
    (made,) = record.tool_calls
    assert (made.name, made.arguments) == ("math.calculate", {"expression": "6 * 7"})
    assert (made.call_id, made.step, made.status) == ("c1", 1, "SUCCEEDED")
    assert made.reason_code == "tool.succeeded"
    assert (made.malformed, made.invented, made.started, made.effect_sent) == (
        False,
        False,
        True,
        False,
    )
    sequences = [event.sequence for event in record.events]
    assert sequences == sorted(set(sequences))
    assert record.events[0].type == "session.created"
    assert record.events[-1].type == "run.completed"
    assert record.limits_hit == ()


@pytest.mark.parametrize(
    ("turn", "arguments", "malformed", "invented", "started", "reason"),
    [
        (call(arguments='"{not json"'), None, True, False, False, "tool.arguments_malformed"),
        (call(arguments='"[1]"'), None, True, False, False, "tool.arguments_malformed"),
        (call(arguments="{expr: 1}"), {"expr": 1}, True, False, False, "tool.arguments_invalid"),
        (call(name="made.up"), {"expression": "6 * 7"}, False, True, False, None),
        (
            call(arguments='{expression: "1 / 0"}'),
            {"expression": "1 / 0"},
            False,
            False,
            True,
            "tool.invalid_arguments.division_by_zero",
        ),
    ],
)
def test_what_became_of_a_bad_call(subject, turn, arguments, malformed, invented, started, reason):
    (made,) = run(subject, turn, FINAL).tool_calls
    assert made.arguments == arguments
    assert (made.malformed, made.invented, made.started) == (malformed, invented, started)
    assert made.reason_code == (reason or "policy.matrix.unknown_tool")


class Echo(Tool):
    """A second tool, so that a session can be opened without it."""

    spec = MathCalculate().spec._replace(name="demo.echo", output_schema={"type": "object"})

    async def run(self, arguments, context):
        return ToolResult({}, "echo")


@pytest.mark.parametrize(
    ("fixtures", "invented"),
    [("", False), ("fixtures: {tools: [math.calculate]}\n", True)],
)
def test_a_tool_that_the_session_does_not_offer_counts_as_invented(fixtures, invented):
    compose = partial(build_pinned_runtime, tools=(MathCalculate(), Echo()))
    case = CASE.replace("expected", f"{fixtures}expected")
    record = run(subject_of(compose), call("demo.echo"), FINAL, case=case)
    assert record.tool_calls[0].invented is invented
    assert record.tool_calls[0].started is not invented
    assert subject_of(compose).vocabulary().tools == {"demo.echo", "math.calculate"}


def test_a_script_that_runs_out_names_the_step(subject):
    record = run(subject, call())
    assert (record.terminal_status, record.exhausted_at_step) == ("FAILED", 2)
    assert record.failure_reason == "model_permanent_error"


def test_turns_that_are_left_over_are_counted(subject):
    record = run(subject, FINAL, FINAL)
    assert (record.turns_consumed, record.turns_total) == (1, 2)


def test_the_same_case_gives_an_equal_record_and_another_name_other_ids(subject):
    def ids(record):
        return {event.payload.get("invocation_id") for event in record.events} - {None}

    first, again = run(subject, call(), FINAL), run(subject, call(), FINAL)
    assert first == again
    assert len(ids(first)) == 1
    script = load_script("models/sample.yaml", f"turns: [{call()}, {FINAL}]".encode())
    renamed = load_case("01_other.yaml", CASE.replace("name: sample", "name: other").encode())
    assert not ids(first) & ids(subject.run(renamed.case, script, "/nowhere"))


def test_the_clock_starts_where_the_case_says(subject):
    """The pinned clock stands still, so every event carries the instant of the case."""
    seen = []

    def compose(**values):
        seen.append(values["start"])
        return build_pinned_runtime(**values)

    case = CASE.replace("expected", "clock: {start: 2031-05-06T07:08:09+02:00}\nexpected")
    run(subject_of(compose), FINAL, case=case)
    assert seen == [datetime(2031, 5, 6, 5, 8, 9, tzinfo=UTC)]


def test_the_vocabulary_holds_what_the_runtime_knows(subject):
    known = subject.vocabulary()
    assert known.terminal_statuses == {"COMPLETED", "FAILED", "CANCELLED"}
    assert known.tools == {tool.spec.name for tool in builtin_tools()}
    assert {"run.queued", "tool.call.proposed"} <= known.event_types
    assert {"tool.succeeded", "policy.matrix.unknown_tool"} <= known.reason_codes
    assert known.principals == {"eval.standard", "eval.restricted"}
    assert known.policy_profiles == {"eval.default", "eval.permissive"}


@pytest.mark.parametrize(
    ("principal", "profile", "reason"),
    [
        ("eval.standard", "eval.permissive", "tool.succeeded"),
        ("eval.standard", "eval.default", "policy.matrix.external_write"),
        ("eval.restricted", "eval.permissive", "policy.scope.missing"),
    ],
)
def test_the_case_says_who_acts_and_which_profile_decides(subject, principal, profile, reason):
    case = CASE.replace("expected", f"principal: {principal}\npolicy_profile: {profile}\nexpected")
    write = call("demo.external_write", "{destination: somewhere, content: text}")
    (made,) = run(subject, write, FINAL, case=case).tool_calls
    assert made.reason_code == reason
    assert made.started is (reason == "tool.succeeded")


def test_an_identity_that_is_refused_is_a_definition_error():
    def load():
        raise ConfigurationRefused([ConfigurationProblem("p.yaml", 3, 7, "some.rule", "found x")])

    with pytest.raises(DefinitionError) as caught:
        ReferenceSubject(build_pinned_runtime, load).vocabulary()
    assert str(caught.value) == "p.yaml:3:7: some.rule: found x"


def test_turns_that_cannot_be_played_are_the_subjects_own_error():
    def refuse(**values):
        raise ValueError("turn 1: too long")

    with pytest.raises(SubjectError, match="cannot be played: turn 1: too long"):
        run(subject_of(refuse), FINAL)
