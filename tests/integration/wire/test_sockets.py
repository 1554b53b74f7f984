"""The provider's sockets: bytes on the wire, limits, and peers that behave badly or go away."""

import threading
import time

import pytest

from hardgate.wire import checks
from tests.integration.wire.clients import (
    CALLS,
    FINAL,
    QUESTION,
    RawClient,
    error_turn,
    request_bytes,
    rules,
    serving,
    statuses,
)

STREAMED = {**QUESTION, "stream": True}
SLOW = "  - {kind: final, text: late, delay_seconds: 300}\n"
TOOLS = [{"type": "function", "function": {"name": "math_multiply"}}]


def test_it_listens_on_loopback_only():
    with serving(FINAL) as provider, RawClient(provider) as client:
        assert client.socket.getpeername()[0] == "127.0.0.1"
        assert provider.url.startswith("http://127.0.0.1:")


def test_many_requests_on_one_connection():
    with serving(FINAL * 3) as provider, RawClient(provider) as client:
        for _ in range(3):
            client.send(request_bytes())
            status, body = client.response()
            assert status == 200
            assert b"391" in body
    assert [one.delivered for one in provider.transcript.exchanges] == [True] * 3


def test_requests_sent_before_the_answers_are_answered_in_order():
    with serving(FINAL * 2) as provider, RawClient(provider) as client:
        client.send(request_bytes() + request_bytes({**QUESTION, "model": "second"}))
        assert b'"model": "m"' in client.response()[1]
        assert b'"model": "second"' in client.response()[1]


def test_a_connection_is_closed_if_asked():
    with serving(FINAL) as provider, RawClient(provider) as client:
        client.send(request_bytes(connection="close"))
        assert client.all().startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_stream_is_sent_in_chunks_and_ends():
    with serving(FINAL) as provider, RawClient(provider) as client:
        client.send(request_bytes(STREAMED))
        data = client.until(b"0\r\n\r\n").decode()
        head, _, body = data.partition("\r\n\r\n")
        assert "transfer-encoding: chunked" in head
        assert "content-type: text/event-stream; charset=utf-8" in head
        assert "x-request-id: req_0001" in head
        sizes = [line for line in body.split("\r\n") if line and "data: " not in line]
        events = body.split("\r\n")[1::2]
        assert [int(size, 16) for size in sizes[:-1]] == [len(one) for one in events if one]
        client.send(request_bytes(STREAMED))
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 400")


CUT = error_turn("error_class: transient, text: One moment please, after_bytes: 10")


def test_a_stream_is_cut_behind_its_text():
    with serving(CUT) as provider, RawClient(provider) as client:
        client.send(request_bytes(STREAMED))
        data = client.all()
        assert b'"content": "One moment"' in data
        assert not data.endswith(b"0\r\n\r\n")


def test_a_body_is_cut_behind_its_text():
    with serving(CUT) as provider, RawClient(provider) as client:
        client.send(request_bytes())
        assert client.all().endswith(b'"content": "One moment')


@pytest.mark.parametrize("body", [QUESTION, STREAMED])
def test_a_timeout_is_silence_until_its_limit(body):
    turn = error_turn("error_class: timeout")
    with serving(turn, stall_seconds=0.2) as provider, RawClient(provider) as client:
        client.send(request_bytes(body))
        assert client.all() == b""
    assert (rules(provider), provider.turns_consumed) == ([], 1)


def test_a_stream_stalls_behind_its_text():
    turn = error_turn("error_class: timeout, text: One moment, after_bytes: 3")
    with serving(turn, stall_seconds=0.2) as provider, RawClient(provider) as client:
        client.send(request_bytes(STREAMED))
        assert client.until(b'"content": "One"')
        assert b"0\r\n\r\n" not in client.all()


def test_a_delay_comes_before_the_first_byte():
    with serving(SLOW) as provider, RawClient(provider, timeout=0.2) as client:
        client.send(request_bytes())
        with pytest.raises(TimeoutError):
            client.socket.recv(1)
        assert provider.turns_consumed == 1


@pytest.mark.parametrize("body", [QUESTION, STREAMED])
def test_an_agent_that_leaves_before_its_answer_is_answered_by_the_next_turn(body):
    body = {**body, "tools": TOOLS}
    slow = CALLS + "    delay_seconds: 300\n"
    with serving(slow + FINAL) as provider:
        with RawClient(provider) as client:
            client.send(request_bytes(body))
            while not provider.turns_consumed:
                time.sleep(0.01)
        with RawClient(provider) as client:
            client.send(request_bytes({**body, "stream": False}))
            status, answer = client.response()
            assert (status, b"391" in answer) == (200, True)
    assert [one.delivered for one in provider.transcript.exchanges] == [False, True]
    assert rules(provider) == []


def test_stopping_ends_every_wait():
    with serving(SLOW + FINAL) as provider:
        slow, idle, waiting = RawClient(provider), RawClient(provider), RawClient(provider)
        slow.send(request_bytes())
        while not provider.turns_consumed:
            time.sleep(0.01)
        waiting.send(request_bytes())
    for client in (slow, idle):
        with client:
            assert client.ended()
    waiting.socket.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("wire-")]


def test_the_server_ends_at_its_wall():
    with serving(SLOW, wall_seconds=0.2) as provider:
        with RawClient(provider) as idle, RawClient(provider) as slow:
            slow.send(request_bytes())
            assert slow.ended()
            assert idle.ended()
    assert provider.transcript.limits_hit == ("wall_seconds",)


def test_a_request_that_comes_too_slowly_is_refused():
    with serving(FINAL, read_seconds=0.2) as provider, RawClient(provider) as client:
        client.send(request_bytes()[:20])
        assert client.all().startswith(b"HTTP/1.1 408")
    assert rules(provider) == [checks.LIMIT]
    assert provider.transcript.limits_hit == ("read_seconds",)


def test_an_agent_that_reads_nothing_is_given_up():
    """More than the buffers of both sides hold."""
    long = "  - {kind: final, text: '" + "x" * 60_000 + "'}\n"
    with serving(long * 16, read_seconds=0.2) as provider, RawClient(provider) as client:
        client.send(request_bytes(STREAMED) * 16)
        while all(one.delivered is not False for one in provider.transcript.exchanges):
            time.sleep(0.02)
        assert len(provider.transcript.exchanges) < 16


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\n\r\n", 505),
        (b"CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nA: " + b"a" * 70_000, 431),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n" + b"a" * 99_999, 413),
    ],
)
def test_what_is_no_request_is_answered_and_the_connection_closed(data, status):
    with serving(FINAL) as provider:
        with RawClient(provider) as client:
            client.send(data)
            assert client.all().startswith(f"HTTP/1.1 {status} ".encode())
        with RawClient(provider) as client:
            client.send(request_bytes())
            assert client.response()[0] == 200
    assert statuses(provider) == [status, 200]


def test_a_head_request_is_answered_without_a_body():
    with serving(FINAL) as provider, RawClient(provider) as client:
        client.send(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + request_bytes())
        assert client.until(b"\r\n\r\n").startswith(b"HTTP/1.1 404 Not Found\r\n")
        assert client.response()[0] == 200


def test_connections_beyond_the_limit_are_turned_away():
    with serving(FINAL, connections=2) as provider:
        clients = [RawClient(provider) for _ in range(3)]
        assert clients[2].all().startswith(b"HTTP/1.1 503")
        clients[0].send(request_bytes())
        assert clients[0].response()[0] == 200
        for client in clients:
            client.socket.close()
    assert provider.transcript.limits_hit == ("connections",)


def test_a_connection_that_says_nothing_is_no_request():
    with serving(FINAL) as provider:
        RawClient(provider).socket.close()
        with RawClient(provider) as client:
            client.send(request_bytes())
            client.response()
    assert len(provider.transcript.exchanges) == 1


def test_the_environment_names_the_port():
    with serving(FINAL) as provider:
        environment = provider.environment()
        assert environment["OPENAI_BASE_URL"] == f"{provider.url}/v1"
        assert environment["ANTHROPIC_BASE_URL"] == provider.url
        assert environment["NO_PROXY"] == "127.0.0.1"
        assert "sk-" not in "".join(environment.values())
