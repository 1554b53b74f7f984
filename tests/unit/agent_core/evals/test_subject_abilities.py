"""What a case can ask of the reference runtime beyond one message: each ability that it offers."""

import pytest

from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.bootstrap import Identity, build_pinned_runtime
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import SideEffectClass
from agent_core.evals.subject import ReferenceSubject
from hardgate.cases.loader import load_case
from hardgate.cases.model import Input
from hardgate.cases.needs import ABILITIES
from hardgate.cases.record import MissingToolResult
from hardgate.fixtures.model_script import load_script
from hardgate.fixtures.tool_results import load_tool_results
from hardgate.subjects.port import SubjectError

CASE = """\
name: sample
milestone: 1
model_fixture: sample
policy_profile: eval.permissive
expected: {final_text_contains: [Done]}
"""
TEXT = "input: {text: Hello.}\n"
FINAL = "{kind: final, text: Done.}"


RULES = dict(NO_EFFECTS.rules) | {SideEffectClass.EXTERNAL_WRITE: Rule(PolicyEffect.ALLOW)}
IDENTITY = Identity(
    {"eval.standard": Principal("eval.standard", frozenset({"demo.write"}))},
    {"eval.permissive": RuleSetPolicy(RuleSet("permissive", RULES, NO_EFFECTS.overlay))},
)


def subject(compose=build_pinned_runtime):
    return ReferenceSubject(compose, lambda: IDENTITY)


def run(more, *turns, results=None, compose=build_pinned_runtime):
    case = load_case("01_sample.yaml", (CASE + more).encode()).case
    script = load_script("models/sample.yaml", f"turns: [{', '.join(turns)}]".encode())
    recorded = results and load_tool_results("tools/sample.yaml", results.encode())
    return subject(compose).run(case, script, "/nowhere", recorded)


def call(number, name="math.calculate", arguments='{expression: "6 * 7"}'):
    calls = f"[{{call_id: c{number}, name: {name}, arguments: {arguments}}}]"
    return f"{{kind: tool_calls, calls: {calls}}}"


def test_it_offers_what_its_milestone_brings_and_the_labels():
    brought = {name for name, one in ABILITIES.items() if one.milestone <= 2} | {"private_labels"}
    durable = ReferenceSubject(build_pinned_runtime, lambda: IDENTITY, lambda: pytest.fail("used"))
    assert durable.vocabulary().abilities == brought
    assert subject().vocabulary().abilities == brought - {"workers"}


def test_names_of_further_kinds():
    known = subject().vocabulary()
    assert {"budget_exceeded", "tool_loop_detected"} <= known.failure_reasons
    assert known.agents == {"general"}
    assert {"user_message", "tool_result"} <= known.items
    assert "tool_truncations_total" in known.metrics


def test_several_messages_are_several_runs_of_one_conversation():
    record = run("input: {turns: [First., Second.]}\n", FINAL, call(1), FINAL)
    assert (record.terminal_status, record.messages_sent) == ("COMPLETED", 2)
    assert (record.step_count, record.turns_consumed) == (3, 3)
    assert [event.type for event in record.events].count("session.created") == 1
    assert [event.type for event in record.events].count("run.completed") == 2
    assert [item.kind for item in record.items] == [
        "user_message",
        "assistant_turn",
        "user_message",
        "assistant_turn",
        "tool_result",
        "assistant_turn",
    ]


def test_after_a_run_that_failed_no_message_is_sent():
    record = run(
        "input: {turns: [First., Second.]}\n", "{kind: error, error_class: permanent}", FINAL
    )
    assert (record.terminal_status, record.messages_sent) == ("FAILED", 1)
    assert (record.turns_consumed, record.turns_total) == (1, 2)


@pytest.mark.parametrize(
    ("limits", "reason", "exceeded"),
    [
        ("max_steps: 2", "max_steps_exceeded", "steps"),
        ("max_model_calls: 2", "budget_exceeded", "model_calls"),
        ("max_tool_calls: 1", "budget_exceeded", "tool_calls"),
        ("max_output_tokens: 20", "budget_exceeded", "output_tokens"),
        ("max_input_tokens: 200", "budget_exceeded", "input_tokens"),
    ],
)
def test_a_case_sets_limits(limits, reason, exceeded):
    turns = [call(1), call(2, arguments='{expression: "1"}'), FINAL]
    record = run(f"{TEXT}fixtures: {{run_limits: {{{limits}}}}}\n", *turns)
    assert (record.failure_reason, record.exceeded) == (reason, exceeded)
    assert run(TEXT, *turns).failure_reason is None


TIME = call(1, "system.current_time", "{}"), call(2, "system.current_time", "{}")


@pytest.mark.parametrize(
    ("clock", "times"),
    [
        ("", ["00:00:00", "00:00:00"]),
        ("clock: {advance_on_step: 90s}\n", ["00:00:00", "00:01:30"]),
        ("clock: {start: 2026-01-01T23:59:59Z, advance_on_step: 1h}\n", ["23:59:59", "00:59:59"]),
    ],
)
def test_the_clock_moves_with_the_steps_and_not_otherwise(clock, times):
    started = []

    def compose(**values):
        composition = build_pinned_runtime(**values)

        def listen(event):
            if event.event_type == "tool.call.started":
                started.append(f"{composition.clock.now():%H:%M:%S}")

        composition.listeners.append(listen)
        return composition

    turns = [TIME[0], "{kind: error, error_class: transient}", TIME[1], FINAL]
    record = run(TEXT + clock, *turns, compose=compose)
    assert record.terminal_status == "COMPLETED"
    assert started == times


RESULTS = """\
results:
- {tool: demo.unsafe_write, arguments: {destination: d, content: x}, content: Sent.,
   output: {recorded: true, destination: d, byte_count: 1, checksum: %s}}
- {tool: math.calculate, arguments: {expression: "6 * 7"}, content: "43",
   output: {result: "43", result_exact: true, expression: "6 * 7"}}
- {tool: math.calculate, arguments: {expression: "1"}, reason_code: tool.timeout}
- {tool: math.calculate, arguments: {expression: "2"}, content: "", output: {result: 2}}
""" % ("c" * 71)


def test_recorded_results_are_given_instead_of_running():
    turns = [
        call(1),
        call(2, arguments='{expression: "1"}'),
        call(3, arguments='{expression: "2"}'),
        call(4, "demo.unsafe_write", "{content: x, destination: d}"),
        call(5, "system.current_time", "{}"),
        FINAL,
    ]
    record = run(TEXT, *turns, results=RESULTS)
    assert [one.reason_code for one in record.tool_calls] == [
        "tool.succeeded",
        "tool.timeout",
        "tool.output_invalid",
        "tool.succeeded",
        "tool.succeeded",
    ]
    assert [one.effect_sent for one in record.tool_calls] == [False, False, False, True, False]
    assert record.missing_tool_results == ()


def test_a_call_without_a_recorded_result_is_on_record():
    record = run(TEXT, call(1), call(2, arguments='{expression: "3"}'), FINAL, results=RESULTS)
    (missing,) = record.missing_tool_results
    assert missing == MissingToolResult("math.calculate", missing.arguments_sha256, 2)
    assert len(missing.arguments_sha256) == 64
    assert [one.reason_code for one in record.tool_calls] == [
        "tool.succeeded",
        "tool.internal_error",
    ]


def test_metrics_and_waits():
    record = run(TEXT, "{kind: error, error_class: transient}", call(1), FINAL)
    assert record.metrics["model_attempts_total"] == 3
    assert record.metrics["tool_starts_total"] == 1
    assert (record.metrics["waits_total"], record.metrics["waited_milliseconds_total"]) == (1, 1000)


@pytest.mark.parametrize("given", [None, Input()])
def test_a_case_without_a_message_cannot_be_run(given):
    case = load_case("01_sample.yaml", (CASE + TEXT).encode()).case
    script = load_script("models/sample.yaml", f"turns: [{FINAL}]".encode())
    with pytest.raises(SubjectError, match="no message"):
        subject().run(case.model_copy(update={"input": given}), script, "/nowhere")
