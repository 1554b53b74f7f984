"""A target that has nothing to run fails here, with the reason and the place to mend.

`python -m hardgate.kinds.refused --id ID --kind KIND --milestone N --path FILE --line N --rule RULE
--message TEXT --repeat COMMAND`

That is a registry entry that cannot be read, and a gate at its milestone for which no check is
registered: neither may pass or vanish. Exit codes: 1 always, 2 on wrong usage. Imports the standard
library only.
"""

import argparse
import sys
from collections.abc import Sequence

from hardgate.kinds.command_line import argument_parser
from hardgate.verdicts.network import Probe, prove
from hardgate.verdicts.output import Start, publish
from hardgate.verdicts.verdict import Finding, conclude, with_network


def main(argv: Sequence[str], probe: Probe | None = None) -> int:
    """Publish the failing verdict. `probe` is how the network is looked at."""
    start = Start.now()
    options = _options(argv)
    verdict = conclude(
        id=options.id,
        kind=options.kind,
        milestone=options.milestone,
        findings=(Finding(options.path, options.line, options.rule, options.message),),
        examined=1,
        unit="entries",
    )
    return publish(with_network(verdict, prove(probe)), repeat=options.repeat, start=start)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argument_parser("refused")
    for name, kind, meaning in (
        ("id", str, "the gate's id, or the target's name where no id could be read"),
        ("kind", str, "the gate's kind"),
        ("milestone", int, "the gate's milestone"),
        ("path", str, "the file to mend"),
        ("line", int, "the line to mend"),
        ("rule", str, "the rule that refuses it"),
        ("message", str, "why there is nothing to run"),
        ("repeat", str, "the command that repeats this test"),
    ):
        parser.add_argument(f"--{name}", required=True, type=kind, help=meaning)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
