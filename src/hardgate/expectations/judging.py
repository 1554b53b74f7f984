"""Expectations that something outside the record decides: a scripted judge, a command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from hardgate.cases.record import Record
from hardgate.expectations.outcome import Keys, Outcome, last_event
from hardgate.fixtures.answer_text import normalized

if TYPE_CHECKING:
    from hardgate.fixtures.judge import ScriptedJudge

OUTPUT_LINES = 20


class Verification(NamedTuple):
    """What came of the command of `verify`.

    `exit_code` is None where the command did not end by itself; `problem` says why not. `output` is
    the end of what it wrote to stdout and stderr.
    """

    exit_code: int | None
    problem: str = ""
    output: str = ""


def judge(
    rubric: str, scripted: ScriptedJudge | None, record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check; a judge that has no verdict for this answer fails it."""
    answer = record.final_text
    verdict = None
    if answer is not None and scripted is not None:
        given = normalized(answer)
        matching = (one for one in scripted.verdicts if normalized(one.answer) == given)
        verdict = next(matching, None)
    if answer is None:
        message = "the run gave no final answer"
    elif verdict is None:
        message = "the scripted judge has no verdict for this answer"
    else:
        message = "" if verdict.passed else f"the judge: {verdict.reason}"
    around = last_event(record)
    yield Outcome("judge", keys, not message, rubric, answer, message, around)


def verify(
    command: str, result: Verification | None, record: Record, keys: Keys
) -> Iterator[Outcome]:
    """One check: the command ended by itself, with exit code 0."""
    if result is None:
        message, observed = "the command was not run", None
    else:
        message, observed = result.problem, result.exit_code
        if not message and result.exit_code != 0:
            message = f"the command ended with exit code {result.exit_code}"
        if message and result.output:
            message += f"; its output ends:\n{_end(result.output)}"
    yield Outcome(
        "verify",
        keys,
        not message,
        f"exit code 0 of: {command}",
        observed,
        message,
        last_event(record),
    )


def _end(output: str) -> str:
    return "\n".join(output.rstrip("\n").split("\n")[-OUTPUT_LINES:])
