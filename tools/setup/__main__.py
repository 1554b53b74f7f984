"""Entry point of `bazelw`; tools/setup/command.py says what it takes."""

import sys
from pathlib import Path

# A folder started as a program has only itself on the import path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.setup import command  # noqa: E402

if __name__ == "__main__":
    sys.exit(command.main(sys.argv[1:]))
