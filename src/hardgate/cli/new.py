"""`hardgate new`: scaffolds that fail until somebody has written what they are about."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from hardgate.cli.app import Context
from hardgate.cli.console import Console
from hardgate.cli.exits import OK, USAGE, UsageError
from hardgate.cli.parser import unknown_name

KINDS = {
    "case": "a case and its model script; refused until `expected` says something",
    "gate": "an entry of the registry, its check and a counterexample; failing until written",
}


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    words = list(arguments)
    if not words or words[0] in ("-h", "--help"):
        context.console.result(_help(context.name))
        return OK if words else USAGE
    if words[0] not in KINDS:
        raise UsageError(unknown_name("scaffold", words[0], list(KINDS)))
    name = f"{context.name} {words[0]}"
    below = context._replace(name=name, console=Console(name))
    code: int = importlib.import_module(f"hardgate.cli.new_{words[0]}").main(words[1:], below)
    return code


def _help(name: str) -> str:
    lines = [f"  {kind}  {summary}" for kind, summary in KINDS.items()]
    return "\n".join(
        [
            f"usage: {name} KIND NAME [OPTION...]",
            "",
            "Writes the scaffold of something new. Nothing is overwritten, and nothing half",
            "written is left behind.",
            "",
            "kinds:",
            *lines,
            "",
            f"`{name} KIND --help` tells more about one.",
        ]
    )
