"""What every tool registry promises."""

import pytest

from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.domain.errors import RegistrationError
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    TargetKind,
    ToolResult,
    ToolSource,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel

IMPLEMENTATIONS = [StaticToolRegistry]


class Named:
    """A tool of which only the declaration matters."""

    def __init__(self, name, **more):
        self.spec = ToolSpec(
            name=name,
            version="1",
            description="",
            input_schema={"type": "object"},
            output_schema={"type": "object"},
            side_effect=SideEffectClass.NONE,
            risk=RiskLevel.LOW,
            idempotency=IdempotencyClass.READ_ONLY,
            output_trust=TrustLevel.INTERNAL_TOOL,
            timeout_seconds=1,
            maximum_output_bytes=1,
        )._replace(**more)

    async def run(self, arguments, context):
        return ToolResult({}, "")


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request):
    return request.param


def test_a_registered_tool_is_found_by_its_exact_name(make):
    tools = [Named("web.tool"), Named("demo.tool")]
    registry = make(tools)
    found = registry.find("web.tool")
    assert (found.tool, found.spec) == (tools[0], tools[0].spec)
    for name in ("web.too", "WEB.tool", "web.tool ", "", "math.tool"):
        assert registry.find(name) is None


def test_names_are_sorted(make):
    assert make([Named("web.tool"), Named("demo.tool"), Named("web.a")]).names() == (
        "demo.tool",
        "web.a",
        "web.tool",
    )
    assert make([]).names() == ()


@pytest.mark.parametrize(
    "names",
    [
        ["demo.tool", "demo.tool"],
        ["nodot"],
        ["mcp.tool"],
        ["device.tool"],
        ["Upper.tool"],
        ["unheard.of"],
    ],
)
def test_what_breaks_a_rule_is_not_registered(make, names):
    with pytest.raises(RegistrationError) as caught:
        make([Named(name) for name in names])
    assert all(problem.startswith(f"{names[0]}: ") for problem in caught.value.problems)


@pytest.mark.parametrize(
    "tool",
    [
        Named("mcp.server.x", source=ToolSource.MCP, server_id="server"),
        Named("device.x", source=ToolSource.DEVICE),
        Named("sandbox.x", source=ToolSource.SANDBOX),
        Named("demo.x", target_kind=TargetKind.MCP),
        Named("demo.x", target_kind=TargetKind.DEVICE),
        Named("demo.x", target_kind=TargetKind.SANDBOX),
    ],
)
def test_what_is_declared_or_done_outside_is_untrusted(make, tool):
    registered = make([tool]).find(tool.spec.name)
    assert registered.spec.output_trust is TrustLevel.EXTERNAL_UNTRUSTED
    assert registered.tool is tool
    assert tool.spec.output_trust is TrustLevel.INTERNAL_TOOL
