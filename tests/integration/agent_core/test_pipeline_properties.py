"""What holds of every call, whatever the model proposes and whatever the tool does."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.adapters.policy.rule_set_policy import RuleSetPolicy
from agent_core.domain.canonical import canonicalize
from agent_core.domain.outcomes import REASONS
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet, TrustOverlay
from agent_core.domain.runs import FailureReason, RunLimits, RunStatus
from agent_core.domain.tools import (
    READS_ONLY,
    IdempotencyClass,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
)
from agent_core.domain.trust import TrustLevel, least_trusted
from tests.integration.agent_core.scripted_runs import DONE, Listened, Probe, proposes

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

ALLOWED = RuleSetPolicy(
    RuleSet(
        "allowed",
        dict.fromkeys(SideEffectClass, Rule(PolicyEffect.ALLOW)),
        TrustOverlay(TrustLevel.EXTERNAL_UNTRUSTED, frozenset(SideEffectClass)),
    )
)
CANARY = "canary-7f3a"
ENDED = {
    "SUCCEEDED": "tool.call.completed",
    "FAILED": "tool.call.failed",
    "DENIED": "tool.call.denied",
    "UNCERTAIN": "tool.call.uncertain",
}
CODES = [code for code in REASONS if code.startswith("tool.")]


def behaviour(marks, ending):
    """A tool's body: whether it sets the watermark, and what comes of it."""

    async def work(arguments, context):
        if marks:
            await context.mark_effect_sent()
        if isinstance(ending, Exception):
            raise ending
        return ending

    return work


ENDINGS = st.one_of(
    st.builds(
        ToolResult,
        output=st.just({}) | st.just({"extra": CANARY}),
        content=st.sampled_from(["ok", CANARY, "x" * 300, "\ud800"]),
        trust=st.none() | st.sampled_from(TrustLevel),
        is_private=st.booleans(),
    ),
    st.builds(
        ToolFailure,
        kind=st.sampled_from(ToolFailureKind),
        reason_code=st.sampled_from([*CODES, "policy.scope.missing", CANARY, ""]),
    ),
    st.sampled_from([TimeoutError(CANARY), KeyError(CANARY), None, CANARY, {}]),
)
ARGUMENTS = st.one_of(
    st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=3).map(
        json.dumps
    ),
    st.sampled_from(["", "{", "[]", "null", '{"a": NaN}', '{"a": -0.0}', '{"a": 1, "a": 2}']),
    st.text(max_size=10),
)
SPECS = st.fixed_dictionaries(
    {
        "side_effect": st.sampled_from(SideEffectClass),
        "idempotency": st.sampled_from(IdempotencyClass),
        "output_trust": st.sampled_from(TrustLevel),
        "output_private": st.booleans(),
        "maximum_output_bytes": st.sampled_from([1, 50, 4096]),
        "output_schema": st.sampled_from(
            [{"type": "object"}, {"type": "object", "additionalProperties": True}]
        ),
    }
).filter(lambda spec: spec["idempotency"] != "read_only" or spec["side_effect"] in READS_ONLY)


@given(SPECS, st.booleans(), ENDINGS, ARGUMENTS, st.sampled_from(["demo.probe", "demo.x", CANARY]))
def test_every_call_ends_in_one_outcome_of_the_table(spec, marks, ending, arguments, name):
    tool = Probe(behaviour(marks, ending), takes_context=True, **spec)
    seen = Listened([proposes((name, arguments)), DONE], [tool], policy=ALLOWED)
    (row,) = seen.rows
    entry = REASONS[row.outcome.reason_code]

    # The outcome is the table's, the row is in the status that goes with it, the log agrees.
    assert row.outcome.message == entry.message
    assert row.outcome.status == entry.status
    assert row.status.is_terminal
    types = [one.event_type.value for one in seen.events if one.event_type.startswith("tool.call")]
    assert types[0] == "tool.call.proposed"
    assert types[-1] == ENDED[row.status]
    assert seen.events[-1].event_type == "run.completed"

    # The tool worked exactly if the call was started, on arguments in normal form.
    assert len(tool.given) == types.count("tool.call.started") == (row.started_at is not None)
    if tool.given:
        assert canonicalize(tool.given[0][0]).sha256 == row.normalized_arguments_hash
        assert (row.effect_sent_at is not None) is marks
    else:
        assert row.effect_sent_at is None

    # A success is as declared, and never labelled better.
    if row.status == "SUCCEEDED":
        declared = spec["output_trust"]
        assert row.result_labels.trust == least_trusted((declared, ending.trust or declared))
        assert row.result_labels.is_private == (spec["output_private"] or ending.is_private)
        assert marks or not spec["idempotency"].needs_watermark
    else:
        assert (row.result, row.result_labels) == (None, None)
    if row.status == "UNCERTAIN":
        assert spec["idempotency"].needs_watermark

    # No text of the tool or of the model is in what the platform says.
    assert CANARY not in repr((row.outcome, seen.events))
    assert seen.run.status is RunStatus.COMPLETED


CALLS = st.tuples(
    st.sampled_from(["demo.probe", "demo.x"]), st.sampled_from(["{}", '{"n": 1}', "{"])
)


@given(st.lists(st.lists(CALLS, min_size=1, max_size=5), max_size=6), st.data())
@settings(max_examples=60)
def test_however_a_run_goes_it_ends_once_and_within_its_limits(batches, data):
    limits = RunLimits(
        max_steps=data.draw(st.integers(0, 5)),
        max_model_calls=data.draw(st.integers(0, 5)),
        max_tool_calls=data.draw(st.integers(0, 8)),
    )
    flaky = data.draw(st.lists(st.sampled_from(["ok", "fails"]), min_size=1))
    endings = iter(flaky * 100)

    def work(arguments):
        if next(endings) == "fails":
            raise ToolFailure(ToolFailureKind.UPSTREAM_ERROR, "tool.upstream_error")
        return ToolResult({}, "ok")

    class Limited(Listened):
        async def _execute(self, principal, tool_names):
            session = await self.runtime.open_session(principal)
            run_id = await self.runtime.submit(session.id, "Go.", limits)
            self.run = await self.runtime.run_until_terminal(run_id)
            self.rows = await self.runtime.invocations(run_id)
            self.events = await self.runtime.events(session.id)

    tool = Probe(work)
    seen = Limited([*(proposes(*batch) for batch in batches), DONE], [tool], policy=ALLOWED)
    types = [event.event_type.value for event in seen.events]
    ends = [one for one in types if one in ("run.completed", "run.failed")]
    assert (len(ends), types[-1]) == (1, ends[0])
    usage = seen.run.usage
    assert seen.run.step_count <= limits.max_steps
    assert usage.model_calls <= limits.max_model_calls
    assert usage.tool_calls <= limits.max_tool_calls
    assert usage.tool_calls == len(seen.rows) == types.count("tool.call.proposed")
    assert usage.model_calls == types.count("model.request.started")
    assert len(tool.given) == types.count("tool.call.started")
    if seen.run.failure is None:
        assert usage.model_calls == len(batches) + 1
    else:
        assert seen.run.failure.reason in {
            FailureReason.BUDGET_EXCEEDED,
            FailureReason.MAX_STEPS_EXCEEDED,
            FailureReason.TOOL_LOOP_DETECTED,
            FailureReason.REPEATED_DENIAL,
        }
