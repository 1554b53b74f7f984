"""The application behind `hardgate`, and behind `agent eval`, where it is mounted with a subject.

A runtime's own entry point mounts it so that cases can run:

    from hardgate.cli.app import main
    sys.exit(main(sys.argv[1:], subject=MySubject(), program="mine eval"))

Each command is a module of this package with `main(arguments, context) -> int`; it is imported when
it is called.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hardgate.cli.console import Console
from hardgate.cli.exits import INTERRUPTED, OK, REFUSED, USAGE, CommandError, UsageError
from hardgate.cli.parser import unknown_name
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.verdicts.verdict import HARNESS_VERSION

if TYPE_CHECKING:
    from hardgate.subjects.port import Subject

COMMANDS = {
    "run": "run cases and gates in this process, for a quick look while developing",
    "gates": "run all gates by Bazel and print the report",
    "explain": "run one case and show what happened, event by event",
    "lint": "read every definition of the workspace and list what is wrong with it",
    "init": "write a workspace with first gates that pass",
    "new": "write the scaffold of a case or of a gate",
    "schemas": "write the JSON Schemas of definitions, for editors",
    "doctor": "say what this workspace has and what is missing",
}


class Context(NamedTuple):
    """What a command is given besides its arguments.

    `name` is how it was called, such as `hardgate lint`, and `program` the first part of that;
    `subject` is what cases run against, None where nothing is mounted.
    """

    program: str
    name: str
    subject: Subject | None
    console: Console


def main(
    argv: Sequence[str] | None = None,
    subject: Subject | None = None,
    program: str = "hardgate",
) -> int:
    """Runs one command and returns its exit code; no error of a user ends in a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = words[0] if words else ""
    if name in ("", "-h", "--help"):
        Console(program).result(_help(program))
        return USAGE if not words else OK
    if name == "--version":
        Console(program).result(f"{program} {HARNESS_VERSION}")
        return OK
    full_name = f"{program} {name}" if name in COMMANDS else program
    context = Context(program, full_name, subject, Console(full_name))
    return _guarded(name, words[1:], context)


def _guarded(name: str, arguments: list[str], context: Context) -> int:
    """Runs a command; what ends it early becomes a message and, with --json, an object as well."""
    console = context.console
    try:
        if name not in COMMANDS:
            raise UsageError(unknown_name("command", name, list(COMMANDS)))
        code: int = importlib.import_module(f"hardgate.cli.{name}").main(arguments, context)
        return code
    except SystemExit as ended:  # argparse has printed its help
        return int(ended.code or OK)
    except CommandError as error:
        console.note(str(error))
        return _refuse(arguments, console, error.code, [_plain(error.rule, str(error))])
    except DefinitionError as error:
        console.plain(str(error))
        found = [problem._asdict() for problem in error.problems]
        return _refuse(arguments, console, REFUSED, found)
    except OSError as error:
        text = f"{error.filename or 'a file'}: {error.strerror or error}"
        console.note(text)
        return _refuse(arguments, console, REFUSED, [_plain("file.unreadable", text)])
    except KeyboardInterrupt:
        console.note("interrupted")
        return INTERRUPTED


def _refuse(arguments: list[str], console: Console, code: int, problems: list[Any]) -> int:
    if "--json" in arguments:
        console.json({"schema_version": 1, "ok": False, "problems": problems})
    return code


def _plain(rule: str, message: str) -> dict[str, Any]:
    """A problem that is about no place in a file."""
    return Problem("", 0, 0, rule, message)._asdict()


def _help(program: str) -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {program} COMMAND [OPTION...]",
            "",
            "Hard gates for AI agents: cases, gates, and the proof that they can fail.",
            "",
            "commands:",
            *lines,
            "",
            f"`{program} COMMAND --help` tells more about one. Results go to stdout, progress to",
            "stderr; every command knows --json, and NO_COLOR is respected.",
        ]
    )
