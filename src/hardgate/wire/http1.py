"""Reading HTTP/1.1 requests from whoever connects."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hardgate.documents.wording import quoted
from hardgate.wire.limits import Limits

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_RECEIVE_BYTES = 65_536
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(rb"/[!-~]*")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_LENGTH = re.compile(r"[0-9]{1,12}")


class Request(NamedTuple):
    """One request. Names of headers are in lower case; `path` has no query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def keeps_connection(self) -> bool:
        """Whether the client may send another request behind this one."""
        return "close" not in self.headers.get("connection", "").lower()


class BadRequest(Exception):
    """What was received is no request that this server takes; nothing behind it can be read.

    `status` is the HTTP status of the refusal, `limit` the name of the limit that was reached.
    """

    def __init__(self, status: int, message: str, limit: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.limit = limit


class RequestReader:
    """Reads one request after the other from a connection.

    `receive(size)` returns at most `size` bytes and none at the end; `send` writes bytes. What
    they raise passes through.
    """

    def __init__(
        self, receive: Callable[[int], bytes], send: Callable[[bytes], None], limits: Limits
    ) -> None:
        self._receive = receive
        self._send = send
        self._limits = limits
        self._buffer = bytearray()

    def next(self) -> Request | None:
        """The next request, None at the end of the connection. Raises BadRequest."""
        head = self._head()
        if head is None:
            return None
        method, target, headers = _parse_head(head)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise BadRequest(415, "the body is compressed; allowed: a body as it is")
        if headers.get("expect", "").lower() == "100-continue":
            self._send(CONTINUE)
        body = self._body(headers)
        return Request(method, target.partition("?")[0], headers, body)

    def _head(self) -> bytes | None:
        """Everything before the empty line, without it."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > self._limits.header_bytes:
                raise self._too_long_head()
            received = self._receive(_RECEIVE_BYTES)
            if not received:
                if self._buffer.strip():
                    raise BadRequest(400, "the connection ended within the headers")
                return None
            self._buffer += received
        if end > self._limits.header_bytes:
            raise self._too_long_head()
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return head

    def _too_long_head(self) -> BadRequest:
        message = f"the headers are longer than {self._limits.header_bytes} bytes"
        return BadRequest(431, message, "header_bytes")

    def _body(self, headers: Mapping[str, str]) -> bytes:
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if coding is not None:
            if length is not None:
                raise BadRequest(400, "both Content-Length and Transfer-Encoding are given")
            if coding.lower() != "chunked":
                raise BadRequest(501, f"Transfer-Encoding {quoted(coding)}; allowed: chunked")
            return self._chunks()
        if length is None:
            return b""
        if not _LENGTH.fullmatch(length):
            raise BadRequest(400, f"Content-Length {quoted(length)} is no number of bytes")
        if int(length) > self._limits.body_bytes:
            raise self._too_long_body()
        return self._exactly(int(length))

    def _chunks(self) -> bytes:
        body = bytearray()
        while True:
            size_text = self._line().partition(b";")[0].strip()
            if not _SIZE.fullmatch(size_text):
                raise BadRequest(400, "the size of a chunk is no hexadecimal number")
            size = int(size_text, 16)
            if not size:
                break
            if len(body) + size > self._limits.body_bytes:
                raise self._too_long_body()
            body += self._exactly(size)
            if self._exactly(2) != b"\r\n":
                raise BadRequest(400, "a chunk is longer than its size says")
        while self._line():
            pass  # trailers say nothing about the request
        return bytes(body)

    def _too_long_body(self) -> BadRequest:
        message = f"the body is longer than {self._limits.body_bytes} bytes"
        return BadRequest(413, message, "body_bytes")

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > self._limits.header_bytes:
                raise self._too_long_head()
            self._more()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _more(self) -> None:
        received = self._receive(_RECEIVE_BYTES)
        if not received:
            raise BadRequest(400, "the connection ended within the body")
        self._buffer += received


def _parse_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    """Method, target and headers; a repeated header is joined with commas."""
    first, *lines = head.lstrip(b"\r\n").split(b"\r\n")
    parts = first.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]):
        raise BadRequest(400, "the first line is no HTTP request")
    method, target, version = parts
    if version != b"HTTP/1.1":
        raise BadRequest(505, f"{quoted(version.decode('latin-1'))}; allowed: HTTP/1.1")
    if not _TARGET.fullmatch(target):
        found = quoted(target.decode("latin-1"))
        raise BadRequest(400, f"the target {found} is no path; this server is no proxy")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not (colon and _TOKEN.fullmatch(name) and _VALUE.fullmatch(value)):
            raise BadRequest(400, "a header is malformed")
        key, text = name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")
        if key in headers and key in ("content-length", "host", "transfer-encoding"):
            raise BadRequest(400, f"the header {key} is given twice")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    if "host" not in headers:
        raise BadRequest(400, "the header host is missing")
    return method.decode("ascii"), target.decode("ascii"), headers
