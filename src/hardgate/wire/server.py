"""The listening side of a scripted server: one thread for each connection."""

import select
import socket
import threading
from collections.abc import Callable

from hardgate.wire.connection import Connection
from hardgate.wire.exchange import Service
from hardgate.wire.limits import Limits
from hardgate.wire.reply import Reply, head_bytes

_BACKLOG = 64
_JOIN_SECONDS = 10.0
_BUSY_SECONDS = 1.0
_BUSY = Reply(503, (("retry-after", "1"),))


class Server:
    """Accepts connections from `start` to `stop` and hands their requests to a service.

    `clock` tells seconds that never run backwards.
    """

    def __init__(self, service: Service, limits: Limits, clock: Callable[[], float]) -> None:
        self._service = service
        self._limits = limits
        self._clock = clock
        self._listener: socket.socket | None = None
        self._wake, self._woken = socket.socketpair()
        self._deadline = 0.0
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._stopping = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, name="wire-accept", daemon=True)
        self.port = 0

    def start(self, host: str) -> None:
        """Listen on a free port of `host`. Raises OSError."""
        self._listener = socket.create_server((host, 0), backlog=_BACKLOG)
        self.port = self._listener.getsockname()[1]
        self._deadline = self._clock() + self._limits.wall_seconds
        self._acceptor.start()

    def stop(self) -> None:
        """Close the listener and every connection; returns when their threads have ended."""
        self._stopping.set()
        self._service.close()
        self._wake.close()
        if self._listener is not None:
            self._acceptor.join(_JOIN_SECONDS)
            self._listener.close()
        self._woken.close()
        with self._lock:
            connections = dict(self._connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it has ended by itself
        for thread in connections.values():
            thread.join(_JOIN_SECONDS)

    def _accept(self) -> None:
        assert self._listener is not None
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while not self._stopping.is_set():
            poll.poll()
            if self._stopping.is_set():
                return
            try:
                peer, _ = self._listener.accept()
            except OSError:
                continue  # the client was gone before it was accepted
            self._begin(peer)

    def _begin(self, peer: socket.socket) -> None:
        thread = threading.Thread(
            target=self._serve, args=(peer,), name="wire-connection", daemon=True
        )
        with self._lock:
            begun = len(self._connections) < self._limits.connections and _started(thread)
            if begun:
                self._connections[peer] = thread
        if not begun:
            self._turn_away(peer)

    def _turn_away(self, peer: socket.socket) -> None:
        self._service.hit("connections")
        with peer:
            try:
                peer.settimeout(_BUSY_SECONDS)
                peer.sendall(head_bytes(_BUSY, close=True))
            except OSError:
                return

    def _serve(self, peer: socket.socket) -> None:
        try:
            with peer:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                Connection(
                    peer,
                    self._service,
                    self._limits,
                    self._clock,
                    self._deadline,
                    self._stopping,
                ).serve()
        finally:
            with self._lock:
                del self._connections[peer]


def _started(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except RuntimeError:
        return False  # the system has no thread left
    return True
