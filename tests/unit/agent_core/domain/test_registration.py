"""The rules of registration."""

import pytest

from agent_core.domain.registration import (
    KNOWN_DOMAINS,
    MAXIMUM_OUTPUT_BYTES,
    NOT_A_TOOL_NAME,
    RESERVED_DOMAINS,
    forced_trust,
    is_tool_name,
    registered_spec,
    safe_tool_name,
    spec_problems,
)
from agent_core.domain.tools import (
    READS_ONLY,
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    TargetKind,
    ToolSource,
    ToolSpec,
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
REMOTE = SPEC._replace(
    name="mcp.server.tool",
    source=ToolSource.MCP,
    target_kind=TargetKind.MCP,
    server_id="server",
)
NAME_RULE = "name: lower case words joined by at least one dot, at most 96 characters"


@pytest.mark.parametrize(
    "spec",
    [
        SPEC,
        SPEC._replace(maximum_output_bytes=MAXIMUM_OUTPUT_BYTES, timeout_seconds=3600),
        SPEC._replace(allow_parallel=True),
        REMOTE,
        REMOTE._replace(name="mcp.server.group.tool"),
        SPEC._replace(name="device.camera", source=ToolSource.DEVICE),
        SPEC._replace(name="sandbox.run", source=ToolSource.SANDBOX),
    ],
)
def test_a_good_spec_has_no_problems(spec):
    assert spec_problems(spec) == []


@pytest.mark.parametrize("domain", sorted(KNOWN_DOMAINS))
def test_known_domains(domain):
    assert spec_problems(SPEC._replace(name=f"{domain}.tool")) == []


@pytest.mark.parametrize("name", ["demo.b", "demo.b_2.c", "web." + "y" * 92])
def test_good_names(name):
    assert is_tool_name(name)
    assert safe_tool_name(name) == name
    assert spec_problems(SPEC._replace(name=name)) == []


@pytest.mark.parametrize(
    "name",
    ["", "tool", "Demo.tool", "demo.Tool", "demo..tool", ".tool", "demo.", "demo tool.x", "1.a",
     "demo.tool\n", "démo.tool", "demo-x.tool", "web." + "y" * 93],
)  # fmt: skip
def test_bad_names(name):
    assert safe_tool_name(name) == NOT_A_TOOL_NAME
    assert spec_problems(SPEC._replace(name=name)) == [f"{name}: {NAME_RULE}"]


def test_the_text_in_place_of_a_name_is_no_name():
    assert not is_tool_name(NOT_A_TOOL_NAME)


@pytest.mark.parametrize("name", ["mcp.server.tool", "device.camera"])
@pytest.mark.parametrize("source", [ToolSource.BUILTIN, ToolSource.SANDBOX])
def test_reserved_domains(name, source):
    expected = f"{name}: name: the domains device, mcp are reserved"
    assert spec_problems(SPEC._replace(name=name, source=source)) == [expected]


def test_no_domain_is_both_known_and_reserved():
    assert not KNOWN_DOMAINS & RESERVED_DOMAINS


@pytest.mark.parametrize("name", ["mcps.tool", "demos.tool", "demo_x.tool"])
def test_unknown_domains(name):
    (problem,) = spec_problems(SPEC._replace(name=name))
    domain = name.partition(".")[0]
    assert problem.startswith(f"{name}: name: {domain} is not one of the domains artifact, ")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "mcp.other.tool"}, "name: a tool from this server is called mcp.server.<name>"),
        ({"name": "mcp.server_tool.x"},
         "name: a tool from this server is called mcp.server.<name>"),
        ({"name": "demo.tool"}, "name: a tool from this server is called mcp.server.<name>"),
        ({"source": ToolSource.DEVICE, "server_id": None},
         "name: a tool of a device is called device.<name>"),
        ({"server_id": "Server", "name": "mcp.server.tool"},
         "server_id: must be a lower case word"),
    ],
)  # fmt: skip
def test_remote_tools_have_their_place(change, problem):
    spec = REMOTE._replace(**change)
    assert f"{spec.name}: {problem}" in spec_problems(spec)


@pytest.mark.parametrize(
    "spec", [REMOTE._replace(server_id=None), SPEC._replace(server_id="server")]
)
def test_tools_from_mcp_and_no_others_have_a_server(spec):
    message = "server_id: a tool from mcp has one, and no other tool has"
    assert f"{spec.name}: {message}" in spec_problems(spec)


SECONDS = "timeout_seconds: must be above 0 and at most 3600"
BYTES = "maximum_output_bytes: must be from 1 to 4194304"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": ""}, "version: must not be empty"),
        ({"version": None}, "version: must not be empty"),
        ({"description": "x" * 4097}, "description: a text of at most 4096 characters"),
        ({"description": None}, "description: a text of at most 4096 characters"),
        ({"timeout_seconds": 0}, SECONDS),
        ({"timeout_seconds": -1}, SECONDS),
        ({"timeout_seconds": 3601}, SECONDS),
        ({"timeout_seconds": float("inf")}, SECONDS),
        ({"timeout_seconds": float("nan")}, SECONDS),
        ({"timeout_seconds": "2"}, SECONDS),
        ({"maximum_output_bytes": 0}, BYTES),
        ({"maximum_output_bytes": True}, BYTES),
        ({"maximum_output_bytes": MAXIMUM_OUTPUT_BYTES + 1}, BYTES),
        ({"input_schema": {"type": "string"}}, "input_schema.type: must be object"),
        ({"output_schema": {"type": "boolean"}}, "output_schema.type: must be object"),
        ({"output_schema": None}, "output_schema: a schema is an object"),
        ({"input_schema": {"type": "object", "default": {1}}}, "input_schema: must be JSON"),
        ({"input_schema": {"type": "object", "$ref": "http://x.invalid/"}},
         "input_schema.$ref: 'http://x.invalid/' leaves the schema; allowed: #/$defs/<name>"),
        ({"allow_parallel": True, "idempotency": IdempotencyClass.IDEMPOTENT},
         "allow_parallel: only for tools that read, and are read_only"),
    ],
)  # fmt: skip
def test_each_rule_names_the_tool_and_the_field(change, problem):
    assert f"demo.tool: {problem}" in spec_problems(SPEC._replace(**change))


@pytest.mark.parametrize(
    ("field", "enumeration"),
    [
        ("side_effect", SideEffectClass),
        ("risk", RiskLevel),
        ("idempotency", IdempotencyClass),
        ("output_trust", TrustLevel),
        ("source", ToolSource),
        ("target_kind", TargetKind),
    ],
)
@pytest.mark.parametrize("value", [None, "", "none", "low", "user", "builtin", 1])
def test_what_is_enumerated_is_a_member_and_no_text_like_it(field, enumeration, value):
    problem = f"demo.tool: {field}: must be one of {', '.join(enumeration)}"
    assert problem in spec_problems(SPEC._replace(**{field: value}))


@pytest.mark.parametrize("side_effect", SideEffectClass)
def test_what_changes_something_is_not_read_only(side_effect):
    problems = spec_problems(SPEC._replace(side_effect=side_effect))
    message = f"idempotency: read_only does not go with the side effect {side_effect}"
    assert problems == ([] if side_effect in READS_ONLY else [f"demo.tool: {message}"])


def test_all_problems_are_told_at_once():
    bad = SPEC._replace(name="Mcp", version="", timeout_seconds=0, input_schema={"type": "x"})
    assert len(spec_problems(bad)) == 5


FOREIGN = [
    SPEC._replace(name="sandbox.run", source=ToolSource.SANDBOX),
    SPEC._replace(name="device.camera", source=ToolSource.DEVICE),
    REMOTE,
    REMOTE._replace(target_kind=TargetKind.IN_PROCESS),
    *(SPEC._replace(target_kind=kind) for kind in TargetKind if kind != "in_process"),
]


@pytest.mark.parametrize("trust", TrustLevel)
@pytest.mark.parametrize("spec", FOREIGN)
def test_what_is_declared_or_done_outside_is_untrusted_whatever_it_asks_for(spec, trust):
    registered = registered_spec(spec._replace(output_trust=trust))
    assert registered.output_trust is TrustLevel.EXTERNAL_UNTRUSTED
    assert registered == spec._replace(output_trust=TrustLevel.EXTERNAL_UNTRUSTED)


@pytest.mark.parametrize("trust", TrustLevel)
def test_a_builtin_keeps_the_label_that_it_declares(trust):
    spec = SPEC._replace(output_trust=trust)
    assert forced_trust(spec) is trust
    assert registered_spec(spec) == spec
