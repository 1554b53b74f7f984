"""The process of one case that starts an agent, or of a gate behind which such a case stands.

The command line is that of `hardgate.kinds.case`, and `--agent PATH` or `--agent NAME=PATH` for the
executables, relative to the working directory. A command that names {agent} needs one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from hardgate.kinds.case import EXIT_USAGE
from hardgate.kinds.case import main as run_main
from hardgate.subjects.command.agents import OPTION_HELP, AgentsError, agents_of
from hardgate.subjects.command.subject import ForeignAgent
from hardgate.verdicts.network import Probe


def main(argv: Sequence[str], probe: Probe | None = None) -> int:
    """Run the case, or the gate; returns the exit code."""
    parser = argparse.ArgumentParser(prog="command_case", allow_abbrev=False, add_help=False)
    parser.add_argument("--agent", action="append", default=[], help=OPTION_HELP)
    own, others = parser.parse_known_args(argv)
    try:
        agents = agents_of(own.agent)
    except AgentsError as error:
        print(f"command_case: --agent: {error}", file=sys.stderr)
        return EXIT_USAGE
    return run_main(others, ForeignAgent(agents, os.environ), probe)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
