"""`agent cancel`: ask for the end of a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from agent_cli.stored_run import add_run, change
from agent_cli.stores import CODES, guarded
from hardgate.cli.console import Console
from hardgate.cli.parser import CommandParser

PROGRAM = "agent cancel"
DESCRIPTION = """\
Asks for the end of a run and prints its status: one that is queued or waits has ended then, one
that a worker executes ends as soon as it can, and one that has ended stays as it is."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return guarded(PROGRAM, arguments, _options, _run)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "RUN --store URL [--deployment FILE] [--tenant NAME] [--json]",
        DESCRIPTION,
        "01a22dcc-3241-73b3-8f2c-fc5449b43eea --store sqlite:///records.db",
        CODES,
        in_workspace=False,
    )
    add_run(parser)
    return parser.parse(arguments)


def _run(options: argparse.Namespace, console: Console) -> int:
    return change(options, console, lambda runtime: runtime.cancel(options.run))
