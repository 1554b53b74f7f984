"""Tools, and where the runtime finds them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import ToolResult, ToolSpec
from agent_core.ports.determinism import Clock


class ToolContext(NamedTuple):
    """What a tool is handed beside its arguments. It reaches no store, no policy, no other tool.

    `idempotency_key` is the same whenever the same call is executed again. A tool that is not
    idempotent awaits `mark_effect_sent()` right before its first operation that cannot be taken
    back: it returns once it is on record that the effect may have happened. Doing it again changes
    nothing.
    """

    invocation_id: str
    idempotency_key: str
    clock: Clock
    mark_effect_sent: Callable[[], Awaitable[None]]


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec:
        """What the tool declares about itself; the registry decides what holds."""
        ...

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        """Do the work. `arguments` conform to the input schema and are normalized.

        Raises `ToolFailure` for everything that is not a success.
        """
        ...


class RegisteredTool(NamedTuple):
    """A tool and the declaration that holds, which may be stricter than the tool's own."""

    spec: ToolSpec
    tool: Tool


class ToolRegistry(Protocol):
    """The tools of a deployment, fixed when it starts."""

    def find(self, name: str) -> RegisteredTool | None: ...

    def names(self) -> tuple[str, ...]:
        """Every registered name, sorted."""
        ...
