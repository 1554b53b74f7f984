"""JSON-RPC messages: what is one, and why something is none."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.wire.mcp import messages, rules
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.messages import BadMessage, Incoming, read_message

GOOD = [
    ({"id": 1, "method": "ping"}, Incoming("request", "ping", 1, {})),
    ({"id": "a", "method": "x", "params": {"a": 1}}, Incoming("request", "x", "a", {"a": 1})),
    ({"id": 0, "method": "ping", "extra": []}, Incoming("request", "ping", 0, {})),
    ({"method": "notifications/x"}, Incoming("notification", "notifications/x", None, {})),
    ({"id": 3, "result": {}}, Incoming("response", "", 3, {})),
    ({"id": 3, "error": {"code": 1}}, Incoming("response", "", 3, {})),
]


@pytest.mark.parametrize(("value", "message"), GOOD)
def test_messages(value, message):
    data = json.dumps({"jsonrpc": "2.0", **value}).encode()
    assert read_message(data, LIMITS) == message
    assert read_message(b" \t" + data + b"\r", LIMITS) == message


MALFORMED, UNREADABLE = rules.MESSAGE_MALFORMED, rules.JSON_MALFORMED
BAD = [
    (b"", UNREADABLE, "no JSON"),
    (b"{", UNREADABLE, "no JSON"),
    (b"\xff{}", UNREADABLE, "no UTF-8"),
    (b"7", UNREADABLE, "expected an object"),
    (b'{"jsonrpc": "2.0", "id": NaN}', UNREADABLE, "NaN is no JSON"),
    (b'{"id": 1, "id": 2}', UNREADABLE, "twice"),
    (b'{"jsonrpc": "2.0", "method": "\\ud800"}', UNREADABLE, "surrogate"),
    (b'{"a": ' * 70 + b"1" + b"}" * 70, UNREADABLE, "deeper than 64"),
    (b'{"a":' * 100_000, UNREADABLE, "deeper than 64"),
    (b'  [{"jsonrpc": "2.0"}]', MALFORMED, "batches"),
    (b"{}", MALFORMED, "jsonrpc: received null, expected '2.0'"),
    (b'{"jsonrpc": 2.0, "method": "a"}', MALFORMED, "jsonrpc: received 2.0"),
    (b'{"jsonrpc": "2.0"}', MALFORMED, "none of method, result or error"),
    (b'{"jsonrpc": "2.0", "id": 1, "result": 1, "error": 1}', MALFORMED, "none of"),
    (b'{"jsonrpc": "2.0", "result": {}}', MALFORMED, "none of"),
    (b'{"jsonrpc": "2.0", "id": null, "method": "a"}', MALFORMED, "id: received null"),
    (b'{"jsonrpc": "2.0", "id": true, "method": "a"}', MALFORMED, "id: received true"),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "a"}', MALFORMED, "id: received 1.5"),
    (b'{"jsonrpc": "2.0", "id": 9223372036854775808, "method": "a"}', MALFORMED, "id: received"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": ""}', MALFORMED, "method: received ''"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', MALFORMED, "method: received 5"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "a", "params": []}', MALFORMED, "params: received"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "a", "params": null}', MALFORMED, "params: received"),
]


@pytest.mark.parametrize(("data", "rule", "said"), BAD)
def test_what_is_no_message(data, rule, said):
    with pytest.raises(BadMessage, match=said) as refused:
        read_message(data, LIMITS)
    assert refused.value.rule == rule
    code = rules.PARSE_ERROR if rule == UNREADABLE else rules.INVALID_REQUEST
    assert refused.value.code == code


def test_the_id_of_a_bad_request_is_told():
    with pytest.raises(BadMessage) as refused:
        read_message(b'{"jsonrpc": "1.0", "id": "seven", "method": "a"}', LIMITS)
    assert refused.value.id == "seven"


def test_long_ids_and_methods():
    for size, good in ((messages.LONGEST_ID, True), (messages.LONGEST_ID + 1, False)):
        for key in ("id", "method"):
            value = {"jsonrpc": "2.0", "id": 1, "method": "m", key: "x" * size}
            data = json.dumps(value).encode()
            if good:
                read_message(data, LIMITS)
                continue
            with pytest.raises(BadMessage) as refused:
                read_message(data, LIMITS)
            assert len(str(refused.value)) < 200


@settings(derandomize=True, deadline=None, database=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_a_message_or_refused(data):
    try:
        message = read_message(data, LIMITS)
    except BadMessage as refused:
        assert refused.rule in (MALFORMED, UNREADABLE)
    else:
        assert message.kind in ("request", "notification", "response")
