"""Tools, and where the runtime finds them."""

from __future__ import annotations

from typing import Protocol

from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import ToolContext, ToolResult, ToolSpec


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        """Do the work. `arguments` conform to the input schema and are normalized.

        Raises `ToolFailure` for everything that is not a success.
        """
        ...


class ToolRegistry(Protocol):
    """The tools of a deployment, fixed when it starts."""

    def find(self, name: str) -> Tool | None: ...

    def names(self) -> tuple[str, ...]:
        """Every registered name, sorted."""
        ...
