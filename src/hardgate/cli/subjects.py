"""What the cases of a command run against: the mounted runtime, or agents that are started."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from hardgate.cli.exits import RefusedError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from hardgate.cases.model import Case
    from hardgate.subjects.port import Subject

NO_SUBJECT = """\
no agent runtime is mounted here, so there is nothing that a case without `subject` could run
against. --agent names an executable, which is then started for each case. An entry point of a
runtime mounts one: `from hardgate.cli.app import main`, then
`sys.exit(main(sys.argv[1:], subject=MySubject(), program="mine eval"))`. The reference runtime's
is `agent eval`."""


def add_agent_option(parser: argparse.ArgumentParser) -> None:
    """The option --agent of a command that looks at cases."""
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="PATH",
        help="the executable that cases start; NAME=PATH for others; repeat",
    )


class Subjects:
    """The subject of each case. `mounted` is None where no runtime is."""

    def __init__(self, mounted: Subject | None, agents: Mapping[str, str]) -> None:
        self._mounted = mounted
        self._agents = agents

    @property
    def default(self) -> Subject | None:
        """What a case without `subject` runs against; None where there is nothing."""
        if self._mounted is not None:
            return self._mounted
        return self._foreign if self._agents else None

    def of(self, case: Case) -> Subject:
        """What a case runs against. Raises RefusedError where there is nothing."""
        if case.subject is not None:
            return self._foreign
        if self.default is None:
            raise RefusedError(NO_SUBJECT)
        return self.default

    @cached_property
    def _foreign(self) -> Subject:
        # The provider and all that starts a process: only those who start one need it.
        from hardgate.subjects.command.subject import ForeignAgent

        return ForeignAgent(self._agents, os.environ)


def subjects_of(mounted: Subject | None, words: list[str], here: Path) -> Subjects:
    """The subjects of a command line: the words of --agent, relative to where its caller is.

    Raises UsageError.
    """
    if not words:
        return Subjects(mounted, {})
    from hardgate.subjects.command.agents import AgentsError, agents_of

    try:
        agents = agents_of(words)
    except AgentsError as error:
        raise UsageError(f"--agent: {error}") from None
    return Subjects(mounted, {name: os.path.join(here, path) for name, path in agents.items()})
