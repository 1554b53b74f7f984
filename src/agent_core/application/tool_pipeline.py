"""From a proposed call to an outcome for the model (see docs/specs/tool_system.md).

`ToolPipeline.handle` is the only way to a tool, and the numbered methods are the fourteen steps of
that spec. Two of them do less than their names: where step 6 asks for an approval, step 7 denies,
because nobody can be asked before milestone 4; and step 12 drops what it cuts off, because there
are no artifacts before milestone 6.

A call that is on record already, from an execution that was lost or submitted twice, enters where
the record says: see `agent_core.domain.recovery`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import NamedTuple

from agent_core.application import invocation_rows as rows
from agent_core.application import tool_results as results
from agent_core.application.call_journal import CallJournal
from agent_core.application.cancellation import CancellationToken
from agent_core.application.effect_watermark import EffectWatermark
from agent_core.application.open_units import assert_none_open
from agent_core.domain.canonical import canonical_json, parse_json_object
from agent_core.domain.context import ContextItem, ToolCall
from agent_core.domain.errors import AlreadyExists, ConcurrencyConflict, NotFound
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.json_schema import conforms
from agent_core.domain.policy import PolicyDecision, PolicyEffect, ProposedAction, missing_scope
from agent_core.domain.recovery import Recovery, recovery
from agent_core.domain.registration import suspension_of
from agent_core.domain.runs import Run, Suspension
from agent_core.domain.sessions import Session
from agent_core.domain.tools import (
    CallSuspended,
    ToolFailure,
    ToolFailureKind,
    ToolSpec,
)
from agent_core.domain.trust import Labels
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.observation import AFTER_EFFECT, BEFORE_EFFECT, PipelineObserver
from agent_core.ports.persistence import UnitOfWorkFactory
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import RegisteredTool, ToolContext, ToolRegistry

POLL_SECONDS = 0.05
"""Between two looks at a call that is executed elsewhere."""

_WITHOUT_EFFECT = frozenset(
    {ToolFailureKind.INVALID_ARGUMENTS, ToolFailureKind.NOT_FOUND, ToolFailureKind.PERMISSION}
)
"""The failures after which even a tool that has set its watermark can be believed that it had no
effect: whatever it talked to has refused."""


class Proposal(NamedTuple):
    """A call on its way into the pipeline.

    `row` is its record so far. `conversation` joins the labels of everything said so far, the
    results of earlier calls of the batch included. `refusal`: the reason code with which the
    breaker answers the call, if it does. `is_logged`: an earlier execution has logged the proposal,
    under the id of `row`.
    """

    session: Session
    run: Run
    call: ToolCall
    row: ToolInvocation
    conversation: Labels
    refusal: str | None = None
    is_logged: bool = False


class HandledCall(NamedTuple):
    """What became of a call: its record, and what the model is shown of it."""

    row: ToolInvocation
    item: ContextItem


class RunSuspended(Exception):
    """A call waits for somebody outside, and the run with it."""

    def __init__(self, suspension: Suspension) -> None:
        super().__init__(suspension.invocation_id)
        self.suspension = suspension


class _Refused(Exception):
    """The call ends before it runs. The status follows from the reason code."""

    def __init__(self, reason_code: str, kind: ToolFailureKind | None = None) -> None:
        super().__init__(reason_code)
        self.reason_code = reason_code
        self.kind = kind


class _Passage:
    """A call between its proposal and its authorization, and what the steps have found out."""

    registered: RegisteredTool
    sha256: str
    decision: PolicyDecision

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self.row = proposal.row


class ToolPipeline:
    """Takes one call at a time from proposal to outcome; several may be under way at once."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        ids: IdFactory,
        calls: CallJournal,
        registry: ToolRegistry,
        policy: PolicyEngine,
        token: CancellationToken,
        observer: PipelineObserver | None = None,
    ) -> None:
        self._units = units
        self._clock = clock
        self._ids = ids
        self._calls = calls
        self._registry = registry
        self._policy = policy
        self._token = token
        self._observer = observer
        self._admission: tuple[Callable[[_Passage], None], ...] = (
            self._resolve,  # 1
            _check_enabled,  # 2
            _check_scopes,  # 3
            _check_arguments,  # 4
            _normalize,  # 5
            self._decide,  # 6
            _check_approval,  # 7
        )

    async def handle(self, proposal: Proposal) -> HandledCall:
        """Take a call through the pipeline; whatever becomes of it, there is an outcome.

        A call that is recorded already goes on from there; one that has ended is not executed
        again, and one that is executed at this moment is waited for. Raises `ConcurrencyConflict`
        if that takes longer than its tool may, `RunSuspended` if the call waits for somebody,
        `Cancelled` before a call of a run that is to end, and `Fenced` where the run is not held
        any more.
        """
        self._token.check()
        run = proposal.run
        row = await self._recorded(run, proposal.row) if proposal.is_logged else None
        if row is None:
            row = await self._intended(proposal)  # 1 to 8
        if row.status is InvocationStatus.AUTHORIZED:
            row = await self._claim(run, row)  # 9
        if row.status is InvocationStatus.RUNNING:
            ending = await self._carried_out(run, row)  # 10, 11 and 12
            row = await self._persist_ending(run, row, ending)  # 13
        await self._at(14, "before", run, row)
        item = rows.rendered(row)  # 14
        await self._at(14, "after", run, row)
        return HandledCall(row, item)

    async def _intended(self, proposal: Proposal) -> ToolInvocation:
        """Log the proposal, admit or refuse it, and record what was decided."""
        if not proposal.is_logged:
            async with self._units() as unit:
                await self._calls.write(unit, proposal.run, proposal.row)
        passage = _Passage(proposal)
        try:
            _check_breaker(proposal)
            for number, step in enumerate(self._admission, 1):
                await self._at(number, "before", proposal.run, passage.row)
                step(passage)
                await self._at(number, "after", proposal.run, passage.row)
            row = _authorized(passage.row, passage.decision)
        except _Refused as refused:
            row = self._ended(passage.row, refused)
        return await self._persist_intent(proposal.run, row)

    def _resolve(self, passage: _Passage) -> None:
        registered = self._registry.find(passage.row.tool_name)
        if registered is None:
            raise _Refused("policy.matrix.unknown_tool")
        passage.registered = registered
        passage.row = rows.resolved(passage.row, registered.spec)

    def _decide(self, passage: _Passage) -> None:
        run, row, spec = passage.proposal.run, passage.row, passage.registered.spec
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
            normalized_arguments_hash=passage.sha256,
            origin_trust=row.origin.trust,
            conversation=passage.proposal.conversation,
            evaluated_at=self._clock.now(),
        )
        principal = passage.proposal.session.principal._replace(scopes=run.principal_scopes)
        passage.decision = self._policy.evaluate(action, principal)
        passage.row = row._replace(policy_version=passage.decision.policy_version)

    async def _persist_intent(self, run: Run, row: ToolInvocation) -> ToolInvocation:
        """Write the first row of a call and its event; for a call that has one, go on from that.

        The key is unique in the store, so of two submissions of one call only one gets past here.
        """
        row = rows.keyed(row)
        await self._at(8, "before", run, row)
        try:
            async with self._units() as unit:
                await unit.invocations.add(row)
                await self._calls.write(unit, run, row)
        except AlreadyExists:
            async with self._units() as unit:
                recorded = await unit.invocations.find_by_key(row.idempotency_key)
            if recorded is None:
                raise
            row = await self._gone_on(run, recorded)
        await self._at(8, "after", run, row)
        return row

    async def _recorded(self, run: Run, row: ToolInvocation) -> ToolInvocation | None:
        """The record that an earlier execution has left of a call, ready to go on from."""
        async with self._units() as unit:
            try:
                recorded = await unit.invocations.get(row.id)
            except NotFound:
                return None
        return await self._gone_on(run, recorded)

    async def _gone_on(self, run: Run, row: ToolInvocation) -> ToolInvocation:
        """A call that is on record, as far as the record alone can take it."""
        what = recovery(row, run.lease_epoch)
        if what is Recovery.RETURN:
            return row
        if what is Recovery.CONFLICT:
            return await self._waited_for(row)
        async with self._units() as unit:
            if what is Recovery.UNKNOWN:
                row = rows.uncertain(row, "tool.outcome_unknown", self._clock.now())
                row = row._replace(nonce=self._ids.new_id())
                row = await unit.invocations.update(row, expected=InvocationStatus.RUNNING)
            else:
                row = await unit.invocations.take_over(row.id, row.lease_epoch, run.lease_epoch)
            if what is not Recovery.CONTINUE:  # ended, or started once more
                await self._calls.write(unit, run, row)
        return row

    async def _waited_for(self, row: ToolInvocation) -> ToolInvocation:
        """The end of a call that somebody else executes. Raises `ConcurrencyConflict` if that does
        not come in the time that its tool may take."""
        registered = self._registry.find(row.tool_name)
        left_seconds = 0.0 if registered is None else registered.spec.timeout_seconds
        while not row.status.is_terminal:
            if left_seconds <= 0:
                raise ConcurrencyConflict(row.id)
            await self._clock.sleep(POLL_SECONDS)
            left_seconds -= POLL_SECONDS
            async with self._units() as unit:
                row = await unit.invocations.get(row.id)
        return row

    async def _claim(self, run: Run, row: ToolInvocation) -> ToolInvocation:
        await self._at(9, "before", run, row)
        registered = self._registry.find(row.tool_name)
        row = row._replace(
            status=InvocationStatus.RUNNING,
            started_at=self._clock.now(),
            suspended_kind=None if registered is None else suspension_of(registered.spec),
        )
        async with self._units() as unit:
            row = await unit.invocations.update(row, expected=InvocationStatus.AUTHORIZED)
            await self._calls.write(unit, run, row)
        await self._at(9, "after", run, row)
        return row

    async def _carried_out(self, run: Run, row: ToolInvocation) -> ToolInvocation:
        """The row with its ending. A tool may have left the deployment since its call was
        recorded, or may take other arguments now: then it is not executed any more."""
        registered = self._registry.find(row.tool_name)
        if registered is None:
            return self._ended(row, _Refused("tool.unreachable", ToolFailureKind.TRANSPORT))
        if not conforms(row.arguments, registered.spec.input_schema):
            invalid = ToolFailureKind.INVALID_ARGUMENTS
            return self._ended(row, _Refused("tool.arguments_invalid", invalid))
        return await self._execute(run, row, registered)

    async def _execute(
        self, run: Run, row: ToolInvocation, registered: RegisteredTool
    ) -> ToolInvocation:
        """Run the tool and look at its result, with no unit of work open."""
        tool, spec = registered.tool, registered.spec
        arguments = parse_json_object(canonical_json(row.arguments))  # the tool's own copy
        watermark = self._watermark(run, row)
        context = ToolContext(row.id, row.idempotency_key, self._clock, watermark.mark)
        failure: ToolFailure | None = None
        result = None
        await self._at(10, "before", run, row)
        assert_none_open("executing a tool")
        try:
            async with self._clock.timeout(spec.timeout_seconds):
                result = await tool.run(arguments, context)
        except TimeoutError:
            failure = ToolFailure(ToolFailureKind.TIMEOUT, "tool.timeout")
        except ToolFailure as raised:
            failure = results.accepted_failure(raised)
        except CallSuspended:
            failure = self._suspended(row)
        except Exception:  # a defect of a tool is the outcome of its call; the run goes on
            failure = results.internal_failure()
        if self._observer is not None and watermark.is_marked:
            await self._observer(AFTER_EFFECT, run, row)
        if failure is None:
            await self._at(10, "after", run, row)
            return await self._accepted(run, row, result, spec)
        return self._ended(row, _Refused(failure.reason_code, failure.kind))

    def _watermark(self, run: Run, row: ToolInvocation) -> EffectWatermark:
        observer = self._observer
        before = None if observer is None else partial(observer, BEFORE_EFFECT, run, row)
        return EffectWatermark(self._units, self._clock, row.id, before)

    def _suspended(self, row: ToolInvocation) -> ToolFailure:
        """The failure of a tool that may not suspend a run; `RunSuspended` for one that may."""
        if row.suspended_kind is None:
            return results.internal_failure()
        raise RunSuspended(Suspension(row.suspended_kind, row.id, self._clock.now())) from None

    async def _accepted(
        self, run: Run, row: ToolInvocation, result: object, spec: ToolSpec
    ) -> ToolInvocation:
        """The row with a result that is as declared, or with the failure of one that is not."""
        await self._at(11, "before", run, row)
        try:
            given, size = results.checked(result, spec)  # 11
            labels = results.clamped_labels(given, spec)
            kept = results.shortened(given, spec)  # 12
        except ToolFailure as raised:
            return self._ended(row, _Refused(raised.reason_code, raised.kind))
        except Exception:  # a result that cannot even be looked at
            return self._ended(row, _Refused("tool.internal_error", ToolFailureKind.INTERNAL))
        for step, side in ((11, "after"), (12, "before"), (12, "after")):
            await self._at(step, side, run, row)
        row = rows.succeeded(row, kept, labels, size, self._clock.now())
        return row._replace(truncated=kept.content != given.content, nonce=self._ids.new_id())

    async def _persist_ending(
        self, run: Run, row: ToolInvocation, ending: ToolInvocation
    ) -> ToolInvocation:
        """Write how the call ended, in the light of its watermark."""
        await self._at(13, "before", run, ending)
        async with self._units() as unit:
            sent = (await unit.invocations.get(row.id)).effect_sent_at is not None
            ending = believable(ending, sent, self._clock.now())
            row = await unit.invocations.update(ending, expected=InvocationStatus.RUNNING)
            await self._calls.write(unit, run, row)
        await self._at(13, "after", run, row)
        return row

    def _ended(self, row: ToolInvocation, refused: _Refused) -> ToolInvocation:
        ending = rows.ended(row, refused.reason_code, self._clock.now(), refused.kind)
        return ending._replace(nonce=self._ids.new_id())

    async def _at(self, step: int, side: str, run: Run, row: ToolInvocation) -> None:
        if self._observer is not None:
            await self._observer(f"pipeline.{step}.{side}", run, row)


def believable(ending: ToolInvocation, effect_sent: bool, now: datetime) -> ToolInvocation:
    """The ending of a call whose tool has to set the watermark, as far as it can be believed.

    A success without the watermark breaks the tool's contract: nobody knows what it did. After the
    watermark a failure may hide an effect, unless the tool knows that there was none.
    """
    if ending.idempotency is None or not ending.idempotency.needs_watermark:
        return ending
    if ending.status is InvocationStatus.SUCCEEDED and not effect_sent:
        return rows.uncertain(ending, "tool.contract.no_watermark", now)
    hidden = ending.failure_kind not in _WITHOUT_EFFECT
    if ending.status is InvocationStatus.FAILED and effect_sent and hidden:
        return rows.uncertain(ending, "tool.outcome_unknown", now)
    return ending


def _check_breaker(proposal: Proposal) -> None:
    if proposal.refusal is not None:
        raise _Refused(proposal.refusal)


def _check_enabled(passage: _Passage) -> None:
    """A tool that the session does not offer is as unknown to it as one that does not exist."""
    if passage.row.tool_name not in passage.proposal.session.tool_names:
        raise _Refused("policy.matrix.unknown_tool")


def _check_scopes(passage: _Passage) -> None:
    required = passage.registered.spec.required_scopes
    if missing_scope(required, passage.proposal.run.principal_scopes) is not None:
        raise _Refused("policy.scope.missing")


def _check_arguments(passage: _Passage) -> None:
    if passage.proposal.call.malformed:
        raise _Refused("tool.arguments_malformed", ToolFailureKind.INVALID_ARGUMENTS)
    if not conforms(passage.row.arguments, passage.registered.spec.input_schema):
        raise _Refused("tool.arguments_invalid", ToolFailureKind.INVALID_ARGUMENTS)


def _normalize(passage: _Passage) -> None:
    if passage.row.normalized_arguments_hash is None:
        raise _Refused("tool.arguments_invalid", ToolFailureKind.INVALID_ARGUMENTS)
    passage.sha256 = passage.row.normalized_arguments_hash


def _check_approval(passage: _Passage) -> None:
    if passage.decision.effect is PolicyEffect.REQUIRE_APPROVAL:
        raise _Refused("policy.approval.unavailable")


def _authorized(row: ToolInvocation, decision: PolicyDecision) -> ToolInvocation:
    """The only step from PROPOSED to AUTHORIZED."""
    if decision.effect is not PolicyEffect.ALLOW:
        raise _Refused(decision.reason_code)
    return row._replace(status=InvocationStatus.AUTHORIZED)
