"""Entry point of `bazelw`: `python3 tools/setup start|doctor WORKSPACE CACHE [ARGUMENT...]`."""

import sys
from pathlib import Path

# A folder is started as a script, so only the folder itself is importable.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.setup import command  # noqa: E402

if __name__ == "__main__":
    sys.exit(command.main(sys.argv[1:]))
