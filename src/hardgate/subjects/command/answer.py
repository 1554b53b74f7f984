"""The final answer of an agent, from where the case says that it stands."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from hardgate.cases.command import AnswerFile, CommandSubject
from hardgate.cases.record import TEXT_LIMIT_CHARACTERS
from hardgate.documents.wording import quoted
from hardgate.fixtures.model_script import FinalTurn, ModelScript
from hardgate.subjects.command.process import Ended
from hardgate.subjects.command.report import ReportedAnswer

# A character of UTF-8 has at most four bytes; one more shows that the text was longer.
_READ_BYTES = 4 * TEXT_LIMIT_CHARACTERS + 1


class Answer(NamedTuple):
    """`text` is None where there is no answer; `problem` says why, where there had to be one."""

    text: str | None
    problem: str = ""


def find_answer(
    spec: CommandSubject, script: ModelScript, turns: int, ended: Ended, workspace: str
) -> Answer:
    """The answer of an agent that has ended, after `turns` turns of the script."""
    if isinstance(spec.answer, AnswerFile):
        return _in_file(spec.answer.file, workspace)
    if spec.answer == "report":
        reported = [one.text for one in ended.reports if isinstance(one, ReportedAnswer)]
        return Answer(reported[-1]) if reported else Answer(None, "the agent reported no answer")
    if spec.answer == "last_turn":
        finals = [turn.text for turn in script.turns[:turns] if isinstance(turn, FinalTurn)]
        return Answer(finals[-1] if finals else None)
    return Answer(ended.stdout.decode("utf-8", "replace").rstrip("\r\n") or None)


def _in_file(path: str, workspace: str) -> Answer:
    """A regular file of the workspace; links are not followed, wherever they stand in the path."""
    name = quoted(path)
    try:
        data = _read(path.split("/"), workspace)
    except OSError as error:
        return Answer(None, f"the file {name} cannot be read: {error.strerror}")
    try:
        return Answer(data.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError:
        return Answer(None, f"the file {name} is no text in UTF-8")


def _read(parts: list[str], workspace: str) -> bytes:
    folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(parts[-1], flags, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(0, "it is no regular file")
            return file.read(_READ_BYTES)
    finally:
        os.close(folder)
