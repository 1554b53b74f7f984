"""What a tool declares about itself, what it is given and what it gives back."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject
from agent_core.domain.json_schema import Schema, schema_problems
from agent_core.domain.trust import TrustLevel

MAXIMUM_NAME_LENGTH = 96
MAXIMUM_OUTPUT_BYTES = 4 * 1024 * 1024
"""No tool may declare a higher `maximum_output_bytes`."""

RESERVED_DOMAINS = frozenset({"mcp", "device"})
"""First parts of names that belong to remote tools; a builtin may not take them."""

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


class SideEffectClass(StrEnum):
    """What a tool may do to the world. Policy decides by this class."""

    NONE = "none"
    WORKSPACE_READ = "workspace_read"
    WORKSPACE_WRITE = "workspace_write"
    NETWORK_READ = "network_read"
    CODE_EXECUTION = "code_execution"
    PACKAGE_INSTALL = "package_install"
    SANDBOX_NETWORK = "sandbox_network"
    EXTERNAL_MESSAGE = "external_message"
    EXTERNAL_WRITE = "external_write"
    EXTERNAL_DELETE = "external_delete"
    FINANCIAL = "financial"
    PUBLICATION = "publication"
    CREDENTIAL_ACCESS = "credential_access"
    HOST_ACCESS = "host_access"
    PRIVILEGED = "privileged"


class RiskLevel(StrEnum):
    """How much harm a wrong call can do; it never selects a policy decision."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class IdempotencyClass(StrEnum):
    """What executing a call twice means."""

    READ_ONLY = "read_only"
    IDEMPOTENT = "idempotent"
    CONDITIONALLY_IDEMPOTENT = "conditionally_idempotent"
    NON_IDEMPOTENT = "non_idempotent"


class ToolSpec(NamedTuple):
    """A tool's declaration (see docs/specs/tool_system.md).

    `output_trust` labels the content of every result. `maximum_output_bytes` bounds content and
    structured output together, in UTF-8.
    """

    name: str
    version: str
    description: str
    input_schema: Schema
    output_schema: Schema
    side_effect: SideEffectClass
    risk: RiskLevel
    idempotency: IdempotencyClass
    output_trust: TrustLevel
    timeout_seconds: float
    maximum_output_bytes: int
    required_scopes: frozenset[str] = frozenset()


class ToolContext(NamedTuple):
    """What a tool knows about its call. It reaches no store, no policy and no other tool.

    `idempotency_key` is the same whenever the same call is executed again.
    """

    invocation_id: str
    idempotency_key: str


class ToolResult(NamedTuple):
    """`output` conforms to the tool's output schema; `content` is the text for the model."""

    output: JsonObject
    content: str


class ToolFailureKind(StrEnum):
    """The kinds of failure that end a tool's work. A kind is added with the code that gives it."""

    INVALID_ARGUMENTS = "invalid_arguments"
    TIMEOUT = "timeout"
    OUTPUT_TOO_LARGE = "output_too_large"
    OUTPUT_INVALID = "output_invalid"
    INTERNAL = "internal"


class ToolFailure(Exception):
    """A tool could not do what it was asked. Raised by tools; given back to the model.

    `reason_code` is an entry of `agent_core.domain.outcomes`; there is no free text, because a
    tool may have it from outside.
    """

    def __init__(self, kind: ToolFailureKind, reason_code: str) -> None:
        super().__init__(reason_code)
        self.kind = kind
        self.reason_code = reason_code


def spec_problems(spec: ToolSpec) -> list[str]:
    """Every rule of registration that `spec` breaks, each naming the tool and the field."""
    problems = []
    if not _NAME.fullmatch(spec.name) or len(spec.name) > MAXIMUM_NAME_LENGTH:
        problems.append(
            "name: lower case words joined by at least one dot, "
            f"at most {MAXIMUM_NAME_LENGTH} characters"
        )
    if spec.name.partition(".")[0] in RESERVED_DOMAINS:
        problems.append(f"name: the domains {', '.join(sorted(RESERVED_DOMAINS))} are reserved")
    if not spec.version:
        problems.append("version: must not be empty")
    if not 0 < spec.timeout_seconds < float("inf"):
        problems.append("timeout_seconds: must be positive and finite")
    if not 0 < spec.maximum_output_bytes <= MAXIMUM_OUTPUT_BYTES:
        problems.append(f"maximum_output_bytes: must be from 1 to {MAXIMUM_OUTPUT_BYTES}")
    for field in ("input_schema", "output_schema"):
        schema = getattr(spec, field)
        problems += schema_problems(schema, field)
        if isinstance(schema, dict) and schema.get("type") != "object":
            problems.append(f"{field}.type: must be object")
    return [f"{spec.name}: {problem}" for problem in problems]
