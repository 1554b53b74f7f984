"""One connection of an agent: reads its requests and sends the replies, to the byte."""

import select
import socket
import threading
from collections.abc import Callable

from hardgate.wire.exchange import Served, Service
from hardgate.wire.http1 import BadRequest, Request, RequestReader
from hardgate.wire.limits import Limits
from hardgate.wire.reply import COMPLETE, STALL, Reply, body_pieces, head_bytes, without_body

_LINGER_SECONDS = 1.0
_LINGER_BYTES = 4 * 1024 * 1024


class Connection:
    """Serves one connection until one of the two sides ends it.

    `deadline` is the time, by `clock`, at which it ends at the latest, and `stopping` is set once
    the server stops.
    """

    def __init__(
        self,
        peer: socket.socket,
        service: Service,
        limits: Limits,
        clock: Callable[[], float],
        deadline: float,
        stopping: threading.Event,
    ) -> None:
        self._peer = peer
        self._service = service
        self._limits = limits
        self._clock = clock
        self._deadline = deadline
        self._stopping = stopping
        # Until when the request that has begun to arrive has to be there.
        self._request_deadline: float | None = None

    def serve(self) -> None:
        """Answer request after request. A peer that is gone is no error."""
        reader = RequestReader(self._receive, self._peer.sendall, self._limits)
        try:
            while (request := self._next(reader)) is not None:
                served = self._service.answer(request)
                if request.method == "HEAD":
                    served = served._replace(reply=without_body(served.reply))
                if not (self._deliver(served) and request.keeps_connection):
                    return
        except BadRequest as error:
            self._deliver(self._service.refuse(error), close=True)
            self._linger()
        except OSError:
            return

    def _next(self, reader: RequestReader) -> Request | None:
        self._request_deadline = None
        return reader.next()

    def _receive(self, size: int) -> bytes:
        """Bytes of a request: the first may take as long as the server runs, the others not."""
        until = self._deadline if self._request_deadline is None else self._request_deadline
        try:
            self._peer.settimeout(max(until - self._clock(), 0.001))
            received = self._peer.recv(size)
        except TimeoutError:
            if self._request_deadline is not None:
                message = f"the request took more than {self._limits.read_seconds} seconds"
                raise BadRequest(408, message, "read_seconds") from None
            self._service.hit("wall_seconds")
            raise
        if self._request_deadline is None:
            latest = self._clock() + self._limits.read_seconds
            self._request_deadline = min(latest, self._deadline)
        return received

    def _deliver(self, served: Served, *, close: bool = False) -> bool:
        """Send a reply; whether the connection is fit for another one."""
        delivered = False
        try:
            delivered = self._send(served.reply, close=close)
        finally:
            if served.number is not None:
                self._service.finished(served.number, delivered)
        return delivered and served.reply.ending == COMPLETE

    def _send(self, reply: Reply, *, close: bool) -> bool:
        """Send a reply to its end, or until the peer is gone; whether it was there to the end."""
        if not self._wait(reply.delay_seconds):
            return False
        if reply.status is not None:
            head, *rest = [head_bytes(reply, close=close), *body_pieces(reply)]
            self._peer.settimeout(self._limits.read_seconds)
            self._peer.sendall(head)
            for piece in rest:
                if self._gone(0):
                    return False
                self._peer.sendall(piece)
        return reply.ending != STALL or self._wait(self._limits.stall_seconds)

    def _wait(self, seconds: float) -> bool:
        """Let time pass; False as soon as the peer or the server has gone."""
        if not seconds:
            return True
        left = self._deadline - self._clock()
        if seconds > left:
            self._service.hit("wall_seconds")
        if self._gone(min(seconds, max(left, 0.0))):
            return False
        return seconds <= left

    def _gone(self, seconds: float) -> bool:
        """Whether the peer closes the connection within some time."""
        until = self._clock() + seconds
        poll = select.poll()
        poll.register(self._peer, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return False
        if not self._peer.recv(1, socket.MSG_PEEK):
            return True
        # It has sent more than it may yet: there is nothing to see behind that.
        return self._stopping.wait(max(until - self._clock(), 0.0))

    def _linger(self) -> None:
        """Read what is under way, so that the refusal arrives before the connection is reset."""
        left = _LINGER_BYTES
        try:
            self._peer.shutdown(socket.SHUT_WR)
            self._peer.settimeout(_LINGER_SECONDS)
            while left > 0 and (received := self._peer.recv(65_536)):
                left -= len(received)
        except OSError:
            return
