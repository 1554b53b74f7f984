"""The scripted MCP servers of one case: started, told to the agent, and asked afterwards.

with prepare(servers, folder) as mcp:
    run_agent(environment=mcp.environment, ...)
mcp.results().findings
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from hardgate.fixtures.mcp_server import McpServer
from hardgate.wire.limits import Limits
from hardgate.wire.mcp.ledger import read_entries
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.results import McpResults, ServerResults
from hardgate.wire.mcp.server import ScriptedMcpServer

CONFIG_FILE = "mcp.json"
CONFIG_VARIABLE = "HARDGATE_MCP_CONFIG"
PLACEHOLDER = "mcp_config"

# What the agent starts: SDKs pass on few variables, so the program brings its own search path.
_LAUNCHER = """\
import sys

sys.path[:] = {path!r}
from hardgate.wire.mcp.stdio import main

sys.exit(main([{fixture!r}, "--transcript", {transcript!r}]))
"""


class McpSetup:
    """The servers of one case, from `start` to `stop`, or within `with`.

    `environment` is what the agent's environment gets, `config_path` the file that tells it of the
    servers. `results` may be asked at any time and is complete once the agent has ended.
    """

    def __init__(
        self,
        servers: Sequence[McpServer],
        directory: str,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self._servers = tuple(servers)
        self._directory = os.path.abspath(directory)
        self._http = {
            server.server_id: ScriptedMcpServer(server, limits, clock)
            for server in servers
            if server.transport == "http"
        }
        self.config_path = os.path.join(self._directory, CONFIG_FILE)

    @property
    def environment(self) -> dict[str, str]:
        """The variable that names the configuration file."""
        return {CONFIG_VARIABLE: self.config_path}

    @property
    def placeholders(self) -> dict[str, str]:
        """What the placeholders of a command stand for."""
        return {PLACEHOLDER: self.config_path}

    def start(self) -> None:
        """Start what listens and write the configuration. Raises OSError, and then has stopped."""
        try:
            for http in self._http.values():
                http.start()
            config = {server.server_id: self._told(server) for server in self._servers}
            self._write(CONFIG_FILE, json.dumps({"mcpServers": config}, indent=2) + "\n")
        except OSError:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop what listens. What the agent started belongs to the agent's process tree."""
        for http in self._http.values():
            http.stop()

    def __enter__(self) -> "McpSetup":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def results(self) -> McpResults:
        """What the servers saw, and what is wrong with it. Raises OSError."""
        return McpResults(tuple(map(self._seen, self._servers)))

    def _told(self, server: McpServer) -> Mapping[str, Any]:
        """What the configuration says of a server; the files of one that the agent starts."""
        if server.transport == "http":
            return {"type": "http", "url": self._http[server.server_id].url}
        fixture = self._write(f"{server.server_id}.json", server.model_dump_json())
        program = _LAUNCHER.format(
            path=[os.path.abspath(one) for one in sys.path],
            fixture=fixture,
            transcript=self._transcript(server),
        )
        launcher = self._write(f"{server.server_id}.py", program)
        return {
            "type": "stdio",
            "command": sys.executable,
            "args": ["-I", "-B", launcher],
        }

    def _seen(self, server: McpServer) -> ServerResults:
        if server.transport == "http":
            return self._http[server.server_id].results()
        entries, broken = read_entries(self._transcript(server))
        limits = dict.fromkeys(entry.limit for entry in entries if entry.limit is not None)
        return ServerResults(server, entries, tuple(limits), broken)

    def _transcript(self, server: McpServer) -> str:
        return os.path.join(self._directory, f"{server.server_id}.transcript.jsonl")

    def _write(self, name: str, text: str) -> str:
        path = os.path.join(self._directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def prepare(
    servers: Sequence[McpServer],
    directory: str,
    limits: Limits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> McpSetup:
    """Servers for one run of an agent; their files go into `directory`, an empty folder.

    The folder lies outside the agent's workspace. Raises ValueError for two of one server_id.
    """
    ids = [server.server_id for server in servers]
    if len(set(ids)) < len(ids):
        raise ValueError(f"a server_id stands twice: {', '.join(sorted(ids))}")
    return McpSetup(servers, directory, limits, clock)
