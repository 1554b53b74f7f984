"""The rules of registration."""

import pytest

from agent_core.domain.tools import (
    MAXIMUM_OUTPUT_BYTES,
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolSpec,
    spec_problems,
)
from agent_core.domain.trust import TrustLevel

SPEC = ToolSpec(
    name="demo.tool",
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
NAME_RULE = "name: lower case words joined by at least one dot, at most 96 characters"


def test_a_good_spec_has_no_problems():
    assert spec_problems(SPEC) == []
    assert spec_problems(SPEC._replace(maximum_output_bytes=MAXIMUM_OUTPUT_BYTES)) == []


@pytest.mark.parametrize("name", ["a.b", "a1.b_2.c", "x." + "y" * 94])
def test_good_names(name):
    assert spec_problems(SPEC._replace(name=name)) == []


@pytest.mark.parametrize(
    "name",
    ["", "tool", "Demo.tool", "demo.Tool", "demo..tool", ".tool", "demo.", "demo tool.x", "1.a",
     "demo.tool\n", "démo.tool", "demo-x.tool", "x." + "y" * 95],
)  # fmt: skip
def test_bad_names(name):
    assert spec_problems(SPEC._replace(name=name)) == [f"{name}: {NAME_RULE}"]


@pytest.mark.parametrize("name", ["mcp.server.tool", "device.camera"])
def test_reserved_domains(name):
    expected = f"{name}: name: the domains device, mcp are reserved"
    assert spec_problems(SPEC._replace(name=name)) == [expected]


def test_a_domain_that_only_begins_like_a_reserved_one_is_free():
    assert spec_problems(SPEC._replace(name="mcps.tool")) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": ""}, "version: must not be empty"),
        ({"timeout_seconds": 0}, "timeout_seconds: must be positive and finite"),
        ({"timeout_seconds": -1}, "timeout_seconds: must be positive and finite"),
        ({"timeout_seconds": float("inf")}, "timeout_seconds: must be positive and finite"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds: must be positive and finite"),
        ({"maximum_output_bytes": 0}, "maximum_output_bytes: must be from 1 to 4194304"),
        (
            {"maximum_output_bytes": MAXIMUM_OUTPUT_BYTES + 1},
            "maximum_output_bytes: must be from 1 to 4194304",
        ),
        ({"input_schema": {"type": "string"}}, "input_schema.type: must be object"),
        ({"output_schema": {"type": "boolean"}}, "output_schema.type: must be object"),
        ({"output_schema": None}, "output_schema: a schema is an object"),
    ],
)
def test_each_rule_names_the_tool_and_the_field(change, problem):
    assert spec_problems(SPEC._replace(**change)) == [f"demo.tool: {problem}"]


def test_all_problems_are_told_at_once():
    bad = SPEC._replace(name="Mcp", version="", timeout_seconds=0, input_schema={"type": "x"})
    assert len(spec_problems(bad)) == 5
