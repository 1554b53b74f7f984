"""Runs an agent as a process, within limits, and ends everything it started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hardgate.subjects.command.report import Report

REPORT_VARIABLE = "HARDGATE_REPORT_FD"


class Launch(NamedTuple):
    """How to start an agent.

    `argv[0]` is a path, relative to `directory`, or a name that is looked up on the PATH of
    `environment`. `directory` is the agent's working directory. `environment` is all that the agent
    gets, plus HARDGATE_REPORT_FD with `report`. `output_limit_bytes` holds for stdout and stderr
    each.
    """

    argv: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]
    stdin: bytes = b""
    wall_seconds: float = 60.0
    output_limit_bytes: int = 1 << 20
    report: bool = True


class Ended(NamedTuple):
    """An agent that ran and whose processes are gone.

    `exit_code` is None if a signal ended it, and `signal` is None if none did. `limits_hit` says
    why it was ended early: wall_seconds, stdout_bytes, stderr_bytes, report_bytes, or the text that
    `stop` gave. `left_behind` counts its processes that were alive after it had ended; they were
    killed. `report_problems` are the lines that broke the protocol, for people.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    limits_hit: tuple[str, ...]
    left_behind: int
    reports: tuple[Report, ...]
    report_problems: tuple[str, ...]


class NotStarted(Exception):
    """The agent could not be started; the text says why and names no more than its argv[0].

    `reason_code`: agent.missing, agent.is_directory, agent.not_executable, agent.exec_format,
    agent.bad_interpreter, agent.bad_directory, agent.bad_argument, agent.too_long or
    agent.not_started.
    """

    def __init__(self, reason_code: str, text: str) -> None:
        super().__init__(text)
        self.reason_code = reason_code
        self.text = text


def run(launch: Launch, stop: Callable[[], str | None] | None = None) -> Ended:
    """Run the agent to its end, or to a limit; none of its processes is alive afterwards.

    `stop` is asked every 20 ms while the agent runs; a text ends the agent and is kept in
    `limits_hit`. Raises NotStarted.
    """
    raise NotImplementedError


def printable(data: bytes, limit_characters: int) -> str:
    """`data` as text for a message: UTF-8, everything that is not printable escaped, then cut."""
    raise NotImplementedError
