"""What a page of the documents shows: commands with their output, and files with their text."""

import re
from typing import NamedTuple

ANY = "..."
_STEP = re.compile(
    r"^```console\n(?P<session>.*?)^```$"
    r"|^<!-- file: (?P<path>\S+) -->\n```\w*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Command(NamedTuple):
    """A line that begins with `$ `, without that, and the lines that it says it prints."""

    line: str
    wanted: list[str]


class File(NamedTuple):
    """A file that the reader is told to write: a block behind a comment with its path."""

    path: str
    text: str


def steps(page: str) -> list[Command | File]:
    """What a reader does, in order: the commands in blocks of the language console, and files."""
    found: list[Command | File] = []
    for step in _STEP.finditer(page):
        if step["path"]:
            found.append(File(step["path"], step["text"]))
            continue
        commands: list[Command] = []
        for line in step["session"].splitlines():
            if line.startswith("$ "):
                commands.append(Command(line[2:], []))
            else:
                commands[-1].wanted.append(line)
        found += commands
    return found


def matches(wanted: list[str], printed: list[str]) -> bool:
    """Whether lines are as wanted; `...` stands for anything, also over several lines."""
    pattern = re.escape("\n".join(wanted)).replace(re.escape(ANY), ".*?")
    return re.fullmatch(pattern, "\n".join(printed), re.DOTALL) is not None
