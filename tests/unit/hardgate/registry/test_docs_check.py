"""The comparison of specs and registry: every way in which the two can disagree."""

import pytest

from hardgate.documents.tree import DirectoryTree, ManifestTree, OverlayTree
from hardgate.registry.docs_check import check_docs
from hardgate.registry.loader import load_registry

TOOLS = "docs/specs/tool.md"
ORDER = "docs/specs/structure.md"
FILES = {
    "gates/MILESTONE": "0\n",
    "gates/tool.yaml": """\
- id: gate.tool.first
  milestone: 1
  kind: case
  spec: docs/specs/tool.md#hard-gates
  statement: >-
    Something holds
    for every tool.
""",
    "gates/structure.yaml": """\
- id: gate.structure.order
  milestone: 2
  kind: case
  spec: docs/specs/structure.md#hard-gates
  statement: Imports run one way.
""",
    TOOLS: """\
# Tools

The [order](structure.md#hard-gates), the [kinds](../kinds/case.md), [us](https://example.org/x).

## Hard gates

1. **`gate.tool.first`** — Something holds for every
   tool. **M1.**
2. **`gate.structure.order`** — alias, owned by [structure](structure.md). **M2.**
""",
    ORDER: """\
# Structure

## Hard gates

1. **`gate.structure.order`** — Imports run one way. **M2.**
""",
    "docs/kinds/case.md": "# Case\n\nBack to the [first](../specs/tool.md#tools) one.\n",
}


def complaints(*edits: tuple[str, str, str], remove: str = "") -> list[str]:
    """What is wrong after some edits (path, old, new) of a workspace in which nothing is."""
    tree = OverlayTree(ManifestTree({}))
    for path, text in FILES.items():
        tree.write(path, text)
    for path, old, new in edits:
        tree.edit(path, old, new)
    if remove:
        tree.remove(remove)
    return [problem.render() for problem in check_docs(tree, load_registry(tree))]


def test_nothing_is_wrong():
    assert complaints() == []


ITEM = "1. **`gate.tool.first`** — Something holds for every\n   tool. **M1.**\n2."
SECOND = "\n2. **`gate.tool.second`** — Another promise is kept. **M3.**\n"
ALIAS = "2. **`gate.structure.order`** — alias, owned by [structure](structure.md). **M2.**"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        pytest.param(
            [(ORDER, "one way. **M2.**\n", "one way. **M2.**" + SECOND)],
            [
                f"{ORDER}:6:7: gate_unregistered: found gate.tool.second declared and not "
                "registered; allowed: an entry in gates/"
            ],
            id="declared and not registered",
        ),
        pytest.param(
            [(ORDER, "`gate.structure.order`", "`gate.structure.ordre`")],
            [
                f"{ORDER}:5:7: gate_unregistered: found gate.structure.ordre declared and not "
                "registered; allowed: an entry in gates/; did you mean 'gate.structure.order'?",
                f"{TOOLS}:9:7: alias_owner: found an alias of gate.structure.order, said to be "
                f"owned by {ORDER}; allowed: a spec that declares the gate",
                "gates/structure.yaml:1:7: gate_undeclared: found gate.structure.order registered "
                f"and not declared; allowed: an item in {ORDER}#hard-gates"
                "; did you mean 'gate.structure.ordre'?",
            ],
            id="misspelled in the spec",
        ),
        pytest.param(
            [(TOOLS, ITEM, "1.")],
            [
                "gates/tool.yaml:1:7: gate_undeclared: found gate.tool.first registered and not "
                f"declared; allowed: an item in {TOOLS}#hard-gates"
            ],
            id="registered and not declared",
        ),
        pytest.param(
            [
                (
                    ORDER,
                    "**M2.**\n",
                    "**M2.**\n2. **`gate.tool.first`** — Something holds for every tool. **M1.**\n",
                )
            ],
            [
                f"{TOOLS}:7:7: gate_declared_twice: found gate.tool.first declared again, first at "
                f"{ORDER}:6:7; allowed: one owner; "
                "elsewhere 'alias, owned by [<spec>](<spec>.md).'"
            ],
            id="declared twice",
        ),
        pytest.param(
            [(TOOLS, ALIAS, f"{ALIAS}\n3.{ALIAS[2:]}")],
            [
                f"{TOOLS}:10:7: gate_declared_twice: found gate.structure.order twice in {TOOLS}; "
                "allowed: once in a spec"
            ],
            id="alias twice in a spec",
        ),
        pytest.param(
            [(TOOLS, "owned by [structure](structure.md)", "owned by [tool](tool.md)")],
            [
                f"{TOOLS}:9:7: alias_owner: found an alias of gate.structure.order, said to be "
                f"owned by {TOOLS}; allowed: {ORDER}"
            ],
            id="alias of another owner",
        ),
        pytest.param(
            [(TOOLS, "tool. **M1.**", "tool. **M3.**")],
            [
                f"{TOOLS}:7:7: milestone_mismatch: found M3 for gate.tool.first; allowed: M1, "
                "as at gates/tool.yaml:2:14"
            ],
            id="another milestone",
        ),
        pytest.param(
            [(TOOLS, "(structure.md). **M2.**", "(structure.md). **M1.**")],
            [
                f"{TOOLS}:9:7: milestone_mismatch: found M1 for gate.structure.order; allowed: M2, "
                "as at gates/structure.yaml:2:14"
            ],
            id="another milestone at an alias",
        ),
        pytest.param(
            [(TOOLS, "Something holds for every", "Something often holds for every")],
            [
                "gates/tool.yaml:5:14: statement_mismatch: found another statement than the spec's "
                f"at {TOOLS}:7:7 (here 'holds for every tool.', there 'often holds for every'); "
                "allowed: the same words in both"
            ],
            id="another statement",
        ),
        pytest.param(
            [("gates/tool.yaml", "tool.md#", "tol.md#")],
            [
                f"gates/tool.yaml:4:9: spec_missing: found no spec docs/specs/tol.md; "
                f"allowed: {ORDER} or {TOOLS}; did you mean '{TOOLS}'?"
            ],
            id="spec file missing",
        ),
        pytest.param(
            [("gates/tool.yaml", "#hard-gates", "#hard-gate")],
            [
                f"gates/tool.yaml:4:9: anchor_missing: found no heading for #hard-gate in {TOOLS}; "
                "allowed: tools or hard-gates; did you mean 'hard-gates'?"
            ],
            id="anchor missing",
        ),
        pytest.param(
            [("gates/tool.yaml", "#hard-gates", "#tools")],
            [
                f"gates/tool.yaml:4:9: anchor_elsewhere: found {TOOLS}#tools, which does not "
                f"declare gate.tool.first; allowed: {TOOLS}#hard-gates"
            ],
            id="anchor of another section",
        ),
        pytest.param(
            [("gates/tool.yaml", "tool.md#", "structure.md#")],
            [
                f"gates/tool.yaml:4:9: anchor_elsewhere: found {ORDER}#hard-gates, which does not "
                f"declare gate.tool.first; allowed: {TOOLS}#hard-gates"
            ],
            id="anchor in another spec",
        ),
        pytest.param(
            [(TOOLS, "(../kinds/case.md)", "(../kinds/cases.md)")],
            [
                f"{TOOLS}:3:51: link_broken: found a link to docs/kinds/cases.md, which does not "
                "exist; allowed: a file; did you mean 'docs/kinds/case.md'?"
            ],
            id="link to no file",
        ),
        pytest.param(
            [("docs/kinds/case.md", "#tools", "#tolls")],
            [
                "docs/kinds/case.md:3:21: link_broken: found a link to #tolls, no heading of "
                f"{TOOLS}; allowed: tools or hard-gates; did you mean 'tools'?"
            ],
            id="link to no heading",
        ),
        pytest.param(
            [("docs/kinds/case.md", "../specs/tool.md#tools", "#chase")],
            [
                "docs/kinds/case.md:3:21: link_broken: found a link to #chase, no heading of "
                "docs/kinds/case.md; allowed: case; did you mean 'case'?"
            ],
            id="link within a page",
        ),
        pytest.param(
            [(TOOLS, "1. **`gate.tool.first`**", "1. `gate.tool.first`")],
            [
                f"{TOOLS}:7:5: spec_item: found an item that does not start with an id in bold "
                "code; allowed: N. **`gate.<area>.<slug>`** — statement. **M<milestone>.**",
                "gates/tool.yaml:1:7: gate_undeclared: found gate.tool.first registered and not "
                f"declared; allowed: an item in {TOOLS}#hard-gates",
            ],
            id="malformed item",
        ),
    ],
)
def test_what_differs(edits, expected):
    assert complaints(*edits) == expected


def test_a_spec_that_is_gone():
    rules = [line.split(": ")[1] for line in complaints(remove=ORDER)]
    assert sorted(rules) == [
        "alias_owner",
        "gate_undeclared",
        "link_broken",
        "link_broken",
        "spec_missing",
    ]


def test_this_projects_docs_agree_with_its_registry():
    tree = DirectoryTree(".", ("docs", "gates", "evals"), outside_links=True)
    problems = check_docs(tree, load_registry(tree))
    assert [problem.render() for problem in problems] == []
