"""Runs one case of the suite against the reference runtime; see `hardgate.kinds.case`.

`python -m agent_cli.case --case FILE --fixtures FOLDER --milestone N --repeat COMMAND`
"""

import sys
from collections.abc import Sequence
from functools import partial

from agent_core.bootstrap import build_pinned_runtime, load_identity
from agent_core.domain.deployment import DeploymentMode
from agent_core.evals.subject import ReferenceSubject
from hardgate.kinds.case import main

IDENTITY = "evals/identity"
"""The folder of the principals and profiles of cases, relative to the workspace."""


def run(argv: Sequence[str]) -> int:
    """Run the case that `argv` names and return the exit code."""
    identity = partial(load_identity, IDENTITY, DeploymentMode.DEVELOPMENT)
    return main(argv, ReferenceSubject(build_pinned_runtime, identity))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
