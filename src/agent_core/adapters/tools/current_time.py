"""The builtin tool `system.current_time`."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from agent_core.domain.canonical import JsonObject
from agent_core.domain.tools import (
    IdempotencyClass,
    RiskLevel,
    SideEffectClass,
    ToolFailure,
    ToolFailureKind,
    ToolResult,
    ToolSpec,
)
from agent_core.domain.trust import TrustLevel
from agent_core.ports.tools import Tool, ToolContext

_MAXIMUM_ZONE_LENGTH = 64
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SPEC = ToolSpec(
    name="system.current_time",
    version="1",
    description="The present date and time, in UTC or in the IANA time zone that is named.",
    input_schema={
        "type": "object",
        "properties": {
            "timezone": {"type": "string", "minLength": 1, "maxLength": _MAXIMUM_ZONE_LENGTH}
        },
    },
    output_schema={
        "type": "object",
        "properties": {
            "iso8601": {"type": "string"},
            "timezone": {"type": "string"},
            "utc_offset": {"type": "string"},
            "unix_seconds": {"type": "integer"},
            "weekday": {"type": "string", "enum": list(_WEEKDAYS)},
        },
        "required": ["iso8601", "timezone", "utc_offset", "unix_seconds", "weekday"],
    },
    side_effect=SideEffectClass.NONE,
    risk=RiskLevel.LOW,
    idempotency=IdempotencyClass.READ_ONLY,
    output_trust=TrustLevel.INTERNAL_TOOL,
    timeout_seconds=2,
    maximum_output_bytes=4096,
    allow_parallel=True,
)


class CurrentTime(Tool):
    """Reads the clock of its context and no other. Zones but UTC come from the system's time zone
    database; where that does not have one, the zone is unknown."""

    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def run(self, arguments: JsonObject, context: ToolContext) -> ToolResult:
        name = str(arguments.get("timezone", "UTC"))
        now = context.clock.now().astimezone(_zone(name))
        iso8601 = now.isoformat(timespec="microseconds")
        weekday = _WEEKDAYS[now.weekday()]
        return ToolResult(
            {
                "iso8601": iso8601,
                "timezone": name,
                "utc_offset": _offset(now),
                "unix_seconds": int(now.timestamp() // 1),
                "weekday": weekday,
            },
            f"{iso8601} ({name}, {weekday})",
        )


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo  # only a zone by name needs the database

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, no name of a zone, a folder of zones
        raise ToolFailure(
            ToolFailureKind.INVALID_ARGUMENTS, "tool.invalid_arguments.unknown_timezone"
        ) from None


def _offset(instant: datetime) -> str:
    """Hours and minutes with a sign, and seconds where a zone has them: `+05:30`."""
    return instant.isoformat(timespec="microseconds")[26:]
