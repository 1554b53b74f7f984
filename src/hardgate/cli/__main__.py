"""`python -m hardgate.cli`: the command without a subject, so it runs no cases."""

import sys

from hardgate.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
