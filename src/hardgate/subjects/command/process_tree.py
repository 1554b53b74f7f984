"""All processes below this one: found in /proc, signalled by pid and ended.

A subreaper gets the orphans among its descendants as its own children (Linux), so that nothing
leaves the tree by a double fork or a session of its own. Without /proc (macOS) only the process
group of the leader is known.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.005


class Process(NamedTuple):
    """One process as /proc tells it.

    `ended`: it only waits to be reaped. `started` is in clock ticks and tells it from a later one
    of the same pid.
    """

    pid: int
    parent: int
    ended: bool
    started: int


def become_subreaper() -> None:
    """Make orphans among the descendants children of this process, where the kernel can."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def alive(root: int) -> list[Process]:
    """The processes below `root` that have not ended."""
    processes = list(_all())
    known = {root}
    found: list[Process] = []
    while True:
        more = [one for one in processes if one.parent in known and one.pid not in known]
        if not more:
            return [one for one in found if not one.ended]
        known.update(one.pid for one in more)
        found += more


def children(root: int) -> frozenset[int]:
    """The children of `root`, ended ones too."""
    return frozenset(process.pid for process in _all() if process.parent == root)


def _descendants(root: int, others: Collection[int] = ()) -> Iterator[Process]:
    """The processes below `root`, each handed out as soon as it is read, before it can move.

    One pass can miss some: one that is read before its parent is found by the next.
    """
    known = {root}
    for process in _all():
        if process.parent in known and process.pid not in others:
            known.add(process.pid)
            yield process


def send(process: Process, number: int) -> None:
    """Signal a process, unless it is gone; another that got its pid since is left alone."""
    with suppress(ProcessLookupError):
        try:
            handle = os.pidfd_open(process.pid)
        except ProcessLookupError:
            raise
        except OSError:  # a kernel or a sandbox that offers none
            if _is_same(process):
                os.kill(process.pid, number)
            return
        try:
            if _is_same(process):
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def wait_for_none(leader: int, seconds: float) -> None:
    """Wait until nothing but the unreaped `leader` is left below this process, or time is up."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for process in _descendants(os.getpid()):
            if process.ended:
                _reap(process, leader)
        if not alive(os.getpid()):
            return
        time.sleep(_LOOK_SECONDS)


class Killed(NamedTuple):
    """How many processes were seen alive and killed, and how many of all are left all the same."""

    killed: int
    remaining: int


def kill_all(leader: int | None, seconds: float, others: Collection[int] = ()) -> Killed:
    """Kill all processes below this one and reap them.

    `leader`, which is not counted, leads a process group. It has not been reaped, so that its
    number is still its own: its group is killed in one go, and it is reaped last. `others` are
    children that are left alone with all that is below them.
    """
    deadline = time.monotonic() + seconds
    killed: set[int] = set()
    spared = leader
    while True:
        if leader is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        left = 0
        for process in _descendants(os.getpid(), others):
            if process.ended:
                _reap(process, leader)
            else:
                send(process, signal.SIGKILL)
                killed.add(process.pid)
                left += process.pid != leader
        if not left:
            # That this process has no child at all is what proves that it has no descendant.
            with suppress(ChildProcessError):
                if leader is not None and os.waitpid(leader, os.WNOHANG)[0]:
                    leader = None
            if leader is None and (others or _has_no_child()):
                return Killed(len(killed - {spared}), 0)
        if time.monotonic() > deadline:
            return Killed(len(killed - {spared}), max(left, 1))
        time.sleep(_LOOK_SECONDS)


def _reap(process: Process, leader: int | None) -> None:
    """Reaps an ended child; the children of others are theirs until these have ended."""
    if process.parent == os.getpid() and process.pid != leader:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def _has_no_child() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _is_same(process: Process) -> bool:
    now = _read(process.pid)
    return now is not None and now.started == process.started


def _all() -> Iterator[Process]:
    """Every process, by rising pid; read as it is asked for."""
    try:
        names = os.listdir("/proc")
    except OSError:  # a system without
        return
    for pid in sorted(map(int, filter(str.isdecimal, names))):
        process = _read(pid)
        if process is not None:
            yield process


def _read(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(4096)
    except OSError:  # it has ended
        return None
    # The name comes second, in parentheses, and may hold anything: what follows it is fixed.
    fields = line[line.rfind(b")") + 2 :].split()
    state, parent, threads, started = fields[0], fields[1], fields[17], fields[19]
    # One whose first thread alone has ended has the state of one that has ended itself.
    ended = state in (b"Z", b"X") and int(threads) < 2
    return Process(pid, int(parent), ended, int(started))
