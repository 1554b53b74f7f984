"""What a counterexample proves: whether a check rejected a seeded defect, and if not, why not.

The twin of a gate passes only if the check ran to its end, objected, gave the reason that the
defect declares, and the changed code or file was really reached. Everything else has a name.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

from hardgate.verdicts.verdict import (
    CRASHED,
    NOT_REACHED,
    NOT_REJECTED,
    OTHER_REASON,
    REJECTED,
    TIMED_OUT,
    Counterexample,
)


class TimeLimitReached(BaseException):
    """The check ran longer than it may. No `except Exception` of a check can swallow it."""


@dataclass(frozen=True)
class Ending:
    """How a check ended with a defect in place.

    `reasons` are the rules of its findings or the names of its failed checks; `failed` is whether
    its verdict was a failure; `crash` is the error in one line when it did not run to its end.
    """

    reached: bool
    failed: bool = False
    reasons: Collection[str] = ()
    crash: str = ""
    timed_out: bool = False


def judge(name: str, reason: str, ending: Ending) -> Counterexample:
    """Decides what became of the defect `name`, which must be rejected for `reason`."""
    why, message = _decide(reason, ending)
    return Counterexample(
        name=name, reason=reason, rejected=why == REJECTED, why=why, message=message
    )


def _decide(reason: str, ending: Ending) -> tuple[str, str]:
    if ending.timed_out:
        return TIMED_OUT, f"the check did not end in time with the defect in place{_colon(ending)}"
    if ending.crash:
        return CRASHED, f"the check did not run to its end: {ending.crash}"
    if not ending.reached:
        return NOT_REACHED, "the check ended without looking at what the defect changed"
    if not ending.failed:
        return NOT_REJECTED, "the check passes with the defect in place"
    if reason not in ending.reasons:
        given = ", ".join(sorted(set(ending.reasons))) or "no reason at all"
        return OTHER_REASON, f"expected the reason {reason}, found {given}"
    return REJECTED, f"rejected for {reason}"


def _colon(ending: Ending) -> str:
    return f": {ending.crash}" if ending.crash else ""


def not_in_place(name: str, reason: str, problem: str) -> Counterexample:
    """The result for a defect that could not be put in place, so that nothing could reach it."""
    message = f"the defect could not be put in place: {problem}"
    return Counterexample(
        name=name, reason=reason, rejected=False, why=NOT_REACHED, message=message
    )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimitReached in the main thread when the block takes longer (wall clock)."""

    def expire(number: int, frame: FrameType | None) -> NoReturn:
        raise TimeLimitReached(f"longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_with_limit(run: Callable[[], None], seconds: float) -> tuple[str, bool]:
    """Runs and returns (the error in one line or "", whether the time limit was reached).

    SystemExit counts as a crash: a check that leaves the process has not run to its end.
    """
    try:
        with time_limit(seconds):
            run()
    except TimeLimitReached as limit:
        return str(limit), True
    except (Exception, SystemExit) as error:
        return one_line(error), False
    return "", False


def one_line(error: BaseException) -> str:
    """`Type: message`, the first line only."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
