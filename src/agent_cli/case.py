"""Runs one case of the suite against the reference runtime; see `hardgate.kinds.case`.

`python -m agent_cli.case --case FILE --fixtures FOLDER --milestone N --repeat COMMAND`
"""

import sys

from agent_cli.subject import reference_subject
from hardgate.kinds.case import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], reference_subject()))
