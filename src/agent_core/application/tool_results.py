"""What a tool gave back: is it what the tool declares, how far is it trusted, how much is kept."""

from __future__ import annotations

from agent_core.domain.canonical import canonical_json
from agent_core.domain.json_schema import conforms
from agent_core.domain.outcomes import FAILURE_STATUSES, REASONS
from agent_core.domain.output_limits import CEILING_FACTOR, excerpt
from agent_core.domain.tools import ToolFailure, ToolFailureKind, ToolResult, ToolSpec
from agent_core.domain.trust import Labels, TrustLevel, least_trusted


def checked(result: object, spec: ToolSpec) -> tuple[ToolResult, int]:
    """What a tool gave, if it is a result, and its bytes, content and structured output together
    in UTF-8.

    Raises `ToolFailure` for a result that is not what the tool declares, and for one above the
    ceiling.
    """
    if not isinstance(result, ToolResult) or not _is_well_formed(result):
        raise ToolFailure(ToolFailureKind.OUTPUT_INVALID, "tool.output_invalid")
    if not conforms(result.output, spec.output_schema):
        raise ToolFailure(ToolFailureKind.OUTPUT_INVALID, "tool.output_invalid")
    try:
        size = len(result.content.encode()) + len(canonical_json(result.output).encode())
    except (TypeError, ValueError, RecursionError):
        raise ToolFailure(ToolFailureKind.OUTPUT_INVALID, "tool.output_invalid") from None
    if size > CEILING_FACTOR * spec.maximum_output_bytes:
        raise ToolFailure(ToolFailureKind.OUTPUT_TOO_LARGE, "tool.output_too_large")
    return result, size


def clamped_labels(result: ToolResult, spec: ToolSpec) -> Labels:
    """The labels of a result: the declared ones, or stricter ones that the tool gave it."""
    own = spec.output_trust if result.trust is None else result.trust
    trust = least_trusted((spec.output_trust, own))
    return Labels(trust, spec.output_private or result.is_private)


def shortened(result: ToolResult, spec: ToolSpec) -> ToolResult:
    """The result with as much of its content as the tool may give a model."""
    return result._replace(content=excerpt(result.content, spec.maximum_output_bytes))


def accepted_failure(raised: ToolFailure) -> ToolFailure:
    """The failure that a tool raised, if it is one that a tool may raise.

    A code that the table does not have, or that stands for something other than a failure, would
    put a text or a status into the outcome that is not the tool's to give.
    """
    entry = REASONS.get(raised.reason_code)
    if entry is None or entry.status not in FAILURE_STATUSES:
        return internal_failure()
    return raised


def internal_failure() -> ToolFailure:
    return ToolFailure(ToolFailureKind.INTERNAL, "tool.internal_error")


def _is_well_formed(result: ToolResult) -> bool:
    return (
        isinstance(result.content, str)
        and isinstance(result.is_private, bool)
        and (result.trust is None or isinstance(result.trust, TrustLevel))
    )
