"""A target that has nothing to run fails here, with the reason and the place to mend.

`python -m hardgate.kinds.refused --id ID --kind KIND --milestone N --path FILE --line N --rule RULE
--message TEXT --repeat COMMAND`

That is a registry entry that cannot be read, and a gate at its milestone for which no check is
registered: neither may pass or vanish. Exit codes: 1 always, 2 on wrong usage. Imports the standard
library only.
"""

import sys
from collections.abc import Sequence

from hardgate.kinds.options import read_options
from hardgate.verdicts.network import Probe, prove
from hardgate.verdicts.output import Start, publish
from hardgate.verdicts.verdict import Finding, conclude, with_network


def main(argv: Sequence[str], probe: Probe | None = None) -> int:
    """Publish the failing verdict. `probe` is how the network is looked at; tests pass their own."""
    start = Start.now()
    options = read_options(
        argv,
        "refused",
        {
            "id": "the gate's id, or the target's name where no id could be read",
            "kind": "the gate's kind",
            "milestone": "the gate's milestone",
            "path": "the file to mend",
            "line": "the line to mend",
            "rule": "the rule that refuses it",
            "message": "why there is nothing to run",
            "repeat": "the command that repeats this test",
        },
    )
    verdict = conclude(
        id=options["id"],
        kind=options["kind"],
        milestone=int(options["milestone"]),
        findings=(
            Finding(options["path"], int(options["line"]), options["rule"], options["message"]),
        ),
        examined=1,
        unit="entries",
    )
    return publish(with_network(verdict, prove(probe)), repeat=options["repeat"], start=start)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
