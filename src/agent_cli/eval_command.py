"""`agent eval`: Hardgate's command, with the reference runtime as the subject of its cases."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.subject import reference_subject
from hardgate.cli.app import main as hardgate

PROGRAM = "agent eval"


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return hardgate(arguments, reference_subject(), PROGRAM)
