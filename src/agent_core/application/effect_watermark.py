"""The effect watermark: on record before the effect, so that a crash cannot hide it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory


class EffectWatermark:
    """What a tool awaits right before its first operation that cannot be taken back.

    `before` is awaited each time before the watermark is looked at. `is_marked`: this execution
    has set it, or found it set.
    """

    def __init__(
        self,
        units: UnitOfWorkFactory,
        clock: Clock,
        invocation_id: str,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._units = units
        self._clock = clock
        self._invocation_id = invocation_id
        self._before = before
        self.is_marked = False

    async def mark(self) -> None:
        """Stamp the invocation, in a unit of work of its own: what follows may fail, this stays.

        Once stamped it keeps its first time. Raises `StaleState` once the call has ended, and
        `Fenced` where the run is not held any more.
        """
        if self._before is not None:
            await self._before()
        async with self._units() as unit:
            await unit.invocations.mark_effect_sent(self._invocation_id, self._clock.now())
        self.is_marked = True
