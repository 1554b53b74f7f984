"""Model providers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from agent_core.domain.context import ModelRequest
from agent_core.domain.model import StreamEvent


class ModelProvider(Protocol):
    @property
    def name(self) -> str:
        """Which provider and model this is, for the record."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Make one attempt and give its events, which keep the six invariants of the stream.

        A failure of the provider is the last event, `StreamFailed`; it is not raised.
        """
        ...
