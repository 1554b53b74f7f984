"""The test behind a structural gate: reads the verdict that a build action wrote, and publishes it.

`python -m hardgate.kinds.verdict_test VERDICT.json --repeat COMMAND`

The action examined the sources; this process adds the proof that its own network is off, writes
verdict.json and test.xml, prints the findings, and fails where the verdict fails. Exit codes: 0 the
verdict passes, 1 it fails, 2 usage, 4 the file is no verdict. Imports the standard library only.
"""

import argparse
import sys
from collections.abc import Sequence

from hardgate.kinds.command_line import argument_parser
from hardgate.verdicts.network import Probe, prove
from hardgate.verdicts.output import Start, publish
from hardgate.verdicts.verdict import VerdictError, from_json, with_network

EXIT_NO_VERDICT = 4


def main(argv: Sequence[str], probe: Probe | None = None) -> int:
    """Publish one verdict file. `probe` is how the network is looked at; tests pass their own."""
    start = Start.now()
    options = _options(argv)
    path = options.verdict
    try:
        with open(path, encoding="utf-8") as file:
            verdict = from_json(file.read())
    except (OSError, UnicodeDecodeError) as error:
        print(f"{path}: cannot be read: {error}", file=sys.stderr)
        return EXIT_NO_VERDICT
    except VerdictError as error:
        for problem in error.problems:
            print(f"{path}: {problem}", file=sys.stderr)
        return EXIT_NO_VERDICT
    return publish(with_network(verdict, prove(probe)), repeat=options.repeat, start=start)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argument_parser("verdict_test")
    parser.add_argument("verdict", metavar="VERDICT", help="the file that the action wrote")
    parser.add_argument("--repeat", required=True, help="the command that repeats this test")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
