"""The smallest useful piece of an event log: what happened around the divergence."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardgate.cases.record import ObservedEvent, Record
from hardgate.verdicts.text import one_line, shortened

BEFORE = 2
AFTER = 1
LINES = 40
VALUE_CHARACTERS = 60
STDERR_CHARACTERS = 120
LINE_CHARACTERS = 240


def excerpt(record: Record, around: Sequence[int]) -> str:
    """The events next to those at the indexes `around`, one a line; gaps are counted.

    Empty when there is nothing to show. Texts in it are safe to print.
    """
    wanted = sorted(
        {
            index
            for center in around
            for index in range(center - BEFORE, center + AFTER + 1)
            if 0 <= index < len(record.events)
        }
    )
    lines: list[str] = []
    following = 0
    for index in wanted[:LINES]:
        lines += _gap(index - following)
        lines.append(_line(record.events[index]))
        following = index + 1
    if not wanted:
        return ""
    return "\n".join(lines + _gap(len(record.events) - following))


def _gap(count: int) -> list[str]:
    return [f"  ... {count} {'event' if count == 1 else 'events'}"] if count else []


def _line(event: ObservedEvent) -> str:
    text = f"  {event.sequence} {event.type} {_facts(event.payload)}"
    return one_line(text.rstrip(), LINE_CHARACTERS)


def _facts(payload: Mapping[str, Any]) -> str:
    """The payload's plain values; long hashes and generated ids say nothing to a reader."""
    return " ".join(
        f"{name}={shortened(name, _plain(value).rstrip(), _most(name))}"
        for name, value in payload.items()
        if isinstance(value, (str, int, float, bool))
        and not name.endswith("_sha256")
        and (not name.endswith("_id") or name == "call_id")
    )


def _plain(value: str | float) -> str:
    """A value as cases and the timeline write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _most(name: str) -> int:
    return STDERR_CHARACTERS if name == "stderr" else VALUE_CHARACTERS
