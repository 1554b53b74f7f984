"""Scripts and a raw client for the tests that talk to a scripted provider over its sockets."""

import json
import socket
from contextlib import contextmanager

from hardgate.fixtures.model_script import load_script
from hardgate.wire.limits import Limits
from hardgate.wire.provider import ScriptedProvider

FINAL = "  - {kind: final, text: 17 multiplied by 23 is 391.}\n"
CALLS = """\
  - kind: tool_calls
    text: Let me see.
    calls:
      - {call_id: call_1, name: math.multiply, arguments: {a: 17, b: 23}}
      - {call_id: call_2, name: math.multiply, arguments: {a: 1, b: 391}}
"""


def error_turn(fields):
    return f"  - {{kind: error, {fields}}}\n"


def script_of(turns):
    return load_script("evals/fixtures/models/x.yaml", f"turns:\n{turns}".encode())


@contextmanager
def serving(turns, **limits):
    """A provider that serves some turns."""
    with ScriptedProvider(script_of(turns), Limits(**limits)) as provider:
        yield provider


def rules(provider):
    """The names of the rules that were broken."""
    return [violation.rule for _, violation in provider.transcript.violations]


def statuses(provider):
    return [exchange.status for exchange in provider.transcript.exchanges]


QUESTION = {"model": "m", "messages": [{"role": "user", "content": "What is 17 * 23?"}]}


def request_bytes(body=QUESTION, path="/v1/chat/completions", connection="keep-alive"):
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\n"
    head += f"Connection: {connection}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


class RawClient:
    """One connection, used byte by byte."""

    def __init__(self, provider, timeout=20):
        port = int(provider.url.rpartition(":")[2])
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def all(self):
        """Everything until the server closes the connection."""
        while received := self.socket.recv(65_536):
            self._buffer += received
        data, self._buffer = self._buffer, b""
        return data

    def ended(self):
        """Whether the connection ends without an answer. The system resets a connection that the
        server had not accepted yet, or whose request it had not read."""
        try:
            return self.all() == b""
        except ConnectionResetError:
            return True

    def until(self, end):
        """Everything up to some bytes."""
        while end not in self._buffer:
            received = self.socket.recv(65_536)
            assert received, self._buffer
            self._buffer += received
        found, _, self._buffer = self._buffer.partition(end)
        return found + end

    def response(self):
        """The status and the body of one response that is not streamed."""
        head = self.until(b"\r\n\r\n").decode()
        size = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        while len(self._buffer) < size:
            self._buffer += self.socket.recv(65_536)
        body, self._buffer = self._buffer[:size], self._buffer[size:]
        return int(head.split(" ")[1]), body
