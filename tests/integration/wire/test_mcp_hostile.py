"""Bytes that no SDK sends, to the sockets and to the process of a scripted MCP server."""

import json
import signal
import subprocess
from types import SimpleNamespace

import pytest

from hardgate.fixtures.mcp_server import load_mcp_server
from hardgate.wire.mcp import rules
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.server import ScriptedMcpServer
from hardgate.wire.mcp.setup import prepare
from tests.integration.wire.clients import RawClient

SERVER = """\
server_id: notes
transport: TRANSPORT
tools:
  - {name: read, input_schema: {type: object}, replies: [{default: true, content: hello}]}
"""
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BEGIN = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def server_of(transport):
    text = SERVER.replace("TRANSPORT", transport)
    return load_mcp_server("evals/fixtures/mcp/notes.yaml", text.encode())


def post(body, *more, path="/mcp"):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [
        f"POST {path} HTTP/1.1",
        "Host: h",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(data)}",
        *more,
    ]
    return "\r\n".join([*head, "", ""]).encode() + data


class Http:
    """A server, and raw connections to it."""

    def __init__(self, **limits):
        self.server = ScriptedMcpServer(server_of("http"), LIMITS._replace(**limits))

    def __enter__(self):
        self.server.start()
        self.root = SimpleNamespace(url=self.server.url.removesuffix("/mcp"))
        return self

    def __exit__(self, *_):
        self.server.stop()

    def connect(self):
        return RawClient(self.root)

    def alive(self):
        """Whether a well-behaved client is still served."""
        with self.connect() as client:
            client.send(post(BEGIN))
            return client.response()[0] == 200

    @property
    def rules(self):
        """What was broken, but for the reply that nobody used."""
        found = [finding.rule for finding in self.server.results().findings()]
        assert found.pop() == rules.REPLY_UNUSED
        return found


GARBAGE = [
    (b"\x00\x01\x02\r\n\r\n", 400, rules.HTTP_MALFORMED),
    (b"GET /mcp\r\n\r\n", 400, rules.HTTP_MALFORMED),
    (b"POST /mcp HTTP/1.0\r\nHost: h\r\n\r\n", 505, rules.HTTP_MALFORMED),
    (b"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400, rules.HTTP_MALFORMED),
    (b"POST /mcp HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", 431, rules.LIMIT),
    (post(b"", "Content-Length: 7"), 400, rules.HTTP_MALFORMED),
    (post(b"x").replace(b"Length: 1\r\n", b"Length: 99999999999\r\n"), 413, rules.LIMIT),
]


@pytest.mark.parametrize(("data", "status", "rule"), GARBAGE)
def test_bytes_that_are_no_http(data, status, rule):
    with Http() as http:
        with http.connect() as client:
            client.send(data)
            assert client.response()[0] == status
        assert http.alive()
    assert http.rules == [rule]


BODIES = [
    (b"\xff\xfe", rules.JSON_MALFORMED),
    (b'{"a":' * 200_000, rules.JSON_MALFORMED),
    (b"[" * 500_000, rules.MESSAGE_MALFORMED),
    (b'{"a":' * 65 + b"1" + b"}" * 65, rules.JSON_MALFORMED),
    (b'{"a": [' + b"1," * 100_001 + b"1]}", rules.JSON_MALFORMED),
    (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"}', rules.JSON_MALFORMED),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"m" * 900_000 + b'"}', rules.MESSAGE_MALFORMED),
]


@pytest.mark.parametrize(("body", "rule"), BODIES)
def test_bodies_that_are_no_message(body, rule):
    with Http() as http:
        with http.connect() as client:
            client.send(post(body))
            status, said = client.response()
            assert status == 400
            assert len(said) < 400
        assert http.alive()
    assert http.rules == [rule]


def test_a_body_that_is_too_large():
    with Http(body_bytes=1_000) as http:
        with http.connect() as client:
            client.send(post(b" " * 1_001))
            assert client.response()[0] == 413
        assert http.alive()
    assert http.rules == [rules.LIMIT]
    assert http.server.results().limits_hit == ("body_bytes",)


def test_a_chunked_body_that_is_too_large():
    with Http(body_bytes=1_000) as http, http.connect() as client:
        head = post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        client.send(head + b"1f4\r\n" + b" " * 500 + b"\r\n1f5\r\n" + b" " * 501)
        assert client.response()[0] == 413
    assert http.rules == [rules.LIMIT]


def test_a_request_that_never_ends():
    with Http(read_seconds=0.2) as http:
        with http.connect() as client:
            client.send(post(PING)[:-3])
            assert client.response()[0] == 408
        assert http.alive()
    assert http.rules == [rules.LIMIT]
    assert http.server.results().limits_hit == ("read_seconds",)


def test_too_many_connections():
    with Http(connections=2) as http, http.connect() as one, http.connect() as other:
        for client in (one, other):
            client.send(post(PING))
            assert client.response()[0] == 400
        with http.connect() as third:
            assert third.all().startswith(b"HTTP/1.1 503 ")
    assert "connections" in http.server.results().limits_hit


def test_a_flood_of_requests_is_kept_up_to_a_limit():
    with Http(requests=5) as http, http.connect() as client:
        statuses = []
        for _ in range(20):
            client.send(post(PING))
            statuses.append(client.response()[0])
    assert statuses == [400] * 6 + [429] * 14
    results = http.server.results()
    assert len(results.entries) == 6
    assert http.rules == [rules.SESSION_MISSING] * 5 + [rules.LIMIT]
    assert results.limits_hit == ("requests",)


def test_a_client_that_resets_in_the_middle():
    with Http() as http:
        for size in (1, 40, 150):
            with http.connect() as client:
                client.send(post(PING)[:size])
        assert http.alive()


class Process:
    """A server of stdio, as an agent starts it."""

    def __init__(self, folder):
        self.setup = prepare([server_of("stdio")], str(folder))
        self.setup.start()
        with open(self.setup.config_path, encoding="utf-8") as file:
            own = json.load(file)["mcpServers"]["notes"]
        self.argv = [own["command"], *own["args"]]

    def run(self, data):
        """The status and the answers of a process that gets some bytes."""
        ended = subprocess.run(self.argv, input=data, capture_output=True, timeout=120, check=False)
        assert b"Traceback" not in ended.stderr
        return ended.returncode, [json.loads(one) for one in ended.stdout.splitlines()]

    @property
    def rules(self):
        found = [finding.rule for finding in self.setup.results().findings]
        assert found.pop() == rules.REPLY_UNUSED
        return found


def lines(*messages):
    return b"".join(json.dumps(one).encode() + b"\n" for one in messages)


@pytest.mark.parametrize(("body", "rule"), BODIES)
def test_lines_that_are_no_message(tmp_path, body, rule):
    process = Process(tmp_path)
    status, answers = process.run(body + b"\n" + lines(PING))
    assert status == 0
    assert ["error" in answer for answer in answers] == [True, False]
    assert process.rules == [rule]


def test_a_line_that_is_too_long(tmp_path):
    process = Process(tmp_path)
    status, answers = process.run(b"x" * (LIMITS.body_bytes + 1) + b"\n" + lines(PING))
    assert (status, len(answers), process.rules) == (1, 1, [rules.LIMIT])
    assert process.setup.results().limits_hit == ("body_bytes",)


def test_random_bytes(tmp_path):
    process = Process(tmp_path)
    data = bytes((number * number + number // 7) % 256 for number in range(50_000))
    status, answers = process.run(data + b"\n" + lines(BEGIN))
    assert status == 0
    assert answers[-1]["result"]["serverInfo"]["name"] == "notes"
    assert set(process.rules) == {rules.JSON_MALFORMED}


def test_a_process_that_is_killed_with_a_message_half_sent(tmp_path):
    process = Process(tmp_path)
    with subprocess.Popen(process.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        started.stdin.write(lines(BEGIN) + b'{"jsonrpc": "2.0", "id"')
        started.stdin.flush()
        assert started.stdout.readline()
        started.send_signal(signal.SIGKILL)
    assert started.returncode == -signal.SIGKILL
    assert [one.method for one in process.setup.results().servers[0].entries] == ["initialize"]
    assert process.rules == []
    # The next process knows of the first.
    process.run(lines(BEGIN))
    assert [one.connect for one in process.setup.results().servers[0].entries] == [1, 2]


def test_an_agent_that_writes_into_the_transcript(tmp_path):
    process = Process(tmp_path)
    (tmp_path / "notes.transcript.jsonl").write_bytes(b"forged\n")
    status, answers = process.run(lines(BEGIN))
    assert (status, "result" in answers[0]) == (0, True)
    assert process.rules == [rules.TRANSCRIPT_BROKEN]
