"""What a check is given."""

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.kinds.context import StructuralContext
from hardgate.kinds.entry import GateEntry

ENTRY = """\
- id: gate.area.first
  milestone: 3
  kind: case
  spec: docs/specs/area.md#hard-gates
  statement: The first thing holds for everything.
"""


def context(files):
    tree = OverlayTree(ManifestTree({}))
    for path, text in files.items():
        tree.write(path, text)
    gate = GateEntry("gate.area.first", "area", "first", "case", 3, "gates/area.yaml", 1)
    return StructuralContext(tree, gate)


def test_the_registry_and_the_milestone_are_those_of_the_tree():
    made = context({"gates/area.yaml": ENTRY, "gates/MILESTONE": "2\n"})
    assert [gate.id for gate in made.registry().gates] == ["gate.area.first"]
    assert made.milestone == 2
    assert made.registry() is made.registry()


@pytest.mark.parametrize(
    "files",
    [
        {"gates/area.yaml": ENTRY, "gates/MILESTONE": "two"},
        {"gates/area.yaml": ENTRY.replace("case", "cases"), "gates/MILESTONE": "0"},
    ],
)
def test_a_registry_that_cannot_be_read_is_no_registry(files):
    with pytest.raises(DefinitionError):
        context(files).registry()
