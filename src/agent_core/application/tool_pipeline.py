"""From a proposed call to an outcome for the model (see docs/specs/tool_system.md).

The numbers in the comments are the steps of that spec. Not here, because their subjects do not
exist yet: 2 (agents) and 12 (artifacts; output above its bound fails at 11).
"""

from __future__ import annotations

from agent_core.application import invocation_rows as rows
from agent_core.application.journal import Journal
from agent_core.domain.canonical import canonical_json, parse_json_object
from agent_core.domain.context import ContextItem, ToolCall
from agent_core.domain.errors import AlreadyExists, ConcurrencyConflict
from agent_core.domain.events import EventType
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.json_schema import conforms
from agent_core.domain.outcomes import REASONS
from agent_core.domain.policy import PolicyEffect, ProposedAction, missing_scope
from agent_core.domain.runs import Run
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.tools import ToolContext, ToolFailure, ToolFailureKind, ToolSpec
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWorkFactory
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import Tool, ToolRegistry

_EVENTS = {
    InvocationStatus.PROPOSED: EventType.TOOL_CALL_PROPOSED,
    InvocationStatus.AUTHORIZED: EventType.TOOL_CALL_AUTHORIZED,
    InvocationStatus.RUNNING: EventType.TOOL_CALL_STARTED,
    InvocationStatus.SUCCEEDED: EventType.TOOL_CALL_COMPLETED,
    InvocationStatus.FAILED: EventType.TOOL_CALL_FAILED,
    InvocationStatus.DENIED: EventType.TOOL_CALL_DENIED,
}


class _Denied(Exception):
    def __init__(self, reason_code: str) -> None:
        super().__init__(reason_code)
        self.reason_code = reason_code


class ToolPipeline:
    """Takes one call at a time from proposal to outcome."""

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

    async def handle(
        self, run: Run, session: Session, call: ToolCall, origin: TrustLevel
    ) -> ContextItem:
        """Take `call` through the pipeline; `origin` is the label of what proposed it.

        Returns the result item for the model, whatever became of the call. A call that is
        recorded already is not executed again; its recorded outcome is returned. Raises
        `ConcurrencyConflict` if the same call is being executed elsewhere.
        """
        row = rows.proposed(self._ids.new_id(), run, call, origin, self._clock.now())
        async with self._units() as unit:
            await self._journal.record(unit, run, _EVENTS[row.status], rows.payload(row))
        tool = self._resolved(session, call.name)  # 1
        if tool is None:
            denial = rows.denied(row, "policy.matrix.unknown_tool", self._clock.now())
            return rows.rendered(await self._store(run, denial))
        row = rows.resolved(row, tool.spec)
        try:
            row = self._authorized(run, call, row, tool.spec)  # 3 to 6
        except _Denied as denied:
            row = rows.denied(row, denied.reason_code, self._clock.now())
        except ToolFailure as failure:
            row = rows.failed(row, failure, self._clock.now())
        row = await self._store(run, row)  # 8
        if row.status is InvocationStatus.AUTHORIZED:
            row = row._replace(status=InvocationStatus.RUNNING, started_at=self._clock.now())
            await self._move(run, row, InvocationStatus.AUTHORIZED)  # 9
            row = await self._executed(row, tool)  # 10, 11
            await self._move(run, row, InvocationStatus.RUNNING)  # 13
        return rows.rendered(row)  # 14

    def _resolved(self, session: Session, name: str) -> Tool | None:
        return self._registry.find(name) if name in session.tool_names else None

    def _authorized(
        self, run: Run, call: ToolCall, row: ToolInvocation, spec: ToolSpec
    ) -> ToolInvocation:
        """Steps 3 to 6, which touch nothing. Raises `_Denied` or `ToolFailure`."""
        if missing_scope(spec.required_scopes, run.principal_scopes) is not None:  # 3
            raise _Denied("policy.scope.missing")
        if call.malformed:
            raise ToolFailure(ToolFailureKind.INVALID_ARGUMENTS, "tool.arguments_malformed")
        sha256 = row.normalized_arguments_hash
        if sha256 is None or not conforms(row.arguments, spec.input_schema):  # 4, 5
            raise ToolFailure(ToolFailureKind.INVALID_ARGUMENTS, "tool.arguments_invalid")
        principal = Principal(run.principal_id, run.principal_scopes)
        decision = self._policy.evaluate(self._action(run, row, spec, sha256), principal)  # 6
        if decision.effect is PolicyEffect.REQUIRE_APPROVAL:  # 7: nobody is there to be asked
            raise _Denied("policy.approval.unavailable")
        if decision.effect is not PolicyEffect.ALLOW:
            raise _Denied(decision.reason_code)
        return row._replace(
            status=InvocationStatus.AUTHORIZED, policy_version=decision.policy_version
        )

    def _action(self, run: Run, row: ToolInvocation, spec: ToolSpec, sha256: str) -> ProposedAction:
        return ProposedAction(
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
            origin_trust=row.origin_trust,
            conversation=Labels(row.origin_trust),  # no content is labelled private yet
            evaluated_at=self._clock.now(),
        )

    async def _store(self, run: Run, row: ToolInvocation) -> ToolInvocation:
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

    async def _executed(self, row: ToolInvocation, tool: Tool) -> ToolInvocation:
        """Run the tool and look at its result, with no unit of work open."""
        arguments = parse_json_object(canonical_json(row.arguments))  # the tool's own copy
        context = ToolContext(row.id, row.idempotency_key)
        try:
            async with self._clock.timeout(tool.spec.timeout_seconds):
                result = await tool.run(arguments, context)
            size = rows.checked_size(result, tool.spec)
        except TimeoutError:
            failure = ToolFailure(ToolFailureKind.TIMEOUT, "tool.timeout")
        except ToolFailure as raised:
            failure = raised if raised.reason_code in REASONS else _internal_failure()
        except Exception:  # a defect of a tool is the outcome of its call; the run goes on
            failure = _internal_failure()
        else:
            return rows.succeeded(row, result, size, self._clock.now())
        return rows.failed(row, failure, self._clock.now())

    async def _move(self, run: Run, row: ToolInvocation, previous: InvocationStatus) -> None:
        async with self._units() as unit:
            await unit.invocations.update(row, expected=previous)
            await self._journal.record(unit, run, _EVENTS[row.status], rows.payload(row))


def _internal_failure() -> ToolFailure:
    return ToolFailure(ToolFailureKind.INTERNAL, "tool.internal_error")
