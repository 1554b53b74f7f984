"""The runtime's services: open a session, submit a message, run it, see what happened."""

from __future__ import annotations

from collections.abc import Iterable

from agent_core.application import invocation_rows as rows
from agent_core.application.call_journal import CALL_EVENTS
from agent_core.application.dispatcher import ANSWERED, RunDispatcher
from agent_core.application.journal import Journal
from agent_core.application.rebuild import restored
from agent_core.domain.budgets import limit_problems
from agent_core.domain.canonical import JsonObject, JsonValue
from agent_core.domain.context import Transcript
from agent_core.domain.errors import SessionBusy, StaleState
from agent_core.domain.events import Event, EventType
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.reviews import EffectReview
from agent_core.domain.runs import Run, RunLimits, RunStatus, SuspensionKind
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.tools import ToolResult
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.ports.determinism import Clock, IdFactory
from agent_core.ports.persistence import UnitOfWorkFactory
from agent_core.ports.tools import ToolRegistry

MAXIMUM_ANSWER_BYTES = 16_384
_LABELS_OF_A_MESSAGE: dict[str, JsonValue] = {"trust": TrustLevel.USER, "private": False}


class Runtime:
    """Made by `agent_core.bootstrap`. Every method may be used from any one event loop."""

    def __init__(
        self,
        *,
        units: UnitOfWorkFactory,
        clock: Clock,
        ids: IdFactory,
        journal: Journal,
        registry: ToolRegistry,
        dispatcher: RunDispatcher,
    ) -> None:
        self._units = units
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._registry = registry
        self._dispatcher = dispatcher

    async def open_session(
        self, principal: Principal, tool_names: Iterable[str] | None = None
    ) -> Session:
        """Open a conversation whose runs may use `tool_names`; None means every tool.

        Raises `ValueError` that lists the names which are not registered.
        """
        registered = self._registry.names()
        pinned = registered if tool_names is None else tuple(sorted(set(tool_names)))
        unknown = [name for name in pinned if name not in registered]
        if unknown:
            raise ValueError(
                f"not registered: {', '.join(unknown)}; registered: {', '.join(registered)}"
            )
        session = Session(self._ids.new_id(), principal, pinned, self._clock.now())
        async with self._units() as unit:
            await unit.sessions.add(session)
            await self._journal.record_principal(
                unit, session, None, EventType.SESSION_CREATED, {"tool_names": list(pinned)}
            )
        return session

    async def submit(self, session_id: str, text: str, limits: RunLimits | None = None) -> str:
        """Queue a run that answers `text`, in a conversation with the session's earlier messages;
        returns its id.

        Raises `NotFound` for the session, `ValueError` for a text that is empty or has no UTF-8
        form and for limits that are none, and `SessionBusy` while another run of the session has
        not ended.
        """
        text.encode()
        if not text.strip():
            raise ValueError("a message has a text")
        limits = limits or RunLimits()
        if problems := limit_problems(limits):
            raise ValueError("; ".join(problems))
        async with self._units() as unit:
            session = await unit.sessions.get(session_id)
            earlier = await unit.runs.list_for_session(session_id)
            if any(not run.status.is_terminal for run in earlier):
                raise SessionBusy(session_id)
            run = Run(
                id=self._ids.new_id(),
                session_id=session_id,
                principal_id=session.principal.id,
                principal_scopes=session.principal.scopes,
                status=RunStatus.QUEUED,
                limits=limits,
                created_at=self._clock.now(),
                tenant_id=session.principal.tenant_id,
            )
            message = await self._journal.record_principal(
                unit,
                session,
                run.id,
                EventType.USER_MESSAGE_CREATED,
                {"text": text, **_LABELS_OF_A_MESSAGE},
            )
            await unit.runs.add(run._replace(seed_event_sequence=message.sequence))
            await self._journal.record_principal(unit, session, run.id, EventType.RUN_QUEUED, {})
        return run.id

    async def run_until_terminal(self, run_id: str) -> Run:
        """Execute a queued run until it ends, or waits for somebody, and return it.

        Raises `NotFound`, and `StaleState` for a run that is not queued. If the runtime itself
        breaks, the run ends as `internal_error` and the error is raised.
        """
        run = await self._dispatcher.claim(run_id)
        if run is None:
            found = await self.run(run_id)
            raise StaleState(f"run {run_id}: {found.status}, not {RunStatus.QUEUED}")
        return (await self._dispatcher.execute(run)).run

    async def cancel(self, run_id: str) -> Run:
        """Ask for the end of a run and return it as it is then: one that is executed ends as soon
        as it can, one that waits or is queued has ended, and one that has ended stays as it is.

        Raises `NotFound`.
        """
        async with self._units() as unit:
            run = await unit.runs.request_cancel(run_id, self._clock.now())
            if run.status.is_waiting:
                # Whoever takes it from the queue, this call first, ends it at once.
                run = await unit.runs.requeue(run, self._clock.now(), run.attempts)
        claimed = None
        if run.status is RunStatus.QUEUED:
            claimed = await self._dispatcher.claim(run_id)
        if claimed is None:
            return await self.run(run_id)
        return (await self._dispatcher.execute(claimed)).run

    async def answer(self, run_id: str, text: str) -> Run:
        """Answer the question that a run waits with, and queue it again; returns the run.

        Raises `NotFound`, `StaleState` for a run that does not wait for an answer, and
        `ValueError` for a text that is empty, too long or has no UTF-8 form.
        """
        size = len(text.encode())
        if not text.strip() or size > MAXIMUM_ANSWER_BYTES:
            raise ValueError(f"an answer has 1 to {MAXIMUM_ANSWER_BYTES} bytes of text")
        now = self._clock.now()
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
            if run.suspension is None or run.suspension.kind is not SuspensionKind.USER_INPUT:
                raise StaleState(f"run {run_id}: {run.status}, and no question is open")
            session = await unit.sessions.get(run.session_id)
            row = await unit.invocations.get(run.suspension.invocation_id)
            result = ToolResult({"answer": text}, text)
            row = rows.succeeded(row, result, Labels(TrustLevel.USER), size, now)._replace(
                nonce=self._ids.new_id(), suspended_kind=None
            )
            row = await unit.invocations.update(row, expected=InvocationStatus.RUNNING)
            run = await unit.runs.requeue(run, now, 0)
            ended: JsonObject = rows.payload(row)
            queued: JsonObject = {"reason": ANSWERED, "lease_epoch": run.lease_epoch}
            for event_type, payload in (
                (CALL_EVENTS[row.status], ended),
                (EventType.RUN_REQUEUED, queued),
            ):
                await self._journal.record_principal(unit, session, run.id, event_type, payload)
        return run

    async def run(self, run_id: str) -> Run:
        async with self._units() as unit:
            return await unit.runs.get(run_id)

    async def events(self, session_id: str) -> tuple[Event, ...]:
        """The session's events by sequence. Raises `NotFound`."""
        async with self._units() as unit:
            await unit.sessions.get(session_id)
            return await unit.events.list_for_session(session_id)

    async def invocations(self, run_id: str) -> tuple[ToolInvocation, ...]:
        """The run's tool invocations in the order of their proposal. Raises `NotFound`."""
        async with self._units() as unit:
            await unit.runs.get(run_id)
            return await unit.invocations.list_for_run(run_id)

    async def effect_reviews(self, run_id: str) -> tuple[EffectReview, ...]:
        """The reviews of the run's calls of which nobody knows what they did, in the order in which
        they were opened. Raises `NotFound`."""
        async with self._units() as unit:
            await unit.runs.get(run_id)
            return await unit.reviews.list_for_run(run_id)

    async def transcript(self, run_id: str) -> Transcript:
        """The conversation as the run's last checkpoint has it, every item with its labels, or as
        it is rebuilt where there is none. Raises `NotFound`."""
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
            latest = await unit.checkpoints.latest(run_id)
            if latest is not None:
                return latest.transcript
            return (await restored(unit, run)).transcript

    async def final_text(self, run_id: str) -> str | None:
        """The answer of a completed run; None while there is none. Raises `NotFound`."""
        async with self._units() as unit:
            run = await unit.runs.get(run_id)
            for event in reversed(await unit.events.list_for_session(run.session_id)):
                if (
                    event.run_id == run_id
                    and event.event_type is EventType.ASSISTANT_MESSAGE_COMPLETED
                ):
                    return str(event.payload["text"])
        return None
