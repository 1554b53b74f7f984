"""The program between the harness and an agent: starts the agent and ends all that comes of it.

It is two processes. The inner one starts the agent and waits for it; the outer one only waits for
the inner one and takes its place should an agent kill or stop it. Both are subreapers. The harness
sends one line of JSON on stdin and closes stdin to end the agent, so that the end of the harness
ends the agent too. On stdout it is told, a line each:

    failed <errno>               the agent could not be started
    started                      it runs
    exited <code> <signal>       it has ended; one of the two is -1
    ended <left> <remaining>     so have the others: how many it had left behind, and still remain
    lost                         the inner process is gone; an `ended` follows
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import select
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from typing import Any

from hardgate.subjects.command.process_tree import (
    alive,
    become_subreaper,
    kill_all,
    send,
    wait_for_none,
)

GRACE_SECONDS = 0.5  # between SIGTERM and SIGKILL
SETTLE_SECONDS = 0.5  # for helpers that end because their agent has
KILL_SECONDS = 5.0

# The descriptor of the report, always the same: a POSIX shell takes one digit only.
REPORT_DESCRIPTOR = 3
_FREE_DESCRIPTOR = 10


def byte_text(text: str) -> str:
    """The bytes that the system has for `text`, as a text of one character each, for the order."""
    return os.fsencode(text).decode("latin-1")


def _bytes(byte_text: str) -> bytes:
    return byte_text.encode("latin-1")


def main() -> None:
    """Do what the line on stdin says."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            return  # the harness is gone
        line += piece
    start = json.loads(line)
    become_subreaper()
    inner = os.fork()
    if inner:
        _guard(inner, start["descriptors"])
        return
    code = 1
    try:
        _supervise(start)
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def _guard(inner: int, descriptors: dict[str, int]) -> None:
    """Wait for the inner process, and take its place unless it did all it had to."""
    for number in descriptors.values():
        os.close(number)
    _, status = os.waitpid(inner, os.WUNTRACED)
    if status == 0:
        return
    _tell("lost")
    if os.WIFSTOPPED(status):
        os.kill(inner, signal.SIGKILL)  # a child that is not reaped: the number is its own
        os.waitpid(inner, 0)
    left = len(alive(os.getpid()))
    _kill(None, left)


def _supervise(start: dict[str, Any]) -> None:
    become_subreaper()
    os.setpgid(0, 0)  # so that an agent that kills the group of its parent spares the outer process
    # What a crash leaves in the working directory is the agent's own doing, a core file is not.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    descriptors = _moved(start["descriptors"])
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        agent = _started(start, descriptors)
    except OSError as error:
        _tell(f"failed {error.errno}")
        return
    _tell("started")
    end = _wait(agent, woken)
    if end is None:
        _terminate(agent)
        wait_for_none(agent, GRACE_SECONDS)
    else:
        _tell(end)
        wait_for_none(agent, SETTLE_SECONDS)
    left = sum(process.pid != agent for process in alive(os.getpid()))
    if end is None:
        os.kill(agent, signal.SIGKILL)
        _tell(str(_end_of(agent, 0)))
    _kill(agent, left)


def _kill(agent: int | None, left: int) -> None:
    killed, remaining = kill_all(agent, KILL_SECONDS)
    # One that forks and ends without a pause can slip through the count, though not the killing.
    _tell(f"ended {left or min(killed, 1)} {remaining}")


def _wait(agent: int, woken: int) -> str | None:
    """How the agent ended by itself; None if the harness wants it ended, or is gone."""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            end = _end_of(agent, os.WNOHANG)
            if end is not None:
                return end
        elif not os.read(0, 4096):
            return None


def _terminate(agent: int) -> None:
    """Ask all of them to end."""
    if sys.platform == "linux":
        for process in alive(os.getpid()):
            send(process, signal.SIGTERM)
    else:
        os.killpg(agent, signal.SIGTERM)


def _end_of(agent: int, flags: int) -> str | None:
    """How the agent ended, or None; it stays unreaped, and ended orphans are reaped."""
    while True:
        one = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | flags)
        if one is None:
            return None
        if one.si_pid == agent:
            by_itself = one.si_code == os.CLD_EXITED
            return f"exited {one.si_status} -1" if by_itself else f"exited -1 {one.si_status}"
        os.waitpid(one.si_pid, 0)


def _moved(given: dict[str, int]) -> dict[str, int]:
    """The agent's descriptors, out of the way of the numbers that they will have in the agent."""
    moved = {
        name: fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FREE_DESCRIPTOR)
        for name, number in given.items()
    }
    for number in given.values():
        os.close(number)
    if "report" in moved:
        os.dup2(moved["report"], REPORT_DESCRIPTOR)
        os.close(moved["report"])
        moved["report"] = REPORT_DESCRIPTOR
    return moved


def _started(start: dict[str, Any], descriptors: dict[str, int]) -> int:
    """Start the agent in a session of its own; gives its pid. Raises OSError."""
    process = subprocess.Popen(
        list(map(_bytes, start["argv"])),
        executable=_bytes(start["program"]),
        cwd=_bytes(start["directory"]),
        env={_bytes(key): _bytes(value) for key, value in start["environment"].items()},
        stdin=descriptors["stdin"],
        stdout=descriptors["stdout"],
        stderr=descriptors["stderr"],
        pass_fds=[REPORT_DESCRIPTOR] if "report" in descriptors else [],
        start_new_session=True,
    )
    for number in descriptors.values():
        os.close(number)
    # It is reaped last and by its number, which this object must not do before when it goes.
    process.returncode = 0
    return process.pid


def _tell(line: str) -> None:
    with suppress(BrokenPipeError):  # the harness is gone
        os.write(1, f"{line}\n".encode())
