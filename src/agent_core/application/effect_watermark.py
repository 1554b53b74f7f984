"""The effect watermark: on record before the effect, so that a crash cannot hide it."""

from __future__ import annotations

from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWorkFactory


class EffectWatermark:
    """What a tool awaits right before its first operation that cannot be taken back."""

    def __init__(self, units: UnitOfWorkFactory, clock: Clock, invocation_id: str) -> None:
        self._units = units
        self._clock = clock
        self._invocation_id = invocation_id

    async def mark(self) -> None:
        """Stamp the invocation, in a unit of work of its own: what follows may fail, this stays.

        Once stamped it keeps its first time. Raises `StaleState` once the call has ended.
        """
        async with self._units() as unit:
            await unit.invocations.mark_effect_sent(self._invocation_id, self._clock.now())
