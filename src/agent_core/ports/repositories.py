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
from agent_core.domain.projections import ProjectedState
from agent_core.domain.runs import Run, RunStatus
from agent_core.domain.sessions import Session


class SessionRepository(Protocol):
    async def add(self, session: Session) -> None:
        """Store a new session. `AlreadyExists` for an id that is taken."""
        ...

    async def get(self, session_id: str) -> Session: ...


class RunRepository(Protocol):
    async def add(self, run: Run) -> None:
        """Store a new run. `AlreadyExists` for an id that is taken."""
        ...

    async def get(self, run_id: str) -> Run: ...

    async def list_for_session(self, session_id: str) -> tuple[Run, ...]:
        """The runs of a session by id, which is the order of their creation."""
        ...

    async def update(self, run: Run, expected: RunStatus) -> None:
        """Replace the stored run if it is still in `expected`.

        `StaleState` if it is in another status, and for a change of status that the rules of
        `RunStatus` do not have; nothing is written then.
        """
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

    async def mark_effect_sent(self, invocation_id: str, at: datetime) -> datetime:
        """Set the watermark of an invocation that is running; the first one set is kept.

        Returns the watermark that holds. `StaleState` if the invocation is not running.
        """
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
