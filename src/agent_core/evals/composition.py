"""What a case is run with: the parts that an entry point composes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from agent_core.application.runtime import Runtime
from agent_core.domain.model_script import ScriptedTurn
from agent_core.domain.recorded_results import RecordedResults
from agent_core.domain.sessions import Principal
from agent_core.ports.observation import PipelineObserver
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory
from agent_core.ports.policies import PolicyEngine
from hardgate.cases.model import Case
from hardgate.fixtures.model_script import ModelScript

if TYPE_CHECKING:
    from hardgate.fixtures.tool_results import ToolResults

StoreFor: TypeAlias = Callable[[EventListener], UnitOfWorkFactory]
"""Gives units of work that tell a listener of each event which they commit."""


class PlayedModel(Protocol):
    """How far a script was played."""

    @property
    def turns_consumed(self) -> int: ...

    @property
    def turns_total(self) -> int: ...

    @property
    def exhausted_at_step(self) -> int | None: ...


class PinnedTime(Protocol):
    """A `Clock` that moves only when it is told to, and the pauses that it was asked for."""

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]: ...

    @property
    def sleeps(self) -> Sequence[float]: ...

    def advance(self, seconds: float) -> None: ...


class Composition(Protocol):
    """A runtime with pinned time and ids, the model that it talks to, and who hears its events.

    `missing_results` are the ids of the invocations for which no result was on record.
    """

    @property
    def runtime(self) -> Runtime: ...

    @property
    def clock(self) -> PinnedTime: ...

    @property
    def model(self) -> PlayedModel: ...

    @property
    def listeners(self) -> list[EventListener]: ...

    @property
    def missing_results(self) -> Sequence[str]: ...


class Compose(Protocol):
    """Builds a runtime; the entry point passes the bootstrap's own function.

    Raises ValueError for turns that cannot be played.
    """

    def __call__(
        self,
        *,
        turns: Sequence[ScriptedTurn],
        seed: str,
        start: datetime,
        policy: PolicyEngine | None = None,
        recorded: RecordedResults | None = None,
        observer: PipelineObserver | None = None,
        store: StoreFor | None = None,
    ) -> Composition: ...


class Identity(Protocol):
    """Who may run a case, and under which policies, by name: data, not a mode of the runtime."""

    @property
    def principals(self) -> Mapping[str, Principal]: ...

    @property
    def policies(self) -> Mapping[str, PolicyEngine]: ...


class Asked(NamedTuple):
    """A case with its fixtures, and its names resolved."""

    case: Case
    script: ModelScript
    tool_results: ToolResults | None
    principal: Principal
    policy: PolicyEngine
