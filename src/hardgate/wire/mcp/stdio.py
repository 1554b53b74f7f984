"""A scripted MCP server as a process that an agent starts: messages on stdin, answers on stdout.

`python -m hardgate.wire.mcp.stdio FIXTURE.json --transcript FILE`. FIXTURE.json holds the server as
`setup` writes it. Every message is a line of the transcript before it is answered.
"""

import argparse
import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hardgate.fixtures.mcp_server import McpServer
from hardgate.wire.json_body import as_json
from hardgate.wire.limits import Limits
from hardgate.wire.mcp import entries
from hardgate.wire.mcp.ledger import FileLedger
from hardgate.wire.mcp.limits import LIMITS
from hardgate.wire.mcp.messages import BadMessage, read_message
from hardgate.wire.mcp.player import Player, Refused, Session, Taken, over_limit

_STDIN, _STDOUT = 0, 1
_READ_BYTES = 65_536

DONE, LIMIT_REACHED, UNUSABLE = 0, 1, 2


class _Ended(Exception):
    """The process ends with status 1; the limit is in the transcript."""


class StdioServer:
    """Serves one process of a scripted server, until stdin ends.

    `read(seconds)` returns bytes, none at the end, and raises TimeoutError; `write` takes bytes.
    """

    def __init__(
        self,
        player: Player,
        read: Callable[[float], bytes],
        write: Callable[[bytes], None],
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self._player = player
        self._read = read
        self._write = write
        self._limits = limits
        self._clock = clock
        self._session = Session()

    def run(self) -> int:
        """Answer message after message; the status of the process."""
        try:
            for line in self._lines():
                if line.strip() and not self._answer(line):
                    return LIMIT_REACHED
        except _Ended:
            return LIMIT_REACHED
        except BrokenPipeError:
            return DONE  # the agent reads no more
        except OSError as error:
            print(f"the transcript: {error.strerror}", file=sys.stderr)
            return UNUSABLE
        return DONE

    def _lines(self) -> Iterator[bytes]:
        """The lines that come in; one without an end is one, too."""
        deadline = self._clock() + self._limits.wall_seconds
        buffer = bytearray()
        while True:
            try:
                received = self._read(max(deadline - self._clock(), 0.0))
            except TimeoutError:
                raise self._ended("wall_seconds", 0) from None
            buffer += received
            *lines, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest)
            for line in [*lines, rest] if not received else lines:
                if len(line) > self._limits.body_bytes:
                    raise self._ended("body_bytes", len(line))
                yield line
            if len(buffer) > self._limits.body_bytes:
                raise self._ended("body_bytes", len(buffer))
            if not received:
                return

    def _ended(self, limit: str, size_bytes: int) -> _Ended:
        """Record a limit behind which nothing more is read."""
        taken = self._player.refuse(self._session, over_limit(limit), size_bytes)
        if taken is not None and taken.answer is not None:
            self._send(taken.answer)
        return _Ended()

    def _answer(self, line: bytes) -> bool:
        """Answer one message; whether the process goes on."""
        taken: Taken | None
        try:
            message = read_message(line, self._limits)
        except BadMessage as problem:
            refused = Refused(problem.code, str(problem), problem.rule, id=problem.id)
            taken = self._player.refuse(self._session, refused, len(line))
        else:
            taken = self._player.take(self._session, message, len(line))
        if taken is None or taken.entry.outcome == entries.DISCONNECTED:
            return False
        if taken.answer is not None:
            self._send(taken.answer)
        return True

    def _send(self, answer: dict[str, Any]) -> None:
        self._write(as_json(answer).encode() + b"\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program: 0 at the end of stdin, 1 at a limit or a disconnect, 2 if it cannot serve."""
    parser = argparse.ArgumentParser(prog="python -m hardgate.wire.mcp.stdio")
    parser.add_argument("fixture", help="the scripted server, as JSON")
    parser.add_argument("--transcript", required=True, help="the file that messages are added to")
    options = parser.parse_args(arguments)
    try:
        server = McpServer.model_validate_json(Path(options.fixture).read_bytes())
        ledger = FileLedger(options.transcript)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return UNUSABLE
    except ValidationError as error:
        print(
            f"{options.fixture}: {error.error_count()} mistakes; no server",
            file=sys.stderr,
        )
        return UNUSABLE
    player = Player(server, ledger, LIMITS)
    return StdioServer(player, _read, _write, LIMITS, time.monotonic).run()


def _read(seconds: float) -> bytes:
    if not select.select([_STDIN], [], [], seconds)[0]:
        raise TimeoutError
    return os.read(_STDIN, _READ_BYTES)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(_STDOUT, data) :]


if __name__ == "__main__":
    sys.exit(main())
