"""What the scripted MCP servers of a case saw, and what is wrong with it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hardgate.documents.wording import shown
from hardgate.fixtures.mcp_server import McpServer, action_trigger
from hardgate.wire.mcp import rules
from hardgate.wire.mcp.content import content_text
from hardgate.wire.mcp.entries import Entry, ToolCall, counted

_ONE_OR_MORE = "1 or more"


class Finding(NamedTuple):
    """One broken rule, or something of the script that never happened.

    `message_number` is the number of the message in the transcript of the server, None for what
    is only known at the end. `expected` and `received` are plain data.
    """

    server_id: str
    rule: str
    message: str
    message_number: int | None = None
    expected: Any = None
    received: Any = None


class SeenCall(NamedTuple):
    """One call of a tool and its answer. Both texts are None where no reply answered."""

    server_id: str
    ordinal: int
    tool: str
    arguments: Mapping[str, Any]
    text: str | None
    error: str | None


class ServerResults(NamedTuple):
    """What one server saw. `broken_lines` counts lines of its transcript that cannot be read."""

    server: McpServer
    entries: tuple[Entry, ...]
    limits_hit: tuple[str, ...]
    broken_lines: int = 0

    @property
    def calls(self) -> tuple[SeenCall, ...]:
        """The calls of its tools, in order."""
        return tuple(self._seen(one.call) for one in self.entries if one.call is not None)

    def findings(self) -> Iterator[Finding]:
        """Everything that is wrong: first what the agent did, then what never happened."""
        server_id = self.server.server_id
        for entry in self.entries:
            for violation in entry.violations:
                yield Finding(
                    server_id,
                    violation.rule,
                    violation.message,
                    entry.number,
                    violation.expected,
                    violation.received,
                )
        if self.broken_lines:
            message = f"{self.broken_lines} lines of the transcript are no entries"
            yield Finding(server_id, rules.TRANSCRIPT_BROKEN, message, None, 0, self.broken_lines)
        yield from _left_over(self.server, self.entries)

    def to_data(self) -> dict[str, Any]:
        """Maps, lists, texts, numbers, booleans and nulls only."""
        return {
            "server_id": self.server.server_id,
            "transport": self.server.transport,
            "entries": [entry.to_data() for entry in self.entries],
            "calls": [call._asdict() for call in self.calls],
            "limits_hit": list(self.limits_hit),
            "findings": [finding._asdict() for finding in self.findings()],
        }

    def _seen(self, call: ToolCall) -> SeenCall:
        text = error = None
        if call.reply is not None:
            tool = next(one for one in self.server.tools if one.name == call.tool)
            reply = tool.replies[call.reply]
            text, error = (None if reply.content is None else content_text(reply)), reply.error
        server_id = self.server.server_id
        return SeenCall(server_id, call.ordinal, call.tool, call.arguments, text, error)


class McpResults(NamedTuple):
    """What all servers of a case saw, in the order of the case."""

    servers: tuple[ServerResults, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong; empty for a good run."""
        return tuple(finding for one in self.servers for finding in one.findings())

    @property
    def calls(self) -> tuple[SeenCall, ...]:
        """Every call of a tool, server by server; in order within a server."""
        return tuple(call for one in self.servers for call in one.calls)

    @property
    def limits_hit(self) -> tuple[str, ...]:
        """The limits that were reached."""
        return tuple(dict.fromkeys(name for one in self.servers for name in one.limits_hit))

    def to_data(self) -> list[Mapping[str, Any]]:
        """One map for each server, of plain data."""
        return [one.to_data() for one in self.servers]


def _left_over(server: McpServer, entries: tuple[Entry, ...]) -> Iterator[Finding]:
    """Replies that were not used as often as they have to be, and actions that never happened."""
    counts = counted(entries)
    for tool in server.tools:
        for index, reply in enumerate(tool.replies):
            used = counts.uses.get((tool.name, index), 0)
            if used and (reply.times is None or used == reply.times):
                continue
            wanted = reply.times or _ONE_OR_MORE
            message = f"reply {index + 1} of {tool.name} answered {used} calls; expected {wanted}"
            yield Finding(server.server_id, rules.REPLY_UNUSED, message, None, wanted, used)
    for index, action in enumerate(server.script):
        if index not in counts.actions:
            trigger, ordinal = action_trigger(action)
            seen = counts.calls if action.at_connect is None else counts.connects
            message = (
                f"{action.action} at {trigger} {shown(ordinal)} never happened; there were {seen}"
            )
            yield Finding(server.server_id, rules.ACTION_UNFIRED, message, None, ordinal, seen)
