"""Server-sent events, and the pieces in which a text is streamed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hardgate.wire.json_body import as_json

OPENING = "opening"
TEXT = "text"
CLOSING = "closing"

# Small enough that nearly every text and every argument text comes in several pieces.
PIECE_CHARACTERS = 12


class Event(NamedTuple):
    """One event of a stream: its bytes, and whether it precedes, carries or follows the text."""

    stage: str
    data: bytes


def named_event(stage: str, payload: Mapping[str, Any]) -> Event:
    """An event that carries the name of its payload's type."""
    return Event(stage, f"event: {payload['type']}\ndata: {as_json(payload)}\n\n".encode())


def plain_event(stage: str, payload: Mapping[str, Any]) -> Event:
    """An event without a name."""
    return Event(stage, f"data: {as_json(payload)}\n\n".encode())


def broken(event: Event) -> bytes:
    """The event with its JSON cut in the middle."""
    head, _, data = event.data.partition(b"data: ")
    return head + b"data: " + data[: len(data) // 2].rstrip() + b"\n\n"


def pieces(text: str) -> list[str]:
    """The pieces in which a text is streamed, in order; none for an empty text."""
    return [text[at : at + PIECE_CHARACTERS] for at in range(0, len(text), PIECE_CHARACTERS)]
