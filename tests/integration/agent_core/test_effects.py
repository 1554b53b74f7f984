"""The effect watermark: on record before the effect, and what an ending is worth without it."""

from datetime import timedelta

import pytest

from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.application.inline import run_inline
from agent_core.application.tool_pipeline import believable
from agent_core.bootstrap import PINNED_START
from agent_core.domain.errors import Fenced
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.outcomes import make_outcome
from agent_core.domain.policy import PolicyEffect, Rule, RuleSet
from agent_core.domain.runs import RunStatus
from agent_core.domain.tools import (
    IdempotencyClass,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
)
from agent_core.domain.trust import Labels, TrustLevel
from tests.integration.agent_core.scripted_runs import DONE, Listened, Probe, Result, proposes

PERMISSIVE = RuleSetPolicy(
    RuleSet(
        "permissive",
        dict(NO_EFFECTS.rules) | {SideEffectClass.EXTERNAL_WRITE: Rule(PolicyEffect.ALLOW)},
        NO_EFFECTS.overlay,
    )
)
WRITE = ("demo.unsafe_write", '{"destination": "notes", "content": "Hällo"}')
CALL = ("demo.probe", "{}")


def writer(work, idempotency="non_idempotent", **spec):
    return Probe(
        work,
        takes_context=True,
        side_effect=SideEffectClass.EXTERNAL_WRITE,
        idempotency=IdempotencyClass(idempotency),
        **spec,
    )


class Effect(Listened):
    """What became of one call of a tool with an effect."""

    def __init__(self, tool, *calls):
        super().__init__([proposes(*calls or (CALL,)), DONE], [tool], policy=PERMISSIVE)
        self.row = self.rows[0]
        self.ending = [one for one in self.events if one.event_type.startswith("tool.call")][-1]


def sends_and(work):
    async def run(arguments, context):
        await context.mark_effect_sent()
        return work(arguments)

    return run


def fails(kind, code):
    def work(arguments):
        raise ToolFailure(ToolFailureKind(kind), code)

    return work


def succeeds(arguments):
    return ToolResult({}, "sent")


async def stays_silent(arguments, context):
    return ToolResult({}, "sent")


def test_the_demonstration():
    result = Result([proposes(WRITE), DONE], policy=PERMISSIVE)
    (row,) = result.invocations
    assert row.status is InvocationStatus.SUCCEEDED
    assert row.effect_sent_at == PINNED_START
    assert row.result.output == {
        "recorded": True,
        "destination": "notes",
        "byte_count": 6,
        "checksum": "sha256:f0f764de96163d606e44872147dec4e3604de1502270598fcc2c335fdd55ac0a",
    }
    (payload,) = result.payloads("tool.call.completed")
    assert payload["effect_sent"] is True


@pytest.mark.parametrize("name", ["demo.unsafe_write", "demo.external_write"])
def test_the_demonstrations_do_nothing_where_the_policy_does_not_allow_it(name):
    (row,) = Result([proposes((name, WRITE[1])), DONE]).invocations
    assert (row.status, row.effect_sent_at) == ("DENIED", None)


@pytest.mark.parametrize("idempotency", ["non_idempotent", "conditionally_idempotent"])
def test_the_watermark_is_on_record_before_the_effect(idempotency):
    seen = []

    async def looks(arguments, context):
        seen.append(await stored(context))
        await context.mark_effect_sent()
        seen.append(await stored(context))
        return ToolResult({}, "sent")

    async def stored(context):
        """What somebody else who asks the runtime is told at this moment."""
        (row,) = await effect_of["runtime"].invocations(effect_of["run_id"])
        assert row.id == context.invocation_id
        return row.status.value, row.effect_sent_at

    effect_of = {}

    class Seen(Effect):
        async def _execute(self, principal, tool_names):
            session = await self.runtime.open_session(principal)
            run_id = await self.runtime.submit(session.id, "Please.")
            effect_of.update(runtime=self.runtime, run_id=run_id)
            self.run = await self.runtime.run_until_terminal(run_id)
            self.rows = await self.runtime.invocations(run_id)
            self.events = await self.runtime.events(session.id)

    effect = Seen(writer(looks, idempotency))
    assert seen == [("RUNNING", None), ("RUNNING", effect.clock.now())]
    assert effect.row.effect_sent_at == effect.clock.now()
    assert effect.row.outcome.reason_code == "tool.succeeded"


def test_the_first_mark_is_kept():
    async def marks_twice(arguments, context):
        await context.mark_effect_sent()
        context.clock.advance(1)
        await context.mark_effect_sent()
        return ToolResult({}, "sent")

    effect = Effect(writer(marks_twice))
    assert effect.row.effect_sent_at == PINNED_START
    assert effect.row.completed_at > PINNED_START


def test_what_a_tool_marks_stays_when_it_fails_afterwards():
    effect = Effect(writer(sends_and(fails("permission", "tool.permission_denied"))))
    assert effect.row.effect_sent_at is not None
    assert effect.ending.payload["effect_sent"] is True


def test_a_call_that_has_ended_has_no_effect_any_more():
    kept = []

    async def keeps(arguments, context):
        kept.append(context.mark_effect_sent)
        raise ToolFailure(ToolFailureKind.UPSTREAM_ERROR, "tool.upstream_error")

    effect = Effect(writer(keeps))
    with pytest.raises(Fenced):
        run_inline(kept[0]())
    (row,) = run_inline(effect.runtime.invocations(effect.run.id))
    assert row.effect_sent_at is None


@pytest.mark.parametrize("idempotency", ["non_idempotent", "conditionally_idempotent"])
def test_a_success_without_a_watermark_breaks_the_contract(idempotency):
    effect = Effect(writer(stays_silent, idempotency))
    assert (effect.row.status, effect.row.outcome.status) == ("UNCERTAIN", "uncertain")
    assert effect.row.outcome.reason_code == "tool.contract.no_watermark"
    assert effect.ending.event_type == "tool.call.uncertain"
    assert effect.ending.payload["effect_sent"] is False
    assert effect.row.completed_at == effect.clock.now()
    assert (effect.row.result, effect.row.result_labels, effect.row.output_bytes) == (None, None, 0)
    assert effect.model.requests[1].body[-1].item.text == ""
    assert effect.run.status is RunStatus.COMPLETED


@pytest.mark.parametrize("idempotency", ["read_only", "idempotent"])
def test_other_tools_need_no_watermark(idempotency):
    side_effect = "none" if idempotency == "read_only" else "external_write"
    tool = writer(stays_silent, idempotency)
    tool._spec = tool._spec._replace(side_effect=SideEffectClass(side_effect))
    effect = Effect(tool)
    assert effect.row.outcome.reason_code == "tool.succeeded"
    assert effect.row.effect_sent_at is None


def raises(error):
    def work(arguments):
        raise error

    return work


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (raises(TimeoutError), "timeout"),
        (raises(KeyError), "internal"),
        (fails("transport", "tool.unreachable"), "transport"),
        (fails("upstream_error", "tool.upstream_error"), "upstream_error"),
        (lambda arguments: None, "output_invalid"),
        (lambda arguments: ToolResult({}, "x" * 20_000), "output_too_large"),
    ],
)
@pytest.mark.parametrize("idempotency", ["non_idempotent", "conditionally_idempotent"])
def test_after_the_watermark_a_failure_may_hide_an_effect(work, kind, idempotency):
    effect = Effect(writer(sends_and(work), idempotency))
    assert (effect.row.status, effect.row.outcome.reason_code) == (
        "UNCERTAIN",
        "tool.outcome_unknown",
    )
    assert effect.row.failure_kind == kind
    assert effect.ending.event_type == "tool.call.uncertain"
    assert effect.ending.payload["effect_sent"] is True


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("invalid_arguments", "tool.arguments_invalid"),
        ("not_found", "tool.not_found"),
        ("permission", "tool.permission_denied"),
    ],
)
def test_a_refusal_is_believed_even_after_the_watermark(kind, code):
    effect = Effect(writer(sends_and(fails(kind, code))))
    assert (effect.row.status, effect.row.outcome.reason_code) == ("FAILED", code)


ENDING = ToolInvocation(
    id="row",
    run_id="run",
    step_number=1,
    call_id="call",
    tool_name="demo.probe",
    arguments={},
    origin=Labels(TrustLevel.USER),
    status=InvocationStatus.FAILED,
    created_at=PINNED_START,
    idempotency=IdempotencyClass.NON_IDEMPOTENT,
    outcome=make_outcome("demo.probe", "tool.timeout"),
    failure_kind=ToolFailureKind.TIMEOUT,
    completed_at=PINNED_START,
)
SUCCESS = ENDING._replace(
    status=InvocationStatus.SUCCEEDED,
    outcome=make_outcome("demo.probe", "tool.succeeded"),
    failure_kind=None,
    result=ToolResult({}, "sent"),
    output_bytes=6,
    truncated=True,
)


@pytest.mark.parametrize("idempotency", IdempotencyClass)
@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("ending", [ENDING, SUCCESS])
def test_what_an_ending_is_worth(idempotency, sent, ending):
    ending = ending._replace(idempotency=idempotency)
    later = PINNED_START + timedelta(seconds=1)
    believed = believable(ending, sent, later)
    in_doubt = sent if ending.status == "FAILED" else not sent
    if idempotency.needs_watermark and in_doubt:
        assert believed.status is InvocationStatus.UNCERTAIN
        assert believed.completed_at == later
        assert (believed.result, believed.output_bytes, believed.truncated) == (None, 0, False)
    else:
        assert believed == ending


def test_a_call_whose_outcome_is_unknown_is_not_made_again():
    tool = writer(sends_and(raises(TimeoutError)))
    effect = Effect(tool, CALL, CALL, ("demo.probe", '{"other": 1}'))
    assert [row.outcome.reason_code for row in effect.rows] == [
        "tool.outcome_unknown",
        "tool.breaker.uncertain_call",
        "tool.outcome_unknown",
    ]
    assert effect.rows[1].status is InvocationStatus.DENIED
    assert [arguments for arguments, _ in tool.given] == [{}, {"other": 1}]
    assert effect.run.status is RunStatus.COMPLETED


def test_the_watermark_is_in_no_event_of_its_own():
    result = Result([proposes(WRITE), DONE], policy=PERMISSIVE)
    assert [one for one, _ in result.tool_events] == [
        "proposed",
        "authorized",
        "started",
        "completed",
    ]
