"""`hardgate explain`: runs one case and shows what happened."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hardgate.cli.app import Context
from hardgate.cli.console import GREEN, RED
from hardgate.cli.exits import FAILED, OK, REFUSED, USAGE
from hardgate.cli.parser import CommandParser
from hardgate.cli.running import run_case_item
from hardgate.cli.selection import case_item
from hardgate.cli.subjects import add_agent_option, subjects_of
from hardgate.cli.suite import read_suite
from hardgate.cli.timeline import to_plain
from hardgate.cli.timeline_text import to_text
from hardgate.cli.workspace import find_workspace
from hardgate.verdicts.network import prove

DESCRIPTION = """\
Runs one case, pending or not, and shows the run from its input to its checks: every event, the
model's turns where they were played, every tool call with its outcome and its effect watermark, the
conversation with its labels, and what each check expected and observed. `>>` marks the events at
which a failed check diverged, and the check itself. As with `run`, the checks alone decide the exit
code."""


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _options(arguments, context)
    workspace = find_workspace(options.workspace)
    subjects = subjects_of(context.subject, options.agent, workspace.here)
    with workspace.entered():
        tree = workspace.tree()
        suite = read_suite(tree, subjects.default)
        item = case_item(options.case, suite)
        subject = subjects.of(suite.cases[item.path].case)
        ran = run_case_item(item, suite, tree, subject, prove())
    plain = to_plain(ran)
    if options.json:
        context.console.json(plain)
    else:
        text = to_text(plain)
        colour = GREEN if ran.verdict.passed else RED
        context.console.result(context.console.paint(text[:4], colour) + text[4:])
    return OK if ran.verdict.passed else FAILED


def _options(arguments: Sequence[str], context: Context) -> argparse.Namespace:
    parser = CommandParser(
        context.name,
        "CASE [--agent PATH] [--workspace DIR] [--json]",
        DESCRIPTION,
        "calculator_tool",
        (OK, FAILED, USAGE, REFUSED),
    )
    parser.add_argument("case", metavar="CASE", help="the name of a case, or its file")
    add_agent_option(parser)
    return parser.parse(arguments)
