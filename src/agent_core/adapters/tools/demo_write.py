"""The demonstration tools with an effect: they write to a destination that does not exist."""

from __future__ import annotations

import hashlib

from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import Tool, ToolContext

_MAXIMUM_DESTINATION_LENGTH = 256
_MAXIMUM_CONTENT_LENGTH = 4096
_UNSAFE_WRITE = ToolSpec(
    name="demo.unsafe_write",
    version="1",
    description=(
        "Demonstration of a write that cannot be taken back. Nothing leaves the process; the "
        "call is recorded as if something had."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "destination": {
                "type": "string",
                "minLength": 1,
                "maxLength": _MAXIMUM_DESTINATION_LENGTH,
            },
            "content": {"type": "string", "maxLength": _MAXIMUM_CONTENT_LENGTH},
        },
        "required": ["destination", "content"],
    },
    output_schema={
        "type": "object",
        "properties": {
            "recorded": {"const": True},
            "destination": {"type": "string"},
            "byte_count": {"type": "integer", "minimum": 0},
            "checksum": {"type": "string", "minLength": 71, "maxLength": 71},
        },
        "required": ["recorded", "destination", "byte_count", "checksum"],
    },
    side_effect=SideEffectClass.EXTERNAL_WRITE,
    risk=RiskLevel.HIGH,
    idempotency=IdempotencyClass.NON_IDEMPOTENT,
    output_trust=TrustLevel.INTERNAL_TOOL,
    timeout_seconds=10,
    maximum_output_bytes=4096,
    required_scopes=frozenset({"demo.write"}),
)


class DemoUnsafeWrite(Tool):
    """A write to try the effect watermark on."""

    @property
    def spec(self) -> ToolSpec:
        return _UNSAFE_WRITE

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        destination, content = str(arguments["destination"]), str(arguments["content"]).encode()
        await context.mark_effect_sent()
        # Here a real tool would send `content`.
        checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
        return ToolResult(
            {
                "recorded": True,
                "destination": destination,
                "byte_count": len(content),
                "checksum": checksum,
            },
            f"Recorded {len(content)} bytes ({checksum}).",
        )


class DemoExternalWrite(DemoUnsafeWrite):
    """The same write, by the name under which the cases about approvals know it."""

    @property
    def spec(self) -> ToolSpec:
        return _UNSAFE_WRITE._replace(name="demo.external_write")
