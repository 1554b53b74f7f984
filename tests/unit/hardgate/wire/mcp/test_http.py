"""Streamable HTTP: sessions, headers and statuses, without sockets."""

import base64
import json

import pytest

from hardgate.wire.http1 import BadRequest, Request
from hardgate.wire.mcp import rules
from hardgate.wire.mcp.http import McpHttpService
from hardgate.wire.reply import CUT
from tests.unit.hardgate.wire.mcp.samples import CLIENT, META, TEXT, Agent

HEADERS = {
    "host": "h",
    "content-type": "application/json; charset=utf-8",
    "accept": "application/json, text/event-stream",
}


class Client:
    """Posts messages, with the headers of one session."""

    def __init__(self, text=TEXT, answers="json", **limits):
        self.agent = Agent(text, **limits)
        agent = self.agent
        self.service = McpHttpService(agent.player, agent.ledger, agent.limits, answers)
        self.headers = dict(HEADERS)
        self.last_id = 0

    def post(self, body, verb="POST", path="/mcp", **headers):
        """The reply to a request; a header that is None is left out."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value is not None}
        return self.service.answer(Request(verb, path, sent, data)).reply

    def ask(self, method, params=None, **headers):
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params or {}}
        return self.post(message, **headers)

    def tell(self, method):
        return self.post({"jsonrpc": "2.0", "method": method})

    def open(self):
        reply = self.ask("initialize", CLIENT)
        self.headers["mcp-session-id"] = dict(reply.headers)["mcp-session-id"]
        self.headers["mcp-protocol-version"] = "2025-11-25"
        assert self.tell("notifications/initialized").status == 202
        return self

    @property
    def rules(self):
        return self.agent.rules


def value(reply):
    """The JSON of a reply."""
    assert dict(reply.headers)["content-type"] == "application/json"
    return json.loads(b"".join(reply.pieces))


CALL = {"name": "read", "arguments": {"path": "b"}}


def test_a_session():
    client = Client().open()
    assert client.headers["mcp-session-id"] == "session-1"
    reply = client.ask("tools/call", CALL)
    assert reply.status == 200
    assert value(reply)["result"]["isError"] is False
    assert client.rules == []
    assert [entry.connection for entry in client.agent.ledger.entries] == [1, 1, 1]


def test_answers_as_events():
    client = Client(answers="sse").open()
    reply = client.ask("ping")
    assert (reply.status, reply.streamed) == (200, True)
    assert dict(reply.headers)["content-type"] == "text/event-stream"
    (event,) = reply.pieces
    assert event.startswith(b"event: message\ndata: {")
    assert event.endswith(b"}\n\n")
    assert value(client.post(b"{"))["error"]["code"] == rules.PARSE_ERROR
    assert value(enveloped(client, "ping"))["error"]["code"] == rules.METHOD_NOT_FOUND


def test_two_sessions_have_their_own_ids():
    client = Client().open()
    client.last_id = 0
    client.headers = dict(HEADERS)
    client.open()
    assert client.headers["mcp-session-id"] == "session-2"
    assert client.rules == []
    assert client.agent.ledger.counts.connections == 2


def test_delete_ends_a_session():
    client = Client().open()
    assert client.post(b"", verb="DELETE").status == 204
    reply = client.ask("ping")
    assert (reply.status, value(reply)["error"]["message"]) == (404, "the session has ended")
    assert client.post(b"", verb="DELETE").status == 404
    assert client.rules == []


def test_get_offers_no_stream():
    client = Client().open()
    reply = client.post(b"", verb="GET")
    assert (reply.status, dict(reply.headers)["allow"]) == (405, "POST, DELETE")
    assert client.rules == []


JSON_ONLY = "application/json"
UNFIT = [
    ({"path": "/"}, 404, rules.PATH_UNKNOWN),
    ({"path": "/sse", "verb": "GET"}, 404, rules.PATH_UNKNOWN),
    ({"verb": "PUT"}, 405, rules.METHOD_WRONG),
    ({"content_type": None}, 415, rules.HEADER_WRONG),
    ({"content_type": "text/plain"}, 415, rules.HEADER_WRONG),
    ({"accept": None}, 406, rules.HEADER_WRONG),
    ({"accept": JSON_ONLY}, 406, rules.HEADER_WRONG),
    ({"mcp_session_id": None}, 400, rules.SESSION_MISSING),
    ({"mcp_session_id": "session-2"}, 404, rules.SESSION_UNKNOWN),
    ({"mcp_session_id": None, "verb": "DELETE"}, 400, rules.SESSION_MISSING),
    ({"mcp_session_id": "x" * 300, "verb": "DELETE"}, 404, rules.SESSION_UNKNOWN),
    ({"mcp_protocol_version": "2025-06-18"}, 400, rules.HEADER_WRONG),
    ({"mcp_protocol_version": "2026-07-28"}, 400, rules.PARAMS_MALFORMED),
]


@pytest.mark.parametrize(("changes", "status", "rule"), UNFIT)
def test_a_request_that_is_refused_for_its_head(changes, status, rule):
    client = Client().open()
    reply = client.ask("ping", **changes)
    assert (reply.status, client.rules) == (status, [rule])
    assert len(value(reply)["error"]["message"]) < 200


def test_any_form_of_accept():
    client = Client().open()
    assert client.ask("ping", accept="*/*").status == 200
    assert client.ask("ping", accept="text/event-stream;q=0.9, Application/JSON").status == 200
    assert client.ask("ping", mcp_protocol_version=None).status == 200


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", rules.JSON_MALFORMED),
        (b"\x00\x01", rules.JSON_MALFORMED),
        (b"[]", rules.MESSAGE_MALFORMED),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', rules.MESSAGE_MALFORMED),
    ],
)
def test_a_body_that_is_no_message(body, rule):
    client = Client().open()
    assert client.post(body).status == 400
    assert client.rules == [rule]


def test_a_response_is_refused():
    client = Client().open()
    assert client.post({"jsonrpc": "2.0", "id": 1, "result": {}}).status == 400
    assert client.rules == [rules.RESPONSE_UNEXPECTED]


def test_an_initialize_that_fails_begins_no_session():
    client = Client()
    reply = client.ask("initialize", {})
    assert "mcp-session-id" not in dict(reply.headers)
    assert client.open().headers["mcp-session-id"] == "session-1"


ACTIONS = "script: [{at_call: 1, action: unauthorized}, {at_call: 2, action: disconnect}]\n"


def test_actions():
    client = Client(TEXT + ACTIONS).open()
    reply = client.ask("tools/call", CALL)
    assert (reply.status, dict(reply.headers)["www-authenticate"]) == (401, "Bearer")
    reply = client.ask("tools/call", CALL)
    assert (reply.status, reply.ending) == (None, CUT)
    # The session has gone with the connection.
    assert client.ask("tools/call", CALL).status == 404
    client.headers = dict(HEADERS)
    assert client.open().ask("tools/call", CALL).status == 200
    assert client.rules == []


def enveloped(client, method, headers=None, meta=META, **params):
    own = {"mcp_protocol_version": "2026-07-28", "mcp_method": method}
    if "name" in params:
        own["mcp_name"] = params["name"]
    return client.ask(method, {"_meta": meta, **params}, **(own | (headers or {})))


def test_requests_without_a_session():
    client = Client()
    assert value(enveloped(client, "server/discover"))["result"]["capabilities"] == {"tools": {}}
    reply = enveloped(client, "tools/call", **CALL)
    assert (reply.status, value(reply)["result"]["isError"]) == (200, False)
    client.last_id = 0  # other clients count their own ids
    assert enveloped(client, "tools/list").status == 200
    assert client.post({"jsonrpc": "2.0", "method": "notifications/cancelled"},
                       mcp_protocol_version="2026-07-28").status == 202  # fmt: skip
    assert client.rules == []
    assert {entry.connection for entry in client.agent.ledger.entries} == {0}


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp_protocol_version": None},
        {"mcp_protocol_version": "2025-11-25"},
        {"mcp_method": None},
        {"mcp_method": "tools/list"},
        {"mcp_name": None},
        {"mcp_name": "erase"},
        {"mcp_name": "=?base64?!?="},
    ],
)
def test_headers_that_say_another_thing_than_the_message(headers):
    client = Client()
    reply = enveloped(client, "tools/call", headers, **CALL)
    assert (reply.status, value(reply)["error"]["code"]) == (400, rules.HEADER_MISMATCH)
    assert client.rules == [rules.HEADER_WRONG]


def test_a_name_in_base64():
    client = Client()
    name = "=?base64?" + base64.b64encode("lés".encode()).decode() + "?="
    reply = enveloped(client, "tools/call", {"mcp_name": name}, name="lés")
    assert (reply.status, client.rules) == (400, [rules.TOOL_UNKNOWN])


@pytest.mark.parametrize(
    ("method", "status", "code"),
    [("ping", 404, rules.METHOD_NOT_FOUND), ("tools/call", 400, rules.INVALID_PARAMS)],
)
def test_the_status_tells_the_code_where_the_request_stands_for_itself(method, status, code):
    reply = enveloped(Client(), method)
    assert (reply.status, value(reply)["error"]["code"]) == (status, code)
    client = Client().open()
    assert client.ask("tools/call", {}).status == 200


def test_a_version_of_tomorrow():
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    client = Client()
    reply = enveloped(client, "server/discover", {"mcp_protocol_version": "2099-01-01"}, meta)
    assert (reply.status, value(reply)["error"]["code"]) == (400, rules.UNSUPPORTED_VERSION)
    assert client.rules == []


def test_bytes_that_are_no_request():
    client = Client()
    reply = client.service.refuse(BadRequest(400, "a header is malformed")).reply
    assert (reply.status, client.rules) == (400, [rules.HTTP_MALFORMED])
    reply = client.service.refuse(BadRequest(413, "too long", "body_bytes")).reply
    assert (reply.status, client.rules[1:]) == (413, [rules.LIMIT])
    client.service.hit("connections")
    client.service.hit("connections")
    assert client.service.limits_hit == ("body_bytes", "connections")


def test_a_limit_of_messages():
    client = Client(requests=3).open()
    assert "result" in value(client.ask("ping"))
    assert "error" in value(client.ask("ping"))
    assert client.ask("ping").status == 429
    assert client.post(b"{").status == 429
    assert client.post(b"", path="/x").status == 429
    assert client.rules == [rules.LIMIT]


def test_nothing_is_answered_after_the_end():
    client = Client().open()
    client.service.close()
    assert client.ask("ping").status == 503
