"""One connection over a pair of sockets: what the peer did is done before the server looks."""

import json
import socket
import threading
import time

import pytest

from hardgate.wire.connection import Connection
from hardgate.wire.limits import Limits
from tests.unit.hardgate.wire.samples import CHAT, question, service_of

FINAL = "  - {kind: final, text: It is 3.}\n"


def request_bytes(connection, **fields):
    data = json.dumps(question(CHAT, **fields)).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\n"
    return f"{head}Connection: {connection}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def serve(ours):
    """Serve one end of a pair to its end."""
    service = service_of(FINAL)
    deadline = time.monotonic() + 60
    Connection(ours, service, Limits(), time.monotonic, deadline, threading.Event()).serve()
    (exchange,) = service.transcript.exchanges
    return exchange


@pytest.mark.parametrize("stream", [False, True])
def test_a_peer_that_is_there_has_the_whole_answer(stream):
    peer, ours = socket.socketpair()
    with peer, ours:
        peer.sendall(request_bytes("close", stream=stream))
        assert serve(ours).delivered is True
        assert peer.recv(65_536).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("stream", [False, True])
def test_a_peer_that_has_gone_has_no_answer(stream):
    peer, ours = socket.socketpair()
    with peer, ours:
        peer.sendall(request_bytes("close", stream=stream))
        peer.shutdown(socket.SHUT_WR)
        assert serve(ours).delivered is False


def test_a_peer_that_was_cut_off_is_no_error():
    peer, ours = socket.socketpair()
    with ours:
        peer.sendall(request_bytes("keep-alive"))
        peer.close()
        assert serve(ours).delivered is False
