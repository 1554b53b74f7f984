"""The command `agent`: `python -m agent_cli`.

`agent run TEXT` runs one message to its answer; `agent migrate`, `agent submit` and `agent worker`
do so over a store, by processes that may come and go; `agent eval COMMAND` is Hardgate's command
with the reference runtime mounted as its subject.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

OK, USAGE = 0, 2
COMMANDS = {
    "run": "run one message to its answer",
    "migrate": "make a store, or bring it to the schema of this program",
    "submit": "put a message into a store, for a worker to run it",
    "worker": "execute the runs of a store",
    "answer": "answer the question that a run waits with",
    "cancel": "ask for the end of a run",
    "reviews": "list effects of which nobody knows, and say what was found out",
    "eval": "judge the runtime: run, gates, explain, lint, init, new and doctor of hardgate",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(_help())
        return OK if words else USAGE
    if words[0] not in COMMANDS:
        from hardgate.cli.parser import unknown_name

        print(f"agent: {unknown_name('command', words[0], list(COMMANDS))}", file=sys.stderr)
        return USAGE
    command = importlib.import_module(f"agent_cli.{words[0]}_command")
    code: int = command.main(words[1:])
    return code


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: agent COMMAND [OPTION...]",
            "",
            "The reference runtime.",
            "",
            "commands:",
            *lines,
            "",
            "`agent COMMAND --help` tells more about one.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
