"""Runs one case of the suite against the reference runtime; see `hardgate.kinds.case`.

`python -m agent_cli.case --case FILE --fixtures FOLDER --milestone N --repeat COMMAND`
"""

import sys

from agent_core.bootstrap import build_pinned_runtime
from agent_core.evals.subject import ReferenceSubject
from hardgate.kinds.case import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], ReferenceSubject(build_pinned_runtime)))
