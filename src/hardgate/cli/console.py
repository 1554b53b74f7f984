"""Results on stdout, everything else on stderr, and nothing that does not print on either."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from hardgate.verdicts.text import printable

GREEN, RED, YELLOW = "32", "31", "33"
NOTE_CHARACTERS = 100_000


def many(count: int, noun: str) -> str:
    """`1 gate`, `2 gates`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


class Console:
    """The two streams of a command. `name` is the command, such as `hardgate lint`."""

    def __init__(
        self,
        name: str,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._stdout = sys.stdout if stdout is None else stdout
        self._stderr = sys.stderr if stderr is None else stderr
        environ = os.environ if environ is None else environ
        self.colour = self._stdout.isatty() and not environ.get("NO_COLOR")

    def result(self, text: str) -> None:
        """Prints one text of the result, with a newline; whoever made it has escaped what does not
        print. A reader that left, as head does, is no error."""
        try:
            self._write(self._stdout, text)
        except BrokenPipeError:
            # Python flushes stdout again at its exit; there has to be something that takes it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stdout.fileno())

    def json(self, value: Any) -> None:
        """Prints a JSON value, keys sorted, in ASCII."""
        self.result(json.dumps(value, indent=1, sort_keys=True))

    def note(self, text: str) -> None:
        """Tells people something beside the result."""
        self.plain(f"{self.name}: {text}")

    def plain(self, text: str) -> None:
        """Prints a text to stderr, such as a list of problems."""
        self._write(self._stderr, printable(text, NOTE_CHARACTERS))

    def progress(self, text: str) -> None:
        """Shows how far long work has come; only a person at a terminal wants to see that."""
        if self._stderr.isatty():
            self.plain(text)

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, where colours are shown."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour else text

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()
