"""What a scripted MCP server saw of an agent, message by message, and what it counts."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hardgate.wire.checks import Violation

# What became of a message.
ANSWERED = "answered"
ACCEPTED = "accepted"
REFUSED = "refused"
DISCONNECTED = "disconnected"
UNAUTHORIZED = "unauthorized"

# A kind beside those of messages: what is no message, or a request of HTTP that carries none.
OTHER = "other"


class ToolCall(NamedTuple):
    """One call of a tool: its ordinal, from 1, and the index of the reply that answered, if any."""

    ordinal: int
    tool: str
    arguments: Mapping[str, Any]
    reply: int | None = None


class Entry(NamedTuple):
    """One message and what became of it.

    `number` counts messages from 1, `connection` connections from 1; it is 0 for a request over
    HTTP that belongs to none. `connect` is the ordinal of a message that opens a connection.
    `action` is the index of the script's action that happened instead of an answer.
    """

    number: int
    connection: int
    kind: str
    outcome: str
    size_bytes: int
    method: str = ""
    id: int | str | None = None
    connect: int | None = None
    call: ToolCall | None = None
    action: int | None = None
    code: int | None = None
    limit: str | None = None
    violations: tuple[Violation, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Maps, lists, texts, numbers, booleans and nulls only."""
        return {
            **self._asdict(),
            "call": self.call and self.call._asdict(),
            "violations": [violation._asdict() for violation in self.violations],
        }


def entry_from_data(data: Mapping[str, Any]) -> Entry:
    """The entry that `to_data` gave. Raises TypeError, KeyError or ValueError for other data."""
    call = None if data["call"] is None else ToolCall(**data["call"])
    violations = tuple(Violation(**one) for one in data["violations"])
    return Entry(**{**data, "call": call, "violations": violations})


class Counts:
    """What the entries up to now add up to."""

    def __init__(self) -> None:
        self.messages = 0
        self.message_bytes = 0
        self.connections = 0
        self.connects = 0
        self.calls = 0
        self.uses: dict[tuple[str, int], int] = {}
        self.actions: set[int] = set()
        self.limits: list[str] = []

    def add(self, entry: Entry) -> None:
        """Count one more entry."""
        self.messages += 1
        self.message_bytes += entry.size_bytes
        self.connections = max(self.connections, entry.connection)
        self.connects += entry.connect is not None
        if entry.call is not None:
            self.calls += 1
            if entry.call.reply is not None:
                key = entry.call.tool, entry.call.reply
                self.uses[key] = self.uses.get(key, 0) + 1
        if entry.action is not None:
            self.actions.add(entry.action)
        if entry.limit is not None and entry.limit not in self.limits:
            self.limits.append(entry.limit)


def counted(entries: Iterable[Entry]) -> Counts:
    """What some entries add up to."""
    counts = Counts()
    for entry in entries:
        counts.add(entry)
    return counts
