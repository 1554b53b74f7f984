"""The rules by which a tool is admitted, and what becomes of its declaration then."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_core.domain.canonical import canonical_json
from agent_core.domain.json_schema import schema_problems
from agent_core.domain.runs import SuspensionKind
from agent_core.domain.tools import (
    READS_ONLY,
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    TargetKind,
    ToolKind,
    ToolSource,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel, least_trusted

MAXIMUM_NAME_LENGTH = 96
MAXIMUM_DESCRIPTION_LENGTH = 4096
MAXIMUM_TIMEOUT_SECONDS = 3600
MAXIMUM_OUTPUT_BYTES = 4 * 1024 * 1024
"""No tool may declare a higher `maximum_output_bytes`."""

KNOWN_DOMAINS = frozenset(
    {
        "artifact",
        "context",
        "conversation",
        "delegate",
        "demo",
        "knowledge",
        "math",
        "memory",
        "sandbox",
        "skill",
        "system",
        "web",
        "workspace",
    }
)
"""First parts of the names of builtin tools."""

RESERVED_DOMAINS = frozenset({"device", "mcp"})
"""First parts of names that belong to remote tools; a builtin may not take them."""

NOT_A_TOOL_NAME = "(not a tool name)"

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_SERVER_ID = re.compile(r"[a-z][a-z0-9_]*")
_ENUMERATED = {
    "side_effect": SideEffectClass,
    "risk": RiskLevel,
    "idempotency": IdempotencyClass,
    "output_trust": TrustLevel,
    "source": ToolSource,
    "target_kind": TargetKind,
    "kind": ToolKind,
}
_SUSPENDING = {"conversation.ask_user": SuspensionKind.USER_INPUT}
"""The control tools: a closed set, each with what the run waits for."""

_FOREIGN_SOURCES = frozenset({ToolSource.MCP, ToolSource.DEVICE, ToolSource.SANDBOX})
_FOREIGN_TARGETS = frozenset({TargetKind.MCP, TargetKind.DEVICE, TargetKind.SANDBOX})


def is_tool_name(name: str) -> bool:
    """Whether `name` could be that of a registered tool."""
    return len(name) <= MAXIMUM_NAME_LENGTH and _NAME.fullmatch(name) is not None


def safe_tool_name(name: str) -> str:
    """`name`, or a fixed text for what no tool could be called: a model may have made it up from
    anything that it read."""
    return name if is_tool_name(name) else NOT_A_TOOL_NAME


def spec_problems(spec: ToolSpec) -> list[str]:
    """Every rule of registration that `spec` breaks, each naming the tool and the field."""
    problems = (*_name_problems(spec), *_field_problems(spec), *_schema_problems(spec))
    return [f"{spec.name}: {problem}" for problem in problems]


def registered_spec(spec: ToolSpec) -> ToolSpec:
    """The declaration that holds: `spec` with the output label that its origin forces on it."""
    return spec._replace(output_trust=forced_trust(spec))


def suspension_of(spec: ToolSpec) -> SuspensionKind | None:
    """What a run waits for that calls this tool; None for all but the control tools."""
    return _SUSPENDING[spec.name] if spec.kind is ToolKind.CONTROL else None


def forced_trust(spec: ToolSpec) -> TrustLevel:
    """The label of a tool's output: whatever is declared outside or done outside is untrusted."""
    if spec.source in _FOREIGN_SOURCES or spec.target_kind in _FOREIGN_TARGETS:
        return least_trusted((spec.output_trust, TrustLevel.EXTERNAL_UNTRUSTED))
    return spec.output_trust


def _name_problems(spec: ToolSpec) -> Iterator[str]:
    if not isinstance(spec.name, str) or not is_tool_name(spec.name):
        yield (
            "name: lower case words joined by at least one dot, "
            f"at most {MAXIMUM_NAME_LENGTH} characters"
        )
        return
    yield from domain_problems(spec)
    if (spec.source is ToolSource.MCP) != (spec.server_id is not None):
        yield "server_id: a tool from mcp has one, and no other tool has"
    elif spec.server_id is not None and not _SERVER_ID.fullmatch(str(spec.server_id)):
        yield "server_id: must be a lower case word"


def domain_problems(spec: ToolSpec) -> Iterator[str]:
    """What is wrong with the first part of a name, given who declares the tool."""
    domain = spec.name.partition(".")[0]
    if spec.source is ToolSource.MCP:
        prefix = f"mcp.{spec.server_id}."
        if not spec.name.startswith(prefix):
            yield f"name: a tool from this server is called {prefix}<name>"
    elif spec.source is ToolSource.DEVICE:
        if domain != "device":
            yield "name: a tool of a device is called device.<name>"
    elif domain in RESERVED_DOMAINS:
        yield f"name: the domains {', '.join(sorted(RESERVED_DOMAINS))} are reserved"
    elif domain not in KNOWN_DOMAINS:
        yield f"name: {domain} is not one of the domains {', '.join(sorted(KNOWN_DOMAINS))}"


def _field_problems(spec: ToolSpec) -> Iterator[str]:
    for field, enumeration in _ENUMERATED.items():
        if not isinstance(getattr(spec, field), enumeration):
            yield f"{field}: must be one of {', '.join(enumeration)}"
    if not isinstance(spec.version, str) or not spec.version:
        yield "version: must not be empty"
    if not isinstance(spec.description, str) or len(spec.description) > MAXIMUM_DESCRIPTION_LENGTH:
        yield f"description: a text of at most {MAXIMUM_DESCRIPTION_LENGTH} characters"
    if not _is_within(spec.timeout_seconds, MAXIMUM_TIMEOUT_SECONDS):
        yield f"timeout_seconds: must be above 0 and at most {MAXIMUM_TIMEOUT_SECONDS}"
    if not _is_within(spec.maximum_output_bytes, MAXIMUM_OUTPUT_BYTES):
        yield f"maximum_output_bytes: must be from 1 to {MAXIMUM_OUTPUT_BYTES}"
    if spec.idempotency is IdempotencyClass.READ_ONLY and spec.side_effect not in READS_ONLY:
        yield f"idempotency: read_only does not go with the side effect {spec.side_effect}"
    if spec.allow_parallel and not spec.runs_in_parallel:
        yield "allow_parallel: only for tools that read, and are read_only"
    yield from _control_problems(spec)


def _control_problems(spec: ToolSpec) -> Iterator[str]:
    """A control tool acts on the run and on nothing else, so it is one that the runtime knows."""
    if (spec.kind is ToolKind.CONTROL) != (spec.name in _SUSPENDING):
        yield f"kind: control is for {', '.join(sorted(_SUSPENDING))}, and for no other tool"
    elif spec.kind is ToolKind.CONTROL and (
        spec.side_effect is not SideEffectClass.NONE
        or spec.target_kind is not TargetKind.IN_PROCESS
        or spec.source is not ToolSource.BUILTIN
        or spec.allow_parallel
    ):
        yield "kind: a control tool is builtin, works in the process, alone, without side effect"


def _is_within(value: object, highest: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= highest


def _schema_problems(spec: ToolSpec) -> Iterator[str]:
    for field in ("input_schema", "output_schema"):
        schema = getattr(spec, field)
        problems = schema_problems(schema, field)
        yield from problems
        if isinstance(schema, dict) and schema.get("type") != "object":
            yield f"{field}.type: must be object"
        if not problems and not _is_json(schema):
            yield f"{field}: must be JSON"


def _is_json(value: object) -> bool:
    try:
        canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
