"""Runs the command of `verify` in the workspace that a run left.

The command is data of a case, so it gets little: a shell in a process group of its own, its
workspace as working directory and home, a fixed small environment, no input, a limit on time and on
output, and no network: where the network is not proven off, it is not run at all. When it ends, or
is ended, everything that is left of its process group is killed.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress

from hardgate.expectations.judging import Verification
from hardgate.kinds.case_files import is_folder
from hardgate.verdicts.network import NetworkProof, proves_off

TIME_LIMIT_SECONDS = 30.0
OUTPUT_LIMIT_BYTES = 1024 * 1024
OUTPUT_KEPT_BYTES = 16 * 1024
SHELL = "/bin/sh"
_LOOK_SECONDS = 0.05


def run_verification(
    command: str,
    workspace: str,
    network: NetworkProof | None,
    limit_seconds: float = TIME_LIMIT_SECONDS,
) -> Verification:
    """What comes of a shell command in the folder `workspace`."""
    if network is None or not proves_off(network):
        return Verification(None, "the command was not run: the network is not proven off")
    if not is_folder(workspace):
        return Verification(None, "the command was not run: the workspace is no folder any more")
    process = subprocess.Popen(
        [SHELL, "-c", command],
        cwd=workspace,
        env={"PATH": "/usr/bin:/bin", "HOME": workspace, "LANG": "C.UTF-8", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, problem = _watch(process, limit_seconds)
    finally:
        _kill_group(process)
    exit_code: int | None = process.wait()
    process.stdout.close()  # type: ignore[union-attr]  # stdout is a pipe
    if problem:
        exit_code = None
    elif exit_code is not None and exit_code < 0:
        problem = f"the command was ended by signal {-exit_code}"
    return Verification(exit_code, problem, output[-OUTPUT_KEPT_BYTES:].decode("utf-8", "replace"))


def _watch(process: subprocess.Popen[bytes], limit_seconds: float) -> tuple[bytes, str]:
    """What a process writes until it ends, and the limit that it reached instead, if it did.

    It has ended when the shell has, even if something that it started still holds the pipe.
    """
    pipe = process.stdout.fileno()  # type: ignore[union-attr]  # stdout is a pipe
    os.set_blocking(pipe, False)
    deadline = time.monotonic() + limit_seconds
    output = b""
    while True:
        ended = _has_ended(process)
        select.select([pipe], [], [], 0 if ended else _LOOK_SECONDS)
        piece = _read(pipe)
        output += piece
        if len(output) > OUTPUT_LIMIT_BYTES:
            return output, f"the command wrote more than {OUTPUT_LIMIT_BYTES} bytes"
        if ended and not piece:
            return output, ""
        if time.monotonic() > deadline:
            return output, f"the command took longer than {limit_seconds:g} seconds"


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, 65_536)
    except BlockingIOError:
        return b""


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; it is not reaped, so that its group keeps its number."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):  # nothing of it is left
        os.killpg(process.pid, signal.SIGKILL)
