"""What is sent back for one request, down to how it ends."""

from typing import NamedTuple

COMPLETE = "complete"
CUT = "cut"
STALL = "stall"

_REASONS = {
    200: "OK",
    202: "Accepted",
    204: "No Content",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
    529: "Site is overloaded",
}


class Reply(NamedTuple):
    """A response. Without a `status` nothing at all is sent.

    `pieces` are sent one by one in chunked coding; a reply that is not streamed is one piece.
    `missing_bytes` is how many bytes of a reply that is not streamed are announced and never
    sent. `ending` is what follows the last piece: the regular end (`complete`), the end of the
    connection (`cut`), or silence and then the end of the connection (`stall`). The reply begins
    after `delay_seconds`.
    """

    status: int | None
    headers: tuple[tuple[str, str], ...] = ()
    pieces: tuple[bytes, ...] = ()
    streamed: bool = False
    missing_bytes: int = 0
    ending: str = COMPLETE
    delay_seconds: float = 0.0


def without_body(reply: Reply) -> Reply:
    """The reply to a HEAD request: what would be sent is only announced."""
    size = sum(len(piece) for piece in reply.pieces)
    return reply._replace(pieces=(), missing_bytes=size)


def head_bytes(reply: Reply, *, close: bool) -> bytes:
    """The status line and the headers of a reply."""
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status or 0, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if reply.streamed:
        lines.append("transfer-encoding: chunked")
    else:
        size = sum(len(piece) for piece in reply.pieces) + reply.missing_bytes
        lines.append(f"content-length: {size}")
    if close:
        lines.append("connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def body_pieces(reply: Reply) -> list[bytes]:
    """The pieces as they are sent, the end of the chunked coding included where it is regular."""
    if not reply.streamed:
        return list(reply.pieces)
    chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in reply.pieces]
    return [*chunks, b"0\r\n\r\n"] if reply.ending == COMPLETE else chunks
