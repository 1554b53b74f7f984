"""Results of tool calls that are on record, to be given again instead of working."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from agent_core.domain.tools import ToolResult


class RecordedFailure(NamedTuple):
    """The call failed, for this reason of the table."""

    reason_code: str


RecordedResults: TypeAlias = Mapping[tuple[str, str], ToolResult | RecordedFailure]
"""By the tool's name and the hash of the normalized arguments."""
