"""What every tool registry promises."""

import pytest

from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.domain.errors import RegistrationError
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel

IMPLEMENTATIONS = [StaticToolRegistry]


class Named:
    """A tool of which only the name matters."""

    def __init__(self, name):
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
        )

    async def run(self, arguments, context):
        return ToolResult({}, "")


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request):
    return request.param


def test_a_registered_tool_is_found_by_its_exact_name(make):
    tools = [Named("b.tool"), Named("a.tool")]
    registry = make(tools)
    assert registry.find("b.tool") is tools[0]
    for name in ("b.too", "B.tool", "b.tool ", "", "c.tool"):
        assert registry.find(name) is None


def test_names_are_sorted(make):
    assert make([Named("b.tool"), Named("a.tool"), Named("b.a")]).names() == (
        "a.tool",
        "b.a",
        "b.tool",
    )
    assert make([]).names() == ()


@pytest.mark.parametrize(
    "names", [["a.tool", "a.tool"], ["nodot"], ["mcp.tool"], ["device.tool"], ["Upper.tool"]]
)
def test_what_breaks_a_rule_is_not_registered(make, names):
    with pytest.raises(RegistrationError) as caught:
        make([Named(name) for name in names])
    assert all(problem.startswith(f"{names[0]}: ") for problem in caught.value.problems)
