"""A scripted MCP server over streamable HTTP, served in this process on loopback."""

import time
from collections.abc import Callable
from types import TracebackType

from hardgate.fixtures.mcp_server import McpServer
from hardgate.wire.limits import Limits
from hardgate.wire.mcp.http import PATH, McpHttpService
from hardgate.wire.mcp.ledger import MemoryLedger
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.player import Player
from hardgate.wire.mcp.results import ServerResults
from hardgate.wire.server import Server

HOST = "127.0.0.1"


class ScriptedMcpServer:
    """Serves one scripted server to one agent, from `start` to `stop`, or within `with`.

    Each one serves once; afterwards `results` tells what was seen.
    """

    def __init__(
        self,
        server: McpServer,
        limits: Limits = LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._scripted = server
        self._ledger = MemoryLedger()
        player = Player(server, self._ledger, limits)
        answers = server.http_answers or "json"
        self._service = McpHttpService(player, self._ledger, limits, answers)
        self._server = Server(self._service, limits, clock)

    def start(self) -> None:
        """Listen on a free port of the loopback interface. Raises OSError."""
        self._server.start(HOST)

    def stop(self) -> None:
        """Close every connection; returns when all have ended."""
        self._server.stop()

    def __enter__(self) -> "ScriptedMcpServer":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://{HOST}:{self._server.port}{PATH}"

    def results(self) -> ServerResults:
        """What was seen up to now."""
        return ServerResults(self._scripted, self._ledger.entries, self._service.limits_hit)
