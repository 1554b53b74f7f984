"""What a tool declares about itself, what it is given and what it gives back."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from agent_core.domain.canonical import JsonObject
from agent_core.domain.json_schema import Schema
from agent_core.domain.trust import TrustLevel


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


READS_ONLY = frozenset(
    {SideEffectClass.NONE, SideEffectClass.WORKSPACE_READ, SideEffectClass.NETWORK_READ}
)
"""The classes that change nothing. Only they can be executed twice, or at the same time, unseen."""


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

    @property
    def needs_watermark(self) -> bool:
        """Whether a tool has to say, before it acts, that its effect may have happened."""
        return self in _NEED_WATERMARK


_NEED_WATERMARK = frozenset(
    {IdempotencyClass.CONDITIONALLY_IDEMPOTENT, IdempotencyClass.NON_IDEMPOTENT}
)


class ToolSource(StrEnum):
    """Who declares a tool."""

    BUILTIN = "builtin"
    MCP = "mcp"
    DEVICE = "device"
    SANDBOX = "sandbox"


class TargetKind(StrEnum):
    """Where a tool does its work."""

    IN_PROCESS = "in_process"
    MCP = "mcp"
    DEVICE = "device"
    SANDBOX = "sandbox"


class ToolKind(StrEnum):
    """What a call of a tool is about: the world, or the run itself."""

    WORK = "work"
    CONTROL = "control"


class ToolSpec(NamedTuple):
    """A tool's declaration (see docs/specs/tool_system.md).

    `output_trust` is the most that a result is trusted, `output_private` says that every result
    is private. Content above `maximum_output_bytes`, in UTF-8, is shortened for the model; content
    and structured output together above four times as much fail the call. `server_id` names the
    server of a tool from mcp. A tool of the kind CONTROL is one of a closed set, and suspends the
    run.
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
    allow_parallel: bool = False
    output_private: bool = False
    source: ToolSource = ToolSource.BUILTIN
    target_kind: TargetKind = TargetKind.IN_PROCESS
    server_id: str | None = None
    kind: ToolKind = ToolKind.WORK

    @property
    def runs_in_parallel(self) -> bool:
        """Whether calls of this tool may run at the same time as others of its kind."""
        return (
            self.allow_parallel
            and self.side_effect in READS_ONLY
            and self.idempotency is IdempotencyClass.READ_ONLY
        )


class ToolResult(NamedTuple):
    """`output` conforms to the tool's output schema; `content` is the text for the model.

    `trust` and `is_private` are what the tool knows of this one result. They can make its labels
    stricter than the declared ones and never looser.
    """

    output: JsonObject
    content: str
    trust: TrustLevel | None = None
    is_private: bool = False


class ToolFailureKind(StrEnum):
    """The kinds of failure that end a tool's work."""

    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    PERMISSION = "permission"
    TIMEOUT = "timeout"
    OUTPUT_TOO_LARGE = "output_too_large"
    OUTPUT_INVALID = "output_invalid"
    UPSTREAM_ERROR = "upstream_error"
    TRANSPORT = "transport"
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


class CallSuspended(Exception):
    """Raised by a control tool: its call goes on when somebody outside has said something."""
