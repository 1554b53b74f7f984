"""Units of work: several writes that happen together or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

from agent_core.domain.events import Event
from agent_core.ports.repositories import (
    CheckpointRepository,
    EventRepository,
    ModelTurnRepository,
    ProjectionRepository,
    RunRepository,
    SessionRepository,
    ToolInvocationRepository,
)

if TYPE_CHECKING:
    from agent_core.ports.hooks import HookRepository
    from agent_core.ports.reviews import EffectReviewRepository


class UnitOfWork(Protocol):
    """One transaction. Leaving the context normally commits; an error undoes every write in it.

    Nothing may wait for a model, a tool or anything else outside while one is open. The records of
    one unit of work may name each other, whichever is written first. Every method raises
    `StorageUnavailable` where the store cannot be reached or cannot take any more.
    """

    @property
    def sessions(self) -> SessionRepository: ...

    @property
    def runs(self) -> RunRepository: ...

    @property
    def events(self) -> EventRepository: ...

    @property
    def invocations(self) -> ToolInvocationRepository: ...

    @property
    def turns(self) -> ModelTurnRepository: ...

    @property
    def reviews(self) -> EffectReviewRepository: ...

    @property
    def hooks(self) -> HookRepository: ...

    @property
    def checkpoints(self) -> CheckpointRepository: ...

    @property
    def projections(self) -> ProjectionRepository: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


UnitOfWorkFactory: TypeAlias = Callable[[], AbstractAsyncContextManager[UnitOfWork]]
"""Gives a unit of work that has not been entered yet; all of them see the same store."""

EventListener: TypeAlias = Callable[[Event], None]
"""Is told of each event once it is committed, in order. The log does not wait for its opinion: an
error that it raises comes to whoever committed, and undoes nothing."""
