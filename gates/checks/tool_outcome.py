"""What the model is told about a call: six fields, and the text that the table has for the code.

A trial brings one call to a generated ending by way of the whole runtime, and looks at the outcome
where it is on record and where the model is shown it. Each ending says which status it has to have,
and every one of the five statuses is a property of its own, so that none can be left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ItemKind
from agent_core.domain.model_script import ScriptedToolCall
from agent_core.domain.outcomes import REASONS, OutcomeStatus, Remediation, ToolOutcome
from agent_core.domain.policy import PolicyEffect
from agent_core.domain.tools import (
    IdempotencyClass,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
    ToolSpec,
)
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import ToolContext
from gates.checks.driving import (
    ANYTHING,
    Played,
    Probe,
    Stage,
    Work,
    call_of,
    one_call,
    probe_spec,
    uniform_policy,
)
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

FIELDS = {
    "status": OutcomeStatus,
    "action": str,
    "reason_code": str,
    "message": str,
    "retryable": bool,
    "remediation": Remediation,
}
_SPEC = probe_spec(idempotency=IdempotencyClass.NON_IDEMPOTENT, timeout_seconds=2)


class Ending(NamedTuple):
    """How a call ends: the code it has to end with, the tool's work, and the call."""

    reason_code: str
    work: Work
    call: ScriptedToolCall = call_of(_SPEC.name)
    spec: ToolSpec = _SPEC
    policy: PolicyEngine = ANYTHING


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
    for status in OutcomeStatus:

        def shaped(ending: str, text: str, status: OutcomeStatus = status) -> None:
            outcome_has_its_shape(status, ENDINGS[status][ending](text))

        shaped.__name__ = f"outcome_has_its_shape_when_{status}"
        endings = st.sampled_from(sorted(ENDINGS[status]))
        context.for_all(shaped, ending=endings, text=texts)


def outcome_has_its_shape(status: OutcomeStatus, ending: Ending) -> None:
    """Six fields of their types, the status of the ending, and the message of the table."""
    tools = [Probe(ending.spec, ending.work)]
    played = Stage(one_call(ending.call), tools=tools, policy=ending.policy).play()
    recorded = [row.outcome for row in played.invocations]
    require(
        len(recorded) == 1 and recorded[0] is not None,
        "outcome_missing",
        f"the call ended with the outcomes {recorded}",
    )
    outcome = recorded[0]
    assert outcome is not None
    _require_shape(outcome, ending)
    require(outcome.status is status, "wrong_status", f"{ending.reason_code} as {outcome.status}")
    require(_shown(played) == _plain(outcome), "shown_differently", f"shown {_shown(played)}")


def _require_shape(outcome: ToolOutcome, ending: Ending) -> None:
    found = _plain(outcome)
    require(found.keys() == FIELDS.keys(), "outcome_fields", f"the fields are {sorted(found)}")
    wrong = [name for name, type_ in FIELDS.items() if not isinstance(found[name], type_)]
    require(not wrong, "outcome_fields", f"of another type: {wrong} in {outcome}")
    require(
        outcome.reason_code == ending.reason_code and outcome.reason_code in REASONS,
        "wrong_reason_code",
        f"expected {ending.reason_code}, found {outcome.reason_code}",
    )
    entry = REASONS[ending.reason_code]
    require(
        outcome.message == entry.message,
        "message_not_of_table",
        f"expected {entry.message!r}, found {outcome.message!r}",
    )
    require(outcome.action == ending.call.name, "wrong_action", f"the action is {outcome.action}")


def _plain(outcome: Any) -> dict[str, Any]:
    return dict(outcome._asdict())


def _shown(played: Played) -> Any:
    """The outcome in the text that the model is sent for the call's result."""
    results = [
        one.text for one in played.requests[-1].body if one.item.kind is ItemKind.TOOL_RESULT
    ]
    require(len(results) == 1, "outcome_missing", f"the model was shown {len(results)} results")
    try:
        return json.loads(results[0].partition("\n")[0])
    except ValueError:
        return None


# The endings, by the status that each has to have. `text` is from outside, wherever one is.


async def _done(arguments: JsonObject, context: ToolContext) -> ToolResult:
    await context.mark_effect_sent()
    return ToolResult({"text": "done"}, "done")


def _succeeds(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        await context.mark_effect_sent()
        return ToolResult({"text": text}, text)

    return Ending("tool.succeeded", work)


def _fails(code: str, text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        raise ToolFailure(ToolFailureKind.UPSTREAM_ERROR, code) from OSError(text)

    return Ending(code, work)


def _invents_code(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        raise ToolFailure(ToolFailureKind.UPSTREAM_ERROR, text)

    return Ending("tool.internal_error", work)


def _claims_success_as_failure(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        raise ToolFailure(ToolFailureKind.INTERNAL, "tool.succeeded")

    return Ending("tool.internal_error", work)


def _crashes(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        raise RuntimeError(text)

    return Ending("tool.internal_error", work)


def _takes_too_long(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        assert isinstance(context.clock, PinnedClock)
        context.clock.advance(_SPEC.timeout_seconds + 1)
        return ToolResult({"text": text}, text)

    return Ending("tool.timeout", work)


def _returns_something_else(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return ToolResult({"other": text}, text)

    return Ending("tool.output_invalid", work)


def _returns_too_much(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return ToolResult({"text": text}, text * 20_000)

    return Ending("tool.output_too_large", work)


def _wrong_arguments(text: str) -> Ending:
    call = ScriptedToolCall("call_1", _SPEC.name, json.dumps({"texts": text}))
    return Ending("tool.arguments_invalid", _done, call)


def _no_json(text: str) -> Ending:
    return Ending(
        "tool.arguments_malformed", _done, ScriptedToolCall("call_1", _SPEC.name, text + "{")
    )


def _unknown_tool(text: str) -> Ending:
    return Ending("policy.matrix.unknown_tool", _done, call_of("demo.absent", text))


def _missing_scope(text: str) -> Ending:
    spec = _SPEC._replace(required_scopes=frozenset({"demo.forbid"}))
    return Ending("policy.scope.missing", _done, call_of(spec.name, text), spec)


def _decided(effect: PolicyEffect, side_effect: SideEffectClass, text: str) -> Ending:
    denied = effect is PolicyEffect.DENY
    code = f"policy.matrix.{side_effect}" if denied else "policy.approval.unavailable"
    spec = _SPEC._replace(side_effect=side_effect)
    return Ending(code, _done, call_of(spec.name, text), spec, uniform_policy(effect))


def _acts_unmarked(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return ToolResult({"text": text}, text)

    return Ending("tool.contract.no_watermark", work)


def _stops_after_mark(text: str) -> Ending:
    async def work(arguments: JsonObject, context: ToolContext) -> ToolResult:
        await context.mark_effect_sent()
        raise ConnectionError(text)

    return Ending("tool.outcome_unknown", work)


Maker = Callable[[str], Ending]


def _raisable(status: OutcomeStatus) -> dict[str, Maker]:
    """An ending for each code of a status that a tool may raise."""
    codes = sorted(code for code, entry in REASONS.items() if entry.status is status)
    return {f"raises {code}": partial(_fails, code) for code in codes}


def _decisions(effect: PolicyEffect) -> dict[str, Maker]:
    """An ending for each class of side effects about which a policy decides."""
    return {f"{effect} {one}": partial(_decided, effect, one) for one in SideEffectClass}


def _named(*makers: Maker) -> dict[str, Maker]:
    return {maker.__name__.strip("_"): maker for maker in makers}


ENDINGS: dict[OutcomeStatus, dict[str, Maker]] = {
    OutcomeStatus.SUCCEEDED: _named(_succeeds),
    OutcomeStatus.FAILED: _raisable(OutcomeStatus.FAILED)
    | _named(_invents_code, _claims_success_as_failure, _crashes, _takes_too_long)
    | _named(_returns_something_else, _returns_too_much, _wrong_arguments, _no_json),
    OutcomeStatus.DENIED: _decisions(PolicyEffect.DENY)
    | _decisions(PolicyEffect.REQUIRE_APPROVAL)
    | _named(_unknown_tool, _missing_scope),
    OutcomeStatus.UNAVAILABLE: _raisable(OutcomeStatus.UNAVAILABLE),
    OutcomeStatus.UNCERTAIN: _named(_acts_unmarked, _stops_after_mark),
}
"""How a call can come to each status, by name."""
