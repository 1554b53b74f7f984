"""A scripted MCP server, and an agent of a few lines that talks to it without a transport."""

import json

from hardgate.fixtures.mcp_server import load_mcp_server
from hardgate.wire.mcp.ledger import MemoryLedger
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.messages import read_message
from hardgate.wire.mcp.player import Player, Session
from hardgate.wire.mcp.results import ServerResults

TEXT = """\
server_id: notes
transport: http
tools:
  - name: read
    description: Reads a note.
    input_schema: {type: object, properties: {path: {type: string}}}
    replies:
      - {when: {path: a}, times: 1, error: the disk is on fire}
      - {when: {path: a}, content: Buy milk.}
      - {when: {path: b}, content: [{type: text, text: one}, {type: text, text: two}]}
  - {name: erase, input_schema: {type: object}}
"""
CLIENT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def server_of(text=TEXT):
    return load_mcp_server("evals/fixtures/mcp/notes.yaml", text.encode())


class Agent:
    """One connection to a player; more of them share it."""

    def __init__(self, text=TEXT, other=None, **limits):
        self.server = other.server if other else server_of(text)
        self.ledger = other.ledger if other else MemoryLedger()
        self.limits = LIMITS._replace(**limits)
        self.player = other.player if other else Player(self.server, self.ledger, self.limits)
        self.session = Session()
        self.last_id = 0

    def send(self, message):
        """What is taken of a message, given as a map or as bytes."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.player.take(self.session, read_message(data, self.limits), len(data))

    def ask(self, method, params=None, **more):
        """The answer to a request, None where there is none."""
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method}
        taken = self.send(request | ({} if params is None else {"params": params}) | more)
        return taken and taken.answer

    def tell(self, method):
        return self.send({"jsonrpc": "2.0", "method": method})

    def open(self):
        """The connection, as the protocol begins one."""
        assert "result" in self.ask("initialize", CLIENT)
        self.tell("notifications/initialized")
        return self

    def call(self, name, arguments=None):
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}})

    @property
    def rules(self):
        """The rules that were broken, in order."""
        return [one.rule for entry in self.ledger.entries for one in entry.violations]

    @property
    def violations(self):
        return [one for entry in self.ledger.entries for one in entry.violations]

    def results(self):
        counts = self.ledger.counts
        return ServerResults(self.server, self.ledger.entries, tuple(counts.limits))


def text_of(answer):
    """The texts of the answer to a call."""
    return [block["text"] for block in answer["result"]["content"]]


def line(method, id_=None, **params):
    """A message on a line, for stdio."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message | ({} if id_ is None else {"id": id_})).encode() + b"\n"


BEGIN = line("initialize", 1, **CLIENT) + line("notifications/initialized")
