"""Runs an agent as a process, within limits, and ends everything it started.

On Linux everything is what descends from the agent, whatever sessions it opens and however often
it forks; elsewhere it is the agent's process group. What an agent makes another service start (a
container daemon, a job scheduler) is out of reach. Python's `os.waitid` is needed: on macOS that
takes Python 3.13.
"""

from __future__ import annotations

from collections.abc import Callable

from hardgate.subjects.command.launch import Launch, NotStarted, program_of
from hardgate.subjects.command.watch import REPORT_VARIABLE, Ended, Watch
from hardgate.verdicts import text

__all__ = ["REPORT_VARIABLE", "Ended", "Launch", "NotStarted", "printable", "run"]


def run(launch: Launch, stop: Callable[[], str | None] | None = None) -> Ended:
    """Run the agent to its end, or to a limit; none of its processes is alive afterwards.

    `stop` is asked every 20 ms while the agent runs; a text ends the agent and is kept in
    `limits_hit`. Raises NotStarted, and whatever `stop` raises, after the agent was ended.
    """
    with Watch(launch, program_of(launch), stop) as watch:
        watch.until_ended()
    return watch.ended()


def printable(data: bytes, limit_characters: int) -> str:
    """`data` as text for a message: what is no UTF-8 or does not print is shown as an escape.

    A text of more than `limit_characters` keeps its head and its tail. Newlines stay.
    """
    return text.printable(data.decode("utf-8", "backslashreplace"), limit_characters)
