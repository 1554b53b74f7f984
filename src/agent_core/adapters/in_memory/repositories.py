"""In-memory repositories.

Records are immutable, so a caller can be handed the stored one. Their JSON values are not: those
are copied on the way in and on the way out, as a database would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from agent_core.adapters.in_memory.json_copy import json_copy
from agent_core.adapters.in_memory.undo import UndoLog
from agent_core.domain.canonical import JsonObject
from agent_core.domain.checkpoints import Checkpoint, StoredCheckpoint, restored, stored
from agent_core.domain.errors import AlreadyExists, Fenced, NotFound, StaleState
from agent_core.domain.events import Event, NewEvent
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.leases import Lease
from agent_core.domain.projections import ProjectedState
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.runs import Run, RunStatus
from agent_core.domain.sessions import Session
from agent_core.domain.upcasting import check_written
from agent_core.ports.repositories import (
    CheckpointRepository,
    EventRepository,
    ModelTurnRepository,
    ProjectionRepository,
    RunRepository,
    SessionRepository,
    ToolInvocationRepository,
)


class InMemorySessionRepository(SessionRepository):
    def __init__(self, undo: UndoLog | None = None) -> None:
        self._undo = undo or UndoLog()
        self._sessions: dict[str, Session] = {}

    async def add(self, session: Session) -> None:
        if session.id in self._sessions:
            raise AlreadyExists(f"session {session.id}")
        self._sessions[session.id] = session
        self._undo.record(lambda: self._sessions.pop(session.id))

    async def get(self, session_id: str) -> Session:
        if session_id not in self._sessions:
            raise NotFound(f"session {session_id}")
        return self._sessions[session_id]

    def remove_tenant(self, tenant_id: str) -> tuple[str, ...]:
        """Forget the sessions of a tenant; gives their ids."""
        gone = tuple(
            session.id
            for session in self._sessions.values()
            if session.principal.tenant_id == tenant_id
        )
        for session_id in gone:
            del self._sessions[session_id]
        return gone


class InMemoryRunRepository(RunRepository):
    def __init__(self, undo: UndoLog | None = None) -> None:
        self._undo = undo or UndoLog()
        self._runs: dict[str, Run] = {}

    async def add(self, run: Run) -> None:
        if run.id in self._runs:
            raise AlreadyExists(f"run {run.id}")
        self._runs[run.id] = run
        self._undo.record(lambda: self._runs.pop(run.id))

    async def get(self, run_id: str) -> Run:
        if run_id not in self._runs:
            raise NotFound(f"run {run_id}")
        return self._runs[run_id]

    async def list_for_session(self, session_id: str) -> tuple[Run, ...]:
        return self._by_id(run for run in self.all() if run.session_id == session_id)

    async def list_unfinished(self, tenant_id: str) -> tuple[Run, ...]:
        return self._by_id(
            run for run in self.all() if run.tenant_id == tenant_id and not run.status.is_terminal
        )

    async def update(self, run: Run, expected: RunStatus) -> Run:
        stored = await self.get(run.id)
        moves = run.status is not expected
        if stored.status is not expected or (moves and not expected.can_become(run.status)):
            raise StaleState(f"run {run.id}: {stored.status}, not {expected} -> {run.status}")
        if stored.lease_epoch != run.lease_epoch:
            raise StaleState(f"run {run.id}: epoch {stored.lease_epoch}, not {run.lease_epoch}")
        return self._put(
            stored,
            run._replace(
                lease=stored.lease if run.status is RunStatus.RUNNING else None,
                attempts=stored.attempts,
                cancel_requested_at=stored.cancel_requested_at,
            ),
        )

    async def claim(
        self, owner: str, now: datetime, until: datetime, run_id: str | None = None
    ) -> Run | None:
        queued = [
            run for run in self.all() if run.status is RunStatus.QUEUED and run_id in (None, run.id)
        ]
        if not queued:
            return None
        oldest = min(queued, key=lambda run: (run.created_at, run.id))
        epoch = oldest.lease_epoch + 1
        return self._put(
            oldest,
            oldest._replace(
                status=RunStatus.RUNNING,
                lease=Lease(owner, epoch, until),
                lease_epoch=epoch,
                attempts=oldest.attempts + 1,
            ),
        )

    async def hold(self, run_id: str, lease: Lease) -> Run:
        run = self._runs.get(run_id)
        if run is None or run.lease is None or run.status is not RunStatus.RUNNING:
            raise Fenced(f"run {run_id}: nobody holds it")
        if (run.lease.owner, run.lease.epoch) != (lease.owner, lease.epoch):
            raise Fenced(f"run {run_id}: held under epoch {run.lease.epoch}, not {lease.epoch}")
        return run

    async def renew(self, run_id: str, lease: Lease, until: datetime) -> Run:
        run = await self.hold(run_id, lease)
        return self._put(run, run._replace(lease=lease._replace(expires_at=until)))

    async def list_expired(self, now: datetime) -> tuple[Run, ...]:
        over = [
            (run.lease.expires_at, run.id, run)
            for run in self.all()
            if run.status is RunStatus.RUNNING and run.lease is not None and run.lease.is_over(now)
        ]
        return tuple(run for _, _, run in sorted(over, key=lambda one: one[:2]))

    async def requeue(self, run: Run, now: datetime, attempts: int) -> Run:
        stored = await self.get(run.id)
        if (stored.status, stored.lease_epoch) != (run.status, run.lease_epoch):
            raise StaleState(f"run {run.id}: {stored.status} in epoch {stored.lease_epoch}")
        if stored.status is RunStatus.RUNNING:
            may_go = stored.lease is None or stored.lease.is_over(now)
        else:
            may_go = stored.status.is_waiting
        if not may_go:
            raise StaleState(f"run {run.id}: {stored.status}, and not to be queued")
        return self._put(
            stored,
            stored._replace(
                status=RunStatus.QUEUED, lease=None, suspension=None, attempts=attempts
            ),
        )

    async def request_cancel(self, run_id: str, at: datetime) -> Run:
        stored = await self.get(run_id)
        if stored.status.is_terminal or stored.cancel_requested_at is not None:
            return stored
        return self._put(stored, stored._replace(cancel_requested_at=at))

    def all(self) -> Iterator[Run]:
        """Every stored run, in no order that counts."""
        return iter(self._runs.values())

    def remove(self, run_id: str) -> None:
        del self._runs[run_id]

    def _put(self, stored: Run, run: Run) -> Run:
        self._runs[run.id] = run
        self._undo.record(lambda: self._runs.update({run.id: stored}))
        return run

    @staticmethod
    def _by_id(runs: Iterable[Run]) -> tuple[Run, ...]:
        return tuple(sorted(runs, key=lambda run: run.id))


class InMemoryEventRepository(EventRepository):
    """`appended` collects what the open unit of work has appended so far."""

    def __init__(self, undo: UndoLog | None = None) -> None:
        self.appended: list[Event] = []
        self._undo = undo or UndoLog()
        self._ids: set[str] = set()
        self._next_sequence: dict[str, int] = {}
        self._logs: dict[str, list[Event]] = {}

    async def append(self, event: NewEvent) -> Event:
        if event.id in self._ids:
            raise AlreadyExists(f"event {event.id}")
        check_written(event)
        payload = json_copy(event.payload)
        sequence = self._next_sequence.get(event.session_id, 1)
        stored = Event(**{**event._asdict(), "payload": payload}, sequence=sequence)
        log = self._logs.setdefault(event.session_id, [])
        log.append(stored)
        self.appended.append(stored)
        self._ids.add(event.id)
        # A sequence that was given once is never given again, not even after a rollback.
        self._next_sequence[event.session_id] = sequence + 1
        self._undo.record(log.pop)
        self._undo.record(lambda: self._ids.remove(event.id))
        return stored._replace(payload=json_copy(payload))

    async def list_for_session(self, session_id: str, after: int = 0) -> tuple[Event, ...]:
        return tuple(
            event._replace(payload=json_copy(event.payload))
            for event in self._logs.get(session_id, [])
            if event.sequence > after
        )

    def remove_session(self, session_id: str) -> None:
        self._ids -= {event.id for event in self._logs.pop(session_id, [])}

    def last_sequences(self) -> dict[str, int]:
        """The sequence of the last event of each session that has any."""
        return {session_id: log[-1].sequence for session_id, log in self._logs.items() if log}


class InMemoryToolInvocationRepository(ToolInvocationRepository):
    def __init__(self, undo: UndoLog | None = None) -> None:
        self._undo = undo or UndoLog()
        self._invocations: dict[str, ToolInvocation] = {}
        self._id_by_key: dict[str, str] = {}

    async def add(self, invocation: ToolInvocation) -> None:
        key = invocation.idempotency_key
        if invocation.id in self._invocations or key in self._id_by_key:
            raise AlreadyExists(f"invocation {invocation.id} with key {key}")
        self._invocations[invocation.id] = _detached(invocation)
        self._id_by_key[key] = invocation.id
        self._undo.record(lambda: self._invocations.pop(invocation.id))
        self._undo.record(lambda: self._id_by_key.pop(key))

    async def find_by_key(self, idempotency_key: str) -> ToolInvocation | None:
        invocation_id = self._id_by_key.get(idempotency_key)
        return None if invocation_id is None else _detached(self._invocations[invocation_id])

    async def list_for_run(self, run_id: str) -> tuple[ToolInvocation, ...]:
        found = [row for row in self._invocations.values() if row.run_id == run_id]
        return tuple(_detached(row) for row in sorted(found, key=lambda row: row.id))

    async def get(self, invocation_id: str) -> ToolInvocation:
        return _detached(self._stored(invocation_id))

    async def update(
        self, invocation: ToolInvocation, expected: InvocationStatus
    ) -> ToolInvocation:
        stored = self._stored(invocation.id)
        if stored.status is not expected or not expected.can_become(invocation.status):
            raise StaleState(
                f"invocation {invocation.id}: {stored.status}, "
                f"not {expected} -> {invocation.status}"
            )
        return self._put(stored, invocation._replace(effect_sent_at=stored.effect_sent_at))

    async def take_over(self, invocation_id: str, from_epoch: int, to_epoch: int) -> ToolInvocation:
        stored = self._stored(invocation_id)
        if stored.status.is_terminal or stored.lease_epoch != from_epoch:
            raise StaleState(f"invocation {invocation_id}: {stored.status} in another hold")
        again = stored.status is InvocationStatus.RUNNING
        return self._put(
            stored,
            stored._replace(lease_epoch=to_epoch, attempt_number=stored.attempt_number + again),
        )

    async def mark_effect_sent(self, invocation_id: str, at: datetime) -> datetime:
        stored = self._stored(invocation_id)
        if stored.status is not InvocationStatus.RUNNING:
            raise StaleState(f"invocation {invocation_id}: {stored.status}, not RUNNING")
        if stored.effect_sent_at is not None:
            return stored.effect_sent_at
        self._put(stored, stored._replace(effect_sent_at=at))
        return at

    def remove_run(self, run_id: str) -> None:
        for row in [row for row in self._invocations.values() if row.run_id == run_id]:
            del self._invocations[row.id]
            del self._id_by_key[row.idempotency_key]

    def _put(self, stored: ToolInvocation, row: ToolInvocation) -> ToolInvocation:
        self._invocations[row.id] = _detached(row)
        self._undo.record(lambda: self._invocations.update({stored.id: stored}))
        return row

    def _stored(self, invocation_id: str) -> ToolInvocation:
        if invocation_id not in self._invocations:
            raise NotFound(f"invocation {invocation_id}")
        return self._invocations[invocation_id]


class InMemoryModelTurnRepository(ModelTurnRepository):
    def __init__(self, undo: UndoLog | None = None) -> None:
        self._undo = undo or UndoLog()
        self._turns: dict[str, dict[int, RecordedTurn]] = {}

    async def add(self, turn: RecordedTurn) -> None:
        turns = self._turns.setdefault(turn.run_id, {})
        if turn.step_number in turns:
            raise AlreadyExists(f"turn {turn.step_number} of run {turn.run_id}")
        turns[turn.step_number] = turn
        self._undo.record(lambda: turns.pop(turn.step_number))

    async def list_for_run(self, run_id: str, after_step: int = 0) -> tuple[RecordedTurn, ...]:
        turns = self._turns.get(run_id, {})
        return tuple(turns[step] for step in sorted(turns) if step > after_step)

    def remove_run(self, run_id: str) -> None:
        self._turns.pop(run_id, None)


class InMemoryCheckpointRepository(CheckpointRepository):
    def __init__(self, undo: UndoLog | None = None) -> None:
        self._undo = undo or UndoLog()
        self._checkpoints: dict[str, dict[int, StoredCheckpoint]] = {}

    async def add(self, checkpoint: Checkpoint) -> None:
        versions = self._checkpoints.setdefault(checkpoint.run_id, {})
        if checkpoint.version in versions:
            raise AlreadyExists(f"checkpoint {checkpoint.version} of run {checkpoint.run_id}")
        versions[checkpoint.version] = stored(checkpoint, await self.latest(checkpoint.run_id))
        self._undo.record(lambda: versions.pop(checkpoint.version))

    async def latest(self, run_id: str) -> Checkpoint | None:
        chain = await self.chain(run_id)
        return restored(chain) if chain else None

    async def chain(self, run_id: str) -> tuple[StoredCheckpoint, ...]:
        versions = self._checkpoints.get(run_id, {})
        chain: list[StoredCheckpoint] = []
        for version in sorted(versions, reverse=True):
            chain.append(versions[version])
            if versions[version].is_full:
                break
        return tuple(reversed(chain))

    def remove_run(self, run_id: str) -> None:
        self._checkpoints.pop(run_id, None)

    async def delete_for_run(self, run_id: str) -> int:
        deleted = self._checkpoints.pop(run_id, {})
        self._undo.record(lambda: self._checkpoints.update({run_id: deleted}))
        return len(deleted)


class InMemoryProjectionRepository(ProjectionRepository):
    def __init__(self, events: InMemoryEventRepository, undo: UndoLog | None = None) -> None:
        self._events = events
        self._undo = undo or UndoLog()
        self._states: dict[tuple[str, str], ProjectedState] = {}

    async def get(self, projection: str, session_id: str) -> ProjectedState | None:
        found = self._states.get((projection, session_id))
        return found and found._replace(state=json_copy(found.state))

    async def save(self, state: ProjectedState, expected_position: int | None) -> None:
        key = state.projection, state.session_id
        stored = self._states.get(key)
        if (None if stored is None else stored.position) != expected_position:
            raise StaleState(f"projection {key}: not at {expected_position}")
        self._states[key] = state._replace(state=json_copy(state.state))
        if stored is None:
            self._undo.record(lambda: self._states.pop(key))
        else:
            self._undo.record(lambda: self._states.update({key: stored}))

    def remove_session(self, session_id: str) -> None:
        for key in [key for key in self._states if key[1] == session_id]:
            del self._states[key]

    async def list_behind(
        self, projection: str, builder_version: int, limit: int
    ) -> tuple[str, ...]:
        behind = []
        for session_id, last in sorted(self._events.last_sequences().items()):
            state = self._states.get((projection, session_id))
            if state is None or state.position < last or state.builder_version != builder_version:
                behind.append(session_id)
        return tuple(behind[:limit])


def _detached(invocation: ToolInvocation) -> ToolInvocation:
    result = invocation.result
    return invocation._replace(
        arguments=json_copy(invocation.arguments),
        result=result and result._replace(output=json_copy(result.output)),
    )
