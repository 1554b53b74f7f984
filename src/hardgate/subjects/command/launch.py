"""How an agent is started, and what keeps it from starting."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import NamedTuple

from hardgate.documents.wording import quoted


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


def program_of(launch: Launch) -> str:
    """The absolute path of the agent's program. Raises NotStarted."""
    name = launch.argv[0] if launch.argv else ""
    _check_texts(launch, name)
    directory = os.path.abspath(launch.directory)
    if not os.path.isdir(directory):
        message = "the folder that the agent should be started in is missing or no folder"
        raise NotStarted("agent.bad_directory", message)
    folders = [""] if "/" in name else os.get_exec_path(launch.environment)
    candidates = [os.path.join(directory, folder, name) for folder in folders]
    files = [path for path in candidates if os.path.isfile(path)]
    for path in files:
        if os.access(path, os.X_OK):
            return path
    where = "at that path" if "/" in name else "on the PATH that the agent gets"
    if files:
        message = f"found {quoted(name)}, which is not executable; allowed: an executable file"
        raise NotStarted("agent.not_executable", message)
    if any(map(os.path.isdir, candidates)):
        message = f"found {quoted(name)}, which is a folder; allowed: an executable file"
        raise NotStarted("agent.is_directory", message)
    if any(map(os.path.exists, candidates)):
        message = f"found {quoted(name)}, which is no file; allowed: an executable file"
        raise NotStarted("agent.not_executable", message)
    raise NotStarted("agent.missing", f"found {quoted(name)}, but there is no such file {where}")


def _check_texts(launch: Launch, name: str) -> None:
    if not name:
        raise NotStarted("agent.bad_argument", "found no program; allowed: a path or a name")
    for part in (*launch.argv, launch.directory, *launch.environment.values()):
        if not _can_be_passed(part):
            message = "found an argument or variable with a character that no program can be given"
            raise NotStarted("agent.bad_argument", f"{message}; allowed: none such as NUL")
    for variable in launch.environment:
        if not variable or "=" in variable or not _can_be_passed(variable):
            message = f"found the variable {quoted(variable)}; allowed: a name without = and NUL"
            raise NotStarted("agent.bad_argument", message)


def _can_be_passed(part: str) -> bool:
    try:
        return b"\0" not in os.fsencode(part)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def refusal(name: str, number: int) -> NotStarted:
    """What the kernel's refusal of an executable file means."""
    found = f"found {quoted(name)}, "
    if number == errno.ENOEXEC:
        message = "which is no program of this system; allowed: one, or a script with a line #!"
        return NotStarted("agent.exec_format", found + message)
    if number == errno.ENOENT:
        message = "whose interpreter (the line #!) or loader is missing; allowed: one that exists"
        return NotStarted("agent.bad_interpreter", found + message)
    if number == errno.EACCES:
        message = "which, or whose interpreter, may not be executed; allowed: an executable file"
        return NotStarted("agent.not_executable", found + message)
    if number == errno.E2BIG:
        message = "with arguments and variables that are longer than the system takes"
        return NotStarted("agent.too_long", found + message)
    return NotStarted("agent.not_started", f"{found}which did not start: {os.strerror(number)}")
