"""Command lines: argparse with the nearest known option, and help that is the same everywhere."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NoReturn

from hardgate.cli.exits import UsageError, explained
from hardgate.documents.wording import LIKE, choices, did_you_mean, nearest, quoted

WIDTH = 96
OPTION_COLUMN = 28


class _Help(argparse.RawDescriptionHelpFormatter):
    """The same line breaks whatever the terminal, so that the guide can show them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=OPTION_COLUMN, width=WIDTH)


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, with the options that all commands have."""

    def __init__(
        self,
        name: str,
        words: str,
        description: str,
        example: str,
        codes: Sequence[int],
        *,
        in_workspace: bool = True,
    ) -> None:
        """`name` is the command as it is called, `words` what follows it in the usage;
        `in_workspace` says whether it is about a workspace of gates and cases."""
        super().__init__(
            prog=name,
            usage=f"{name} {words}",
            description=description,
            epilog=f"example:\n  {name} {example}\n\nexit codes:\n{explained(*codes)}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        if in_workspace:
            where = "default: the nearest one around here"
            self.add_argument("--workspace", metavar="DIR", help=where)
        self.add_argument("--json", action="store_true", help="print JSON")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options. Raises UsageError for a mistake; leaves by SystemExit after --help."""
        options, unknown = self.parse_known_args(list(arguments))
        if unknown:
            self.error("; ".join(self._complaint(word) for word in unknown))
        return options

    def _complaint(self, word: str) -> str:
        if not word.startswith("-"):
            return f"found {quoted(word)}, which is too much"
        known = [option for action in self._actions for option in action.option_strings]
        return f"found no option {quoted(word)}{did_you_mean(word.partition('=')[0], known)}"

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with the message and the usage."""
        raise UsageError(f"{message}\nusage: {self.usage}")


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A type for argparse: a whole number from `least` to `most`."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text[:20]) <= most:
            return int(text)
        message = f"found {quoted(text)}; allowed: a whole number from {least} to {most}"
        raise argparse.ArgumentTypeError(message)

    return read


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """A type for argparse: one of some names, with the nearest one where it is none."""

    def read(text: str) -> str:
        if text in names:
            return text
        message = f"found {quoted(text)}; allowed: {choices(names)}{did_you_mean(text, names)}"
        raise argparse.ArgumentTypeError(message)

    return read


def unknown_name(what: str, name: str, known: Sequence[str]) -> str:
    """`found no command 'lnt'; did you mean 'lint'?`, or all names where none is near."""
    if nearest(name, known, LIKE):
        return f"found no {what} {quoted(name)}{did_you_mean(name, known)}"
    names = ", ".join(known) or "none"
    return f"found no {what} {quoted(name)}; there is: {names}"
