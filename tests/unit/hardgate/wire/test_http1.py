"""Requests are read to the byte, however they arrive, and nothing malformed passes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.wire.http1 import CONTINUE, BadRequest, Request, RequestReader
from hardgate.wire.limits import Limits

LIMITS = Limits(header_bytes=400, body_bytes=100)
POST = b"POST /v1/x?beta=true HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"


class Wire:
    """Gives the bytes in pieces of some size and keeps what is sent back."""

    def __init__(self, data, step=1000):
        self.data = data
        self.step = step
        self.sent = b""

    def receive(self, size):
        piece = self.data[: min(size, self.step)]
        self.data = self.data[len(piece) :]
        return piece

    def send(self, data):
        self.sent += data


def reader_of(data, step=1000):
    wire = Wire(data, step)
    return RequestReader(wire.receive, wire.send, LIMITS)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_a_request_is_read_however_it_arrives(step):
    reader = reader_of(POST + POST, step)
    for _ in range(2):
        request = reader.next()
        assert (request.method, request.path, request.body) == ("POST", "/v1/x", b"hello")
        assert request.headers == {"host": "h", "content-length": "5"}
    assert reader.next() is None


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_chunks_are_joined_and_trailers_dropped(step):
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"3;note=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n"
    reader = reader_of(head + chunks + POST, step)
    assert reader.next().body == b"abc0123456789"
    assert reader.next().body == b"hello"


def test_a_client_that_waits_is_told_to_go_on():
    wire = Wire(POST.replace(b"Host: h", b"Host: h\r\nExpect: 100-continue"))
    assert RequestReader(wire.receive, wire.send, LIMITS).next().body == b"hello"
    assert wire.sent == CONTINUE


def test_repeated_headers_are_joined_and_spaces_dropped():
    data = b"GET / HTTP/1.1\r\nHost:\t h \r\nA: 1\r\na:2\r\n\r\n"
    assert reader_of(data).next().headers == {"host": "h", "a": "1, 2"}


@pytest.mark.parametrize(
    ("connection", "kept"), [("close", False), ("Close", False), ("keep-alive", True), ("", True)]
)
def test_whether_the_connection_is_kept(connection, kept):
    assert Request("GET", "/", {"connection": connection}, b"").keeps_connection is kept


def head(*lines):
    return b"\r\n".join([*lines, b"", b""])


FIRST = b"POST / HTTP/1.1"
HOST = b"Host: h"
CHUNKED = b"Transfer-Encoding: chunked"
BAD = [
    (head(b"POST /", HOST), 400, "first line"),
    (head(b"POST  / HTTP/1.1", HOST), 400, "first line"),
    (head(b"P(ST / HTTP/1.1", HOST), 400, "first line"),
    (head(b"\x16\x03\x01\x02"), 400, "first line"),
    (head(b"POST / HTTP/1.0", HOST), 505, "allowed: HTTP/1.1"),
    (head(b"POST / HTTP/2", HOST), 505, "allowed: HTTP/1.1"),
    (head(b"GET http://h/v1 HTTP/1.1", HOST), 400, "no proxy"),
    (head(b"GET /\xff HTTP/1.1", HOST), 400, "no path"),
    (head(FIRST), 400, "host is missing"),
    (head(FIRST, HOST, HOST), 400, "given twice"),
    (head(FIRST, HOST, b" folded"), 400, "malformed"),
    (head(FIRST, HOST, b"No-Colon"), 400, "malformed"),
    (head(FIRST, HOST, b"Space : 1"), 400, "malformed"),
    (head(FIRST, HOST, b"A: \x00"), 400, "malformed"),
    (head(FIRST, HOST, b"A: b\nB: c"), 400, "malformed"),
    (head(FIRST, HOST, b"Content-Length: 5", b"Content-Length: 5"), 400, "given twice"),
    (head(FIRST, HOST, b"Content-Length: +5"), 400, "no number"),
    (head(FIRST, HOST, b"Content-Length: 5, 5"), 400, "no number"),
    (head(FIRST, HOST, b"Content-Length: 1_0"), 400, "no number"),
    (head(FIRST, HOST, b"Content-Length: 5", CHUNKED), 400, "both"),
    (head(FIRST, HOST, b"Transfer-Encoding: gzip, chunked"), 501, "allowed: chunked"),
    (head(FIRST, HOST, b"Content-Encoding: gzip"), 415, "compressed"),
    (head(FIRST, HOST, CHUNKED) + b"zz\r\n", 400, "hexadecimal"),
    (head(FIRST, HOST, CHUNKED) + b"-1\r\n", 400, "hexadecimal"),
    (head(FIRST, HOST, CHUNKED) + b"1\r\nab\r\n", 400, "longer than its size"),
    (head(FIRST, HOST, CHUNKED) + b"1\r\na", 400, "ended within the body"),
    (POST[:-1], 400, "ended within the body"),
    (POST[:30], 400, "ended within the headers"),
]


@pytest.mark.parametrize(("data", "status", "words"), BAD)
@pytest.mark.parametrize("step", [1, 1000])
def test_what_is_refused(data, status, words, step):
    with pytest.raises(BadRequest, match=words) as caught:
        reader_of(data, step).next()
    assert caught.value.status == status
    assert caught.value.limit is None


LONG = [
    (head(FIRST, HOST, b"A: " + b"a" * 400), 431, "header_bytes"),
    (FIRST + b"a" * 500, 431, "header_bytes"),
    (head(FIRST, HOST, b"Content-Length: 101"), 413, "body_bytes"),
    (head(FIRST, HOST, CHUNKED) + b"65\r\n", 413, "body_bytes"),
    (head(FIRST, HOST, CHUNKED) + b"3C\r\n" + b"a" * 60 + b"\r\n29\r\n", 413, "body_bytes"),
    (head(FIRST, HOST, CHUNKED) + b"1;" + b"a" * 500, 431, "header_bytes"),
]


@pytest.mark.parametrize(("data", "status", "limit"), LONG)
def test_what_is_too_long_is_refused_before_it_is_read(data, status, limit):
    with pytest.raises(BadRequest) as caught:
        reader_of(data, 10).next()
    assert (caught.value.status, caught.value.limit) == (status, limit)


def test_the_limits_themselves_are_allowed():
    size = LIMITS.header_bytes - len(head(FIRST, HOST, b"A: ")) + 4
    assert reader_of(head(FIRST, HOST, b"A: " + b"a" * size)).next() is not None
    body = head(FIRST, HOST, b"Content-Length: 100") + b"b" * 100
    assert len(reader_of(body).next().body) == 100


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_are_a_request_or_refused_or_nothing(data, step):
    reader = reader_of(b"POST / HTTP/1.1\r\n" + data, step)
    try:
        while (request := reader.next()) is not None:
            assert request.method
    except BadRequest as error:
        assert str(error)
