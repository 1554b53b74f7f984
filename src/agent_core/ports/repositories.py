"""Where records are kept.

A `get` raises `NotFound`. A write takes effect when the unit of work it belongs to ends without
an error. Collections are returned in the order that each method names, never in a store's own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from agent_core.domain.checkpoints import Checkpoint, StoredCheckpoint
from agent_core.domain.events import Event, NewEvent
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.leases import Lease
from agent_core.domain.projections import ProjectedState
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.runs import Run, RunStatus
from agent_core.domain.sessions import Session


class SessionRepository(Protocol):
    async def add(self, session: Session) -> None:
        """Store a new session. `AlreadyExists` for an id that is taken."""
        ...

    async def get(self, session_id: str) -> Session:
        """The session. Others who get it wait until this unit of work ends, so what is decided here
        about its runs still holds when it is written."""
        ...


class RunRepository(Protocol):
    async def add(self, run: Run) -> None:
        """Store a new run. `AlreadyExists` for an id that is taken."""
        ...

    async def get(self, run_id: str) -> Run: ...

    async def list_for_session(self, session_id: str) -> tuple[Run, ...]:
        """The runs of a session by id, which is the order of their creation."""
        ...

    async def list_unfinished(self, tenant_id: str) -> tuple[Run, ...]:
        """The runs of a tenant that have not ended, by id."""
        ...

    async def update(self, run: Run, expected: RunStatus) -> Run:
        """Replace the stored run if it is still in `expected`, and return what is stored now.

        The lease, the epoch, the attempts and a requested cancellation stay as they are stored,
        whatever `run` says; but a run that is not RUNNING any more has no lease. `StaleState` if
        it is in another status or has another `lease_epoch` than `run`, and for a change of status
        that the rules of `RunStatus` do not have; nothing is written then.
        """
        ...

    async def claim(
        self, owner: str, now: datetime, until: datetime, run_id: str | None = None
    ) -> Run | None:
        """Take the oldest QUEUED run by `created_at`, then id, or the one that is named.

        It is RUNNING then, with the next epoch, one attempt more and a lease until `until`. A run
        that somebody else is claiming at this moment is passed over and not waited for. None if
        there is nothing to take.
        """
        ...

    async def hold(self, run_id: str, lease: Lease) -> Run:
        """The run, if it is RUNNING and owner and epoch of its lease are those of `lease`; it
        stays so until the unit of work ends, whoever wants to change it. When the lease is over
        does not matter. `Fenced` otherwise.
        """
        ...

    async def renew(self, run_id: str, lease: Lease, until: datetime) -> Run:
        """Let the lease last until `until`, and return what is stored now. `Fenced` like `hold`."""
        ...

    async def list_expired(self, now: datetime) -> tuple[Run, ...]:
        """The RUNNING runs whose lease is over at `now`, by the end of the lease, then id."""
        ...

    async def requeue(self, run: Run, now: datetime, attempts: int) -> Run:
        """Put a run that waits, or whose lease is over at `now`, back into the queue: QUEUED,
        without lease and suspension, and with `attempts`. Returns what is stored now.

        `StaleState` if the stored run has another status or `lease_epoch` than `run`, or is
        RUNNING with a lease that is not over; nothing is written then.
        """
        ...

    async def request_cancel(self, run_id: str, at: datetime) -> Run:
        """Note that the run is to be cancelled, and return what is stored now. The first time is
        kept; on a run that has ended nothing is noted."""
        ...


class EventRepository(Protocol):
    """The event log: append and read, nothing else. Payloads are read in today's shape, whatever
    version they were written in; `UnknownPayloadVersion` for one that is not known."""

    async def append(self, event: NewEvent) -> Event:
        """Store an event under the next sequence of its session, counted from 1.

        `AlreadyExists` for an id that is taken; `InvalidEvent` for a type or a payload that the
        catalogue does not have or that is not written in its present version, and `ValueError`
        for one that is not JSON. What the caller does
        to the payload afterwards does not reach the log.
        """
        ...

    async def list_for_session(self, session_id: str, after: int = 0) -> tuple[Event, ...]:
        """The events with a sequence above `after`, by sequence; none for an unknown session."""
        ...


class ToolInvocationRepository(Protocol):
    async def add(self, invocation: ToolInvocation) -> None:
        """Store a new invocation. `AlreadyExists` for an id or idempotency key that is taken."""
        ...

    async def find_by_key(self, idempotency_key: str) -> ToolInvocation | None:
        """The invocation that has this key, if there is one."""
        ...

    async def list_for_run(self, run_id: str) -> tuple[ToolInvocation, ...]:
        """The invocations of a run by id, which is the order of their proposal."""
        ...

    async def get(self, invocation_id: str) -> ToolInvocation: ...

    async def update(
        self, invocation: ToolInvocation, expected: InvocationStatus
    ) -> ToolInvocation:
        """Replace the stored invocation if it is still in `expected`, and return what is stored
        now: the watermark stays as it was set, whatever `invocation` says.

        `StaleState` if it is in another status, and for a change of status that the rules of
        `InvocationStatus` do not have; nothing is written then.
        """
        ...

    async def take_over(self, invocation_id: str, from_epoch: int, to_epoch: int) -> ToolInvocation:
        """Hand an invocation on to another hold on the run: it has `to_epoch` then, and if it is
        RUNNING one execution more. Returns what is stored now.

        `StaleState` if it has another epoch than `from_epoch`, or has ended.
        """
        ...

    async def mark_effect_sent(self, invocation_id: str, at: datetime) -> datetime:
        """Set the watermark of an invocation that is running; the first one set is kept.

        Returns the watermark that holds. `StaleState` if the invocation is not running.
        """
        ...


class ModelTurnRepository(Protocol):
    """The turns of the model, whole: what a run is rebuilt from, together with its log."""

    async def add(self, turn: RecordedTurn) -> None:
        """Store a turn. `AlreadyExists` for a step of the run that has one."""
        ...

    async def list_for_run(self, run_id: str, after_step: int = 0) -> tuple[RecordedTurn, ...]:
        """The turns of a run at the steps above `after_step`, by step."""
        ...


class CheckpointRepository(Protocol):
    async def add(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint. `AlreadyExists` for a version that the run has already."""
        ...

    async def latest(self, run_id: str) -> Checkpoint | None:
        """The checkpoint of the run with the highest version, if there is one.

        Raises `BrokenCheckpoints` if what it continues is not there.
        """
        ...

    async def chain(self, run_id: str) -> tuple[StoredCheckpoint, ...]:
        """What `latest` is read from, by version: the last full checkpoint and what follows it."""
        ...

    async def delete_for_run(self, run_id: str) -> int:
        """Delete the checkpoints of a run, and return how many there were. Nothing is lost: a run
        without any is rebuilt from its log."""
        ...


class ProjectionRepository(Protocol):
    async def get(self, projection: str, session_id: str) -> ProjectedState | None:
        """The stored state, whichever version of the projection built it."""
        ...

    async def save(self, state: ProjectedState, expected_position: int | None) -> None:
        """Store a state in the place of the one at `expected_position`, or of none for None.

        `StaleState` if the stored one is elsewhere: somebody else has moved it; nothing is written
        then.
        """
        ...

    async def list_behind(
        self, projection: str, builder_version: int, limit: int
    ) -> tuple[str, ...]:
        """At most `limit` sessions, by id, with events after their state's position, or whose state
        is of another version, or that have events and no state."""
        ...
