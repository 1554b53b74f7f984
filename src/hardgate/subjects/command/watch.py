"""Watches one agent: feeds it, reads it and ends it at a limit. See `process.run`."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from hardgate.subjects.command.launch import Launch, NotStarted, refusal
from hardgate.subjects.command.process_tree import become_subreaper, children, kill_all
from hardgate.subjects.command.report import REPORT_LIMIT_BYTES, Report, parse_reports
from hardgate.subjects.command.supervisor import (
    GRACE_SECONDS,
    KILL_SECONDS,
    REPORT_DESCRIPTOR,
    SETTLE_SECONDS,
    byte_text,
)

REPORT_VARIABLE = "HARDGATE_REPORT_FD"
POLL_SECONDS = 0.02

_PIECE_BYTES = 1 << 16
# When all have ended nothing holds the pipes, unless some could not be ended.
_DRAIN_SECONDS = 1.0
# How long the supervisor may take to end the agent; it takes that long only if it was stopped.
_END_SECONDS = GRACE_SECONDS + SETTLE_SECONDS + 2 * KILL_SECONDS + 10.0
_SOURCE_ROOT = str(Path(__file__).parents[3])
_SUPERVISOR = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from hardgate.subjects.command.supervisor import main; main()"
)


class Ended(NamedTuple):
    """An agent that ran and whose processes are gone.

    `exit_code` is None if a signal ended it, and `signal` is None if none did. `limits_hit` says
    why it was ended early: wall_seconds, stdout_bytes, stderr_bytes, report_bytes, or the text that
    `stop` gave; `supervisor_killed` if it killed or stopped what watches it, and
    `processes_remain` if some of its processes could not be ended. `left_behind` counts its
    processes that were alive after it had ended; they were killed. `report_problems` are the lines
    that broke the protocol, for people.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    limits_hit: tuple[str, ...]
    left_behind: int
    reports: tuple[Report, ...]
    report_problems: tuple[str, ...]


class _Stream:
    """What comes out of one pipe, up to a limit in bytes; `over` says that there was more."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.data = bytearray()
        self.over = False

    def take(self, piece: bytes) -> None:
        """Keep what is within the limit."""
        room = self.limit_bytes - len(self.data)
        self.data += piece[:room]
        self.over = len(piece) > room


class Watch:
    """One agent and its supervisor, from the start to the end; used in `with`."""

    def __init__(self, launch: Launch, program: str, stop: Callable[[], str | None] | None) -> None:
        self._failed_errno: int | None = None
        self._launch = launch
        self._program = program
        self._stop = stop
        self._streams = {
            "stdout_bytes": _Stream(launch.output_limit_bytes),
            "stderr_bytes": _Stream(launch.output_limit_bytes),
        }
        if launch.report:
            self._streams["report_bytes"] = _Stream(REPORT_LIMIT_BYTES)
        self._stdin = memoryview(launch.stdin)
        self._said = b""
        self._running = True
        self._started = False
        self._supervised = True
        # Until the agent has started, this is the supervisor's time.
        self._until = time.monotonic() + _END_SECONDS
        self._reason: str | None = None
        self._exit: tuple[int, int] | None = None
        self._left: tuple[int, int] | None = None
        self._lost = False

    def __enter__(self) -> Self:
        """Start the supervisor, which starts the agent. Raises NotStarted."""
        self._selector = selectors.DefaultSelector()
        self._pipes: set[int] = set()
        self._full: list[int] = []
        self._order: int | None = None
        order, said = -1, -1
        theirs: dict[str, int] = {}
        try:
            order, self._order = os.pipe()
            pipe, said = os.pipe()
            self._register(pipe, selectors.EVENT_READ, self._hear)
            theirs["stdin"], pipe = os.pipe()
            self._register(pipe, selectors.EVENT_WRITE, self._feed)
            for name, stream in self._streams.items():
                pipe, theirs[name.removesuffix("_bytes")] = os.pipe()
                self._register(pipe, selectors.EVENT_READ, partial(self._read, name, stream))
            if sys.platform == "linux":
                # What is left of an agent that kills its supervisor comes to this process.
                become_subreaper()
                self._others = children(os.getpid())
            self._supervisor = _start_supervisor(order, said, tuple(theirs.values()))
        except OSError as error:
            self._close_all()
            raise _no_supervisor(str(error.strerror)) from None
        finally:
            for number in {order, said, *theirs.values()} - {-1}:
                os.close(number)
        self._send_order(theirs)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what is still there, whatever happened."""
        self._end(None)
        try:
            self._supervisor.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode and sys.platform == "linux":
            killed, remaining = kill_all(None, KILL_SECONDS, self._others)
            self._left = self._left or (killed, remaining)
        self._close_all()

    def until_ended(self) -> None:
        """Until the agent and all that came of it have ended and everything is read."""
        while self._pipes and (self._supervised or self._until > time.monotonic()):
            patience = self._until - time.monotonic()
            if self._running and self._stop is not None:
                patience = min(patience, POLL_SECONDS)
            for key, _ in self._selector.select(max(patience, 0.0)):
                key.data(key.fd)
            self._look()

    def ended(self) -> Ended:
        """What came of the agent, once it has ended. Raises NotStarted."""
        if self._failed_errno is not None:
            raise refusal(self._launch.argv[0], self._failed_errno)
        if not self._started:
            raise _no_supervisor("it ended early")
        limits = [name for name, stream in self._streams.items() if stream.over]
        if self._reason is not None:
            limits = [self._reason]
        left, remaining = self._left or (0, 1)
        if self._lost:
            limits.append("supervisor_killed")
        if remaining:
            limits.append("processes_remain")
        code, number = self._exit or (-1, -1)
        report = self._streams.get("report_bytes")
        reports, problems = parse_reports(bytes(report.data) if report else b"")
        return Ended(
            exit_code=None if code < 0 else code,
            signal=None if number < 0 else number,
            stdout=bytes(self._streams["stdout_bytes"].data),
            stderr=bytes(self._streams["stderr_bytes"].data),
            limits_hit=tuple(limits),
            left_behind=left,
            reports=reports,
            report_problems=problems,
        )

    def _send_order(self, theirs: Mapping[str, int]) -> None:
        environment = dict(self._launch.environment)
        if self._launch.report:
            environment[REPORT_VARIABLE] = str(REPORT_DESCRIPTOR)
        order = {
            "argv": list(map(byte_text, self._launch.argv)),
            "program": byte_text(self._program),
            "directory": byte_text(self._launch.directory),
            "environment": {byte_text(key): byte_text(environment[key]) for key in environment},
            "descriptors": theirs,
        }
        line = memoryview(json.dumps(order).encode("ascii") + b"\n")
        with suppress(BrokenPipeError):  # that it is gone is noticed by its silence
            while line and self._order is not None:
                line = line[os.write(self._order, line) :]

    def _look(self) -> None:
        """Ask whether to end the agent."""
        if self._running:
            if time.monotonic() > self._until:
                self._end("wall_seconds")
            elif self._stop is not None:
                reason = self._stop()
                if reason is not None:
                    self._end(reason)
        elif self._supervised and time.monotonic() > self._until:
            self._supervisor.kill()
            self._unsupervised()

    def _end(self, reason: str | None) -> None:
        """End the agent, unless it has ended; the first reason is kept."""
        if self._running:
            self._running = False
            self._reason = reason
            self._until = time.monotonic() + _END_SECONDS
        if self._order is not None:
            os.close(self._order)
            self._order = None
            with suppress(ProcessLookupError):  # an agent may have stopped it, or ended it
                os.killpg(self._supervisor.pid, signal.SIGCONT)

    def _unsupervised(self) -> None:
        self._running = False
        self._supervised = False
        if self._started and self._left is None:
            self._lost = True
        self._until = time.monotonic() + _DRAIN_SECONDS

    def _feed(self, pipe: int) -> None:
        try:
            self._stdin = self._stdin[os.write(pipe, self._stdin[:_PIECE_BYTES]) :]
        except BrokenPipeError:  # the agent reads no further, which it may
            self._stdin = self._stdin[:0]
        if not self._stdin:
            self._close(pipe)

    def _read(self, name: str, stream: _Stream, pipe: int) -> None:
        piece = os.read(pipe, _PIECE_BYTES)
        stream.take(piece)
        if stream.over:
            # Left open and full: the agent is ended by its limit, and not by a broken pipe.
            self._selector.unregister(pipe)
            self._pipes.discard(pipe)
            self._full.append(pipe)
            if self._running:
                self._end(name)
        elif not piece:
            self._close(pipe)

    def _hear(self, pipe: int) -> None:
        """What the supervisor says; see there."""
        piece = os.read(pipe, _PIECE_BYTES)
        *lines, self._said = (self._said + piece).split(b"\n")
        for line in lines:
            word, *numbers = line.split()
            values = tuple(map(int, numbers))
            if word == b"started":
                self._started = True
                if self._running:
                    self._until = time.monotonic() + self._launch.wall_seconds
            elif word == b"failed":
                self._failed_errno = values[0]
            elif word == b"exited":
                self._exit = values[0], values[1]
                self._running = False
                self._until = time.monotonic() + _END_SECONDS
            elif word == b"ended":
                self._left = values[0], values[1]
            elif word == b"lost":
                self._started = self._lost = True
        if not piece:
            self._close(pipe)
            self._unsupervised()

    def _register(self, pipe: int, event: int, action: Callable[[int], None]) -> None:
        os.set_blocking(pipe, False)
        self._pipes.add(pipe)
        self._selector.register(pipe, event, action)

    def _close(self, pipe: int) -> None:
        self._pipes.discard(pipe)
        self._selector.unregister(pipe)
        os.close(pipe)

    def _close_all(self) -> None:
        for pipe in tuple(self._pipes):
            self._close(pipe)
        while self._full:
            os.close(self._full.pop())
        if self._order is not None:
            os.close(self._order)
            self._order = None
        self._selector.close()


def _start_supervisor(order: int, said: int, inherited: tuple[int, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", _SUPERVISOR, _SOURCE_ROOT],
        stdin=order,
        stdout=said,
        pass_fds=inherited,
        start_new_session=True,
    )


def _no_supervisor(why: str) -> NotStarted:
    return NotStarted("agent.not_started", f"the supervisor did not start the agent: {why}")
