"""Tools that give what is on record instead of working."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_core.domain.canonical import JsonObject, canonicalize
from agent_core.domain.recorded_results import RecordedFailure, RecordedResults
from agent_core.domain.tools import ToolFailure, ToolFailureKind, ToolResult, ToolSpec
from agent_core.ports.tools import Tool, ToolContext


class RecordedTool(Tool):
    """Has the declaration of a tool and the results of a record.

    A recorded success of a tool that has to set the effect watermark sets it: on record the effect
    happened. A call without a result fails as the tool would that breaks, and is added to
    `missing` by the id of its invocation.
    """

    def __init__(self, spec: ToolSpec, results: RecordedResults, missing: list[str]) -> None:
        self._spec = spec
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
        if isinstance(result, RecordedFailure):
            raise ToolFailure(ToolFailureKind.INTERNAL, result.reason_code)
        if self._spec.idempotency.needs_watermark:
            await context.mark_effect_sent()
        return result


def with_recorded(
    tools: Iterable[Tool], results: RecordedResults, missing: list[str]
) -> Iterator[Tool]:
    """`tools`, with a recorded one in the place of each that has a result on record."""
    recorded = {name for name, _ in results}
    for tool in tools:
        is_recorded = tool.spec.name in recorded
        yield RecordedTool(tool.spec, results, missing) if is_recorded else tool
