"""The guide names every rule, and no other."""

import re
from pathlib import Path

from hardgate.wire import checks

GUIDE = Path("docs/guide/wire.md").read_text(encoding="utf-8")


def test_the_guide_has_every_rule_and_no_other():
    rules = {value for name, value in vars(checks).items() if name.isupper() and "." in str(value)}
    rows = "\n".join(line for line in GUIDE.splitlines() if line.startswith("| `"))
    assert len(rules) > 10
    assert set(re.findall(r"`((?:wire|fixture)\.\w+)`", rows)) == rules
