"""Tools that give recorded results instead of running (`fixtures.tool_results` of a case)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from agent_core.domain.canonical import JsonObject, canonicalize
from agent_core.domain.tools import ToolFailure, ToolFailureKind, ToolResult, ToolSpec
from agent_core.ports.tools import Tool, ToolContext


class RecordedResult(Protocol):
    """A success has `output` and `content`, a failure a `reason_code`."""

    @property
    def output(self) -> dict[str, Any] | None: ...

    @property
    def content(self) -> str | None: ...

    @property
    def reason_code(self) -> str | None: ...


Results = Mapping[tuple[str, str], RecordedResult]
"""By the tool's name and the hash of the normalized arguments."""


class RecordedTool(Tool):
    """Has the declaration of a tool and the results of a record.

    A recorded success of a tool that has to set the effect watermark sets it: on record the effect
    happened. A call without a result fails as the tool would that breaks, and is kept in `missing`
    by the id of its invocation.
    """

    def __init__(self, tool: Tool, results: Results, missing: list[str]) -> None:
        self._spec = tool.spec
        self._results = results
        self._missing = missing

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        result = self._results.get((self._spec.name, canonicalize(arguments).sha256))
        if result is None:
            self._missing.append(context.invocation_id)
            raise ToolFailure(ToolFailureKind.INTERNAL, "tool.internal_error")
        if result.reason_code is not None:
            raise ToolFailure(ToolFailureKind.INTERNAL, result.reason_code)
        if self._spec.idempotency.needs_watermark:
            await context.mark_effect_sent()
        return ToolResult(result.output or {}, result.content or "")


class RecordedTools:
    """Puts recorded tools in the place of those named in `tools`; the others stay.

    `missing`: the ids of the invocations for which there was no result, in their order.
    """

    def __init__(self, tools: Collection[str], results: Results) -> None:
        self._tools = tools
        self._results = results
        self.missing: list[str] = []

    def stand_in(self, tool: Tool) -> Tool:
        if tool.spec.name not in self._tools:
            return tool
        return RecordedTool(tool, self._results, self.missing)
