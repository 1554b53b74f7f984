"""From a proposed call to an outcome for the model (see docs/specs/tool_system.md).

`ToolPipeline.handle` is the only way to a tool, and its numbered lines are the fourteen steps of
that spec. Two of them do less than their names: where step 6 asks for an approval, step 7 denies,
because nobody can be asked before milestone 4; and step 12 drops what it cuts off, because there
are no artifacts before milestone 6.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from agent_core.application import invocation_rows as rows
from agent_core.application import tool_results as results
from agent_core.application.effect_watermark import EffectWatermark
from agent_core.application.journal import Journal
from agent_core.domain.canonical import canonical_json, parse_json_object
from agent_core.domain.context import ContextItem, ToolCall
from agent_core.domain.errors import AlreadyExists, ConcurrencyConflict
from agent_core.domain.events import EventType
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.json_schema import conforms
from agent_core.domain.policy import PolicyDecision, PolicyEffect, ProposedAction, missing_scope
from agent_core.domain.runs import Run
from agent_core.domain.sessions import Session
from agent_core.domain.tools import ToolFailure, ToolFailureKind, ToolResult, ToolSpec
from agent_core.domain.trust import Labels
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWorkFactory
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import RegisteredTool, ToolContext, ToolRegistry

_EVENTS = {
    InvocationStatus.PROPOSED: EventType.TOOL_CALL_PROPOSED,
    InvocationStatus.AUTHORIZED: EventType.TOOL_CALL_AUTHORIZED,
    InvocationStatus.RUNNING: EventType.TOOL_CALL_STARTED,
    InvocationStatus.SUCCEEDED: EventType.TOOL_CALL_COMPLETED,
    InvocationStatus.FAILED: EventType.TOOL_CALL_FAILED,
    InvocationStatus.DENIED: EventType.TOOL_CALL_DENIED,
    InvocationStatus.UNCERTAIN: EventType.TOOL_CALL_UNCERTAIN,
}

_WITHOUT_EFFECT = frozenset(
    {ToolFailureKind.INVALID_ARGUMENTS, ToolFailureKind.NOT_FOUND, ToolFailureKind.PERMISSION}
)
"""The failures after which even a tool that has set its watermark can be believed that it had no
effect: whatever it talked to has refused."""


class Proposal(NamedTuple):
    """A call on its way into the pipeline.

    `row` is its record so far. `conversation` joins the labels of everything said so far, the
    results of earlier calls of the batch included. `refusal`: the reason code with which the
    breaker answers the call, if it does.
    """

    session: Session
    run: Run
    call: ToolCall
    row: ToolInvocation
    conversation: Labels
    refusal: str | None = None


class HandledCall(NamedTuple):
    """What became of a call: its record, and what the model is shown of it."""

    row: ToolInvocation
    item: ContextItem


class _Refused(Exception):
    """The call ends before it runs. The status follows from the reason code."""

    def __init__(self, reason_code: str, kind: ToolFailureKind | None = None) -> None:
        super().__init__(reason_code)
        self.reason_code = reason_code
        self.kind = kind


class ToolPipeline:
    """Takes one call at a time from proposal to outcome; several may be under way at once."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        ids: IdFactory,
        journal: Journal,
        registry: ToolRegistry,
        policy: PolicyEngine,
    ) -> None:
        self._units = units
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._registry = registry
        self._policy = policy

    async def handle(self, proposal: Proposal) -> HandledCall:
        """Take a call through the pipeline; whatever becomes of it, there is an outcome.

        A call that is recorded already is not executed again; its recorded outcome is returned.
        Raises `ConcurrencyConflict` if the same call is being executed elsewhere.
        """
        run, row = proposal.run, proposal.row
        await self._record(run, row)
        try:
            _check_breaker(proposal)
            registered = self._resolve(row)  # 1
            row = rows.resolved(row, registered.spec)
            _check_enabled(row, proposal.session)  # 2
            _check_scopes(run, registered.spec)  # 3
            _check_arguments(proposal.call, row, registered.spec)  # 4
            sha256 = _normalized_hash(row)  # 5
            decision = self._decide(proposal, row, registered.spec, sha256)  # 6
            row = row._replace(policy_version=decision.policy_version)
            _check_approval(decision)  # 7
            row = _authorized(row, decision)
        except _Refused as refused:
            row = rows.ended(row, refused.reason_code, self._clock.now(), refused.kind)
        row = await self._persist_intent(run, row)  # 8
        if row.status is InvocationStatus.AUTHORIZED:
            row = await self._claim(run, row)  # 9
            ending = await self._execute(row, registered)  # 10, 11 and 12
            row = await self._persist_ending(run, row, ending)  # 13
        return HandledCall(row, rows.rendered(row, self._ids.new_id()))  # 14

    def _resolve(self, row: ToolInvocation) -> RegisteredTool:
        registered = self._registry.find(row.tool_name)
        if registered is None:
            raise _Refused("policy.matrix.unknown_tool")
        return registered

    def _decide(
        self, proposal: Proposal, row: ToolInvocation, spec: ToolSpec, sha256: str
    ) -> PolicyDecision:
        run = proposal.run
        action = ProposedAction(
            action_id=row.id,
            session_id=run.session_id,
            run_id=run.id,
            step_number=row.step_number,
            name=spec.name,
            version=spec.version,
            side_effect=spec.side_effect,
            risk=spec.risk,
            idempotency=spec.idempotency,
            required_scopes=spec.required_scopes,
            arguments=row.arguments,
            normalized_arguments_hash=sha256,
            origin_trust=row.origin.trust,
            conversation=proposal.conversation,
            evaluated_at=self._clock.now(),
        )
        principal = proposal.session.principal._replace(scopes=run.principal_scopes)
        return self._policy.evaluate(action, principal)

    async def _persist_intent(self, run: Run, row: ToolInvocation) -> ToolInvocation:
        """Write the first row of a call and its event; for a call that has one, give that row.

        The key is unique in the store, so of two submissions of one call only one gets past here.
        """
        row = rows.keyed(row)
        try:
            async with self._units() as unit:
                await unit.invocations.add(row)
                await self._journal.record(unit, run, _EVENTS[row.status], rows.payload(row))
        except AlreadyExists:
            async with self._units() as unit:
                recorded = await unit.invocations.find_by_key(row.idempotency_key)
            if recorded is None:
                raise
            if not recorded.status.is_terminal:
                raise ConcurrencyConflict(recorded.id) from None
            return recorded
        return row

    async def _claim(self, run: Run, row: ToolInvocation) -> ToolInvocation:
        row = row._replace(status=InvocationStatus.RUNNING, started_at=self._clock.now())
        async with self._units() as unit:
            row = await unit.invocations.update(row, expected=InvocationStatus.AUTHORIZED)
            await self._journal.record(unit, run, _EVENTS[row.status], rows.payload(row))
        return row

    async def _execute(self, row: ToolInvocation, registered: RegisteredTool) -> ToolInvocation:
        """Run the tool and look at its result, with no unit of work open."""
        spec = registered.spec
        arguments = parse_json_object(canonical_json(row.arguments))  # the tool's own copy
        watermark = EffectWatermark(self._units, self._clock, row.id)
        context = ToolContext(row.id, row.idempotency_key, self._clock, watermark.mark)
        try:
            async with self._clock.timeout(spec.timeout_seconds):
                result = await registered.tool.run(arguments, context)
            return self._accepted(row, result, spec)
        except TimeoutError:
            failure = ToolFailure(ToolFailureKind.TIMEOUT, "tool.timeout")
        except ToolFailure as raised:
            failure = results.accepted_failure(raised)
        except Exception:  # a defect of a tool is the outcome of its call; the run goes on
            failure = results.internal_failure()
        return rows.ended(row, failure.reason_code, self._clock.now(), failure.kind)

    def _accepted(self, row: ToolInvocation, result: ToolResult, spec: ToolSpec) -> ToolInvocation:
        """The row with a result that is as declared. Raises `ToolFailure` for one that is not."""
        size = results.checked_size(result, spec)  # 11
        labels = results.clamped_labels(result, spec)
        kept = results.shortened(result, spec)  # 12
        row = rows.succeeded(row, kept, labels, size, self._clock.now())
        return row._replace(truncated=kept.content != result.content)

    async def _persist_ending(
        self, run: Run, row: ToolInvocation, ending: ToolInvocation
    ) -> ToolInvocation:
        """Write how the call ended, in the light of its watermark."""
        async with self._units() as unit:
            sent = (await unit.invocations.get(row.id)).effect_sent_at is not None
            ending = believable(ending, sent, self._clock.now())
            row = await unit.invocations.update(ending, expected=InvocationStatus.RUNNING)
            await self._journal.record(unit, run, _EVENTS[row.status], rows.payload(row))
        return row

    async def _record(self, run: Run, row: ToolInvocation) -> None:
        async with self._units() as unit:
            await self._journal.record(unit, run, _EVENTS[row.status], rows.payload(row))


def believable(ending: ToolInvocation, effect_sent: bool, now: datetime) -> ToolInvocation:
    """The ending of a call whose tool has to set the watermark, as far as it can be believed.

    A success without the watermark breaks the tool's contract: nobody knows what it did. After the
    watermark a failure may hide an effect, unless the tool knows that there was none.
    """
    if ending.idempotency is None or not ending.idempotency.needs_watermark:
        return ending
    if ending.status is InvocationStatus.SUCCEEDED and not effect_sent:
        return _uncertain(ending, "tool.contract.no_watermark", now)
    hidden = ending.failure_kind not in _WITHOUT_EFFECT
    if ending.status is InvocationStatus.FAILED and effect_sent and hidden:
        return _uncertain(ending, "tool.outcome_unknown", now)
    return ending


def _uncertain(ending: ToolInvocation, reason_code: str, now: datetime) -> ToolInvocation:
    row = rows.ended(ending, reason_code, now, ending.failure_kind)
    return row._replace(result=None, result_labels=None, output_bytes=0, truncated=False)


def _check_breaker(proposal: Proposal) -> None:
    if proposal.refusal is not None:
        raise _Refused(proposal.refusal)


def _check_enabled(row: ToolInvocation, session: Session) -> None:
    """A tool that the session does not offer is as unknown to it as one that does not exist."""
    if row.tool_name not in session.tool_names:
        raise _Refused("policy.matrix.unknown_tool")


def _check_scopes(run: Run, spec: ToolSpec) -> None:
    if missing_scope(spec.required_scopes, run.principal_scopes) is not None:
        raise _Refused("policy.scope.missing")


def _check_arguments(call: ToolCall, row: ToolInvocation, spec: ToolSpec) -> None:
    if call.malformed:
        raise _Refused("tool.arguments_malformed", ToolFailureKind.INVALID_ARGUMENTS)
    if not conforms(row.arguments, spec.input_schema):
        raise _Refused("tool.arguments_invalid", ToolFailureKind.INVALID_ARGUMENTS)


def _normalized_hash(row: ToolInvocation) -> str:
    if row.normalized_arguments_hash is None:
        raise _Refused("tool.arguments_invalid", ToolFailureKind.INVALID_ARGUMENTS)
    return row.normalized_arguments_hash


def _check_approval(decision: PolicyDecision) -> None:
    if decision.effect is PolicyEffect.REQUIRE_APPROVAL:
        raise _Refused("policy.approval.unavailable")


def _authorized(row: ToolInvocation, decision: PolicyDecision) -> ToolInvocation:
    """The only step from PROPOSED to AUTHORIZED."""
    if decision.effect is not PolicyEffect.ALLOW:
        raise _Refused(decision.reason_code)
    return row._replace(status=InvocationStatus.AUTHORIZED)
