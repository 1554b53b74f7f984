"""`agent answer`: answer the question that a run waits with."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from agent_cli.stored_run import add_run, change
from agent_cli.stores import CODES, guarded
from hardgate.cli.console import Console
from hardgate.cli.parser import CommandParser

PROGRAM = "agent answer"
DESCRIPTION = """\
Answers the question that a run waits with and prints its status: it is in the queue again, for a
worker to go on with it."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return guarded(PROGRAM, arguments, _options, _run)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "RUN TEXT --store URL [--deployment FILE] [--tenant NAME] [--json]",
        DESCRIPTION,
        '01a22dcc-3241-73b3-8f2c-fc5449b43eea "Blue." --store sqlite:///records.db',
        CODES,
        in_workspace=False,
    )
    add_run(parser)
    parser.add_argument("text", metavar="TEXT", help="the answer")
    return parser.parse(arguments)


def _run(options: argparse.Namespace, console: Console) -> int:
    return change(options, console, lambda runtime: runtime.answer(options.run, options.text))
