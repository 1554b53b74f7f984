"""Starts the misbehaving agent and looks for what is left of it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from hardgate.subjects.command.process import Ended, Launch, run

PROGRAM = Path(__file__).with_name("bad_agent.py").absolute()
# Far from what any of the agents needs: a test that comes here has found something.
PATIENT_SECONDS = 60.0
HASTY_SECONDS = 0.3


def launch(folder: Path, behaviour: str, argument: str = "", **more: object) -> Launch:
    """The misbehaving agent, in `folder`."""
    argv = (sys.executable, "-I", "-S", str(PROGRAM), str(folder), behaviour, argument)
    given = Launch(argv, str(folder), {"PATH": os.defpath}, wall_seconds=PATIENT_SECONDS)
    return given._replace(**more)


def start(folder: Path, behaviour: str, argument: str = "", **more: object) -> Ended:
    """What comes of the agent; none of its processes is there afterwards."""
    ended = run(launch(folder, behaviour, argument, **more))
    assert left_of(folder) == []
    return ended


def start_and_stop(folder: Path, behaviour: str, argument: str = "", **more: object) -> Ended:
    """The same, ended as soon as the agent has written that it is ready."""
    ended = run(launch(folder, behaviour, argument, **more), when_there(folder / "ready"))
    assert left_of(folder) == []
    return ended


def when_there(path: Path) -> Callable[[], str | None]:
    """Asks to stop when a file is there."""
    return lambda: "stopped" if path.exists() else None


def left_of(folder: Path) -> list[int]:
    """The processes whose command line names the folder, zombies apart."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = entry.joinpath("cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if os.fsencode(str(folder)) in line.split(b"\0"):
                found.append(int(entry.name))
    return found
