"""What an agent reports about itself: JSON lines on a descriptor (docs/reference/agent-report.md).

Every line stands for itself. A line that breaks the protocol is told as a problem and left out;
the others count, in the order in which they were written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class ReportedCapabilities(NamedTuple):
    """What the agent promises to report completely: any of `events`, `effects` and `labels`."""

    line: int
    reports: tuple[str, ...]


class ReportedEvent(NamedTuple):
    """Something that happened in the agent; `event` is a dotted name."""

    line: int
    event: str
    payload: Mapping[str, Any]


class ReportedEffect(NamedTuple):
    """The watermark of a call: written right before its effect, so that it may have happened."""

    line: int
    call_id: str
    tool: str


class ReportedLabel(NamedTuple):
    """The labels of one piece of the conversation; `private` is None where the agent left it out.

    `call_id` says of which call, where the piece belongs to one.
    """

    line: int
    item: str
    trust: str
    call_id: str | None = None
    private: bool | None = None


class ReportedAnswer(NamedTuple):
    """The answer that the agent declares; the last one counts."""

    line: int
    text: str


Report = ReportedCapabilities | ReportedEvent | ReportedEffect | ReportedLabel | ReportedAnswer
