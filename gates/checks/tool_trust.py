"""The output label of tools whose words come from outside, whatever label they ask for.

Every trial registers one generated tool, runs it, and looks at the label that the model is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject
from agent_core.domain.context import ContextItem, ItemKind, ShownItem
from agent_core.domain.tools import TargetKind, ToolResult, ToolSource, ToolSpec
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import ToolContext
from gates.checks.driving import Probe, Stage, call_of, one_call, probe_spec
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_FOREIGN = frozenset({"mcp", "device", "sandbox"})


class Claim(NamedTuple):
    """What a tool says of itself and of one result; None where it says nothing."""

    source: ToolSource
    target: TargetKind
    word: str
    declared: TrustLevel
    of_result: TrustLevel | None

    @property
    def is_foreign(self) -> bool:
        return str(self.source) in _FOREIGN or str(self.target) in _FOREIGN

    def spec(self) -> ToolSpec:
        """The declaration, under a name that its source may use."""
        server = "server" if self.source is ToolSource.MCP else None
        prefix = {ToolSource.MCP: "mcp.server", ToolSource.DEVICE: "device"}.get(
            self.source, "demo"
        )
        return probe_spec(
            name=f"{prefix}.{self.word}",
            source=self.source,
            target_kind=self.target,
            server_id=server,
            output_trust=self.declared,
        )


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    claims = st.builds(
        Claim,
        source=st.sampled_from(ToolSource),
        target=st.sampled_from(TargetKind),
        word=st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True),
        declared=st.sampled_from(TrustLevel),
        of_result=st.none() | st.sampled_from(TrustLevel),
    )
    context.for_all(foreign_output_is_untrusted, claim=claims)


def foreign_output_is_untrusted(claim: Claim) -> None:
    """What is foreign is untrusted after registration, and so is every result that is shown."""

    async def answer(arguments: JsonObject, context: ToolContext) -> ToolResult:
        return ToolResult({"text": "said"}, "said", claim.of_result)

    spec = claim.spec()
    stage = Stage(one_call(call_of(spec.name)), tools=[Probe(spec, answer)])
    played = stage.play()
    registered = next(tool for tool in played.requests[0].tools if tool.name == spec.name)
    shown = _result_shown(played.requests[-1].body)
    if claim.is_foreign:
        require(
            registered.output_trust is TrustLevel.EXTERNAL_UNTRUSTED,
            "foreign_tool_trusted",
            f"registered with the label {registered.output_trust}",
        )
        require(
            shown.labels.trust is TrustLevel.EXTERNAL_UNTRUSTED,
            "foreign_result_trusted",
            f"its result is shown with the label {shown.labels.trust}",
        )


def _result_shown(body: Sequence[ShownItem]) -> ContextItem:
    """The one result among the items of a request."""
    found = [one.item for one in body if one.item.kind is ItemKind.TOOL_RESULT]
    require(len(found) == 1, "result_not_shown", f"the model was shown {len(found)} results")
    return found[0]
