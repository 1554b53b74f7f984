"""Reading the section "Hard gates" of a spec."""

import pytest

from hardgate.documents.tree import DirectoryTree, ManifestTree, OverlayTree
from hardgate.registry.specs import read_specs, spec_paths

PATH = "docs/specs/tool.md"
SPEC = """\
# Tools

## Hard gates

1. **`gate.tool.first`** — Something holds
   for every tool. **M1.**
2. **`gate.structure.order`** — alias, owned by [structure](structure.md). **M0.**
"""


def read(text: str):
    tree = OverlayTree(ManifestTree({}))
    tree.write(PATH, text)
    return read_specs(tree)


def changed(old: str, new: str) -> str:
    assert SPEC.count(old) == 1, old
    return SPEC.replace(old, new)


def test_items_are_read_with_their_places():
    declared, problems = read(SPEC)
    assert problems == []
    first, alias = declared
    assert (first.id, first.milestone, first.number) == ("gate.tool.first", 1, 1)
    assert first.statement == "Something holds for every tool."
    assert (first.alias, first.place) == (False, f"{PATH}:5:7")
    assert (alias.id, alias.milestone) == ("gate.structure.order", 0)
    assert (alias.alias, alias.owner) == (True, "docs/specs/structure.md")
    assert first.problem("rule", "message").render() == f"{PATH}:5:7: rule: message"


FORM = "N. **`gate.<area>.<slug>`** — statement. **M<milestone>.**"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# Tools\n",
            "2:1: spec_section: found 0 headings 'Hard gates'; allowed: one, '## Hard gates'",
        ),
        (
            changed("## Hard gates", "### Hard gates"),
            "3:1: spec_section: found 1 headings 'Hard gates'; allowed: one, '## Hard gates'",
        ),
        (
            SPEC + "\n## Hard gates\n",
            "9:1: spec_section: found 2 headings 'Hard gates'; allowed: one, '## Hard gates'",
        ),
        (
            SPEC + "\n## More\n",
            "9:1: spec_section: found the heading 'More' after 'Hard gates'; "
            "allowed: 'Hard gates' as the last section",
        ),
        (
            "## Hard gates\n",
            f"1:1: spec_section: found no gate under 'Hard gates'; allowed: at least one, {FORM}",
        ),
        (
            changed("1. ", "- "),
            f"5:1: spec_item: found '- **`gate.tool.first`** — Something holds'; "
            f"allowed: numbered items only, {FORM}",
        ),
        (
            SPEC + "\nA closing word.\n",
            f"9:1: spec_item: found 'A closing word.'; allowed: numbered items only, {FORM}",
        ),
        (
            changed("2. ", "3. "),
            "7:1: spec_item_number: found the number 3; allowed: 2, counting from 1",
        ),
        (
            changed("**`gate.tool.first`**", "`gate.tool.first`"),
            "5:5: spec_item: found an item that does not start with an id in bold code; "
            f"allowed: {FORM}",
        ),
        (
            changed(" **M1.**", ""),
            "5:7: spec_item: found the item 'gate.tool.first' without a milestone at its end; "
            f"allowed: {FORM}",
        ),
        (
            changed("**M1.**", "**M1**"),
            "5:7: spec_item: found the item 'gate.tool.first' without a milestone at its end; "
            f"allowed: {FORM}",
        ),
        (
            changed("— Something", "Something"),
            "5:7: spec_item: found the item 'gate.tool.first' without a dash and a statement; "
            f"allowed: {FORM}",
        ),
        (
            changed("gate.tool.first", "gate.Tool.first"),
            "5:7: id_malformed: found 'gate.Tool.first'; "
            "allowed: gate.<area>.<slug>, each of a-z, 0-9 and _",
        ),
        (
            changed("gate.tool.first", "gate.tool.f\u0456rst"),
            "5:7: id_malformed: found 'gate.tool.f\u0456rst' (character 12 is U+0456 CYRILLIC "
            "SMALL LETTER BYELORUSSIAN-UKRAINIAN I, which looks like 'i'); "
            "allowed: gate.<area>.<slug>, each of a-z, 0-9 and _",
        ),
        (
            changed("owned by [structure](structure.md)", "see structure"),
            "7:7: spec_item: found 'alias, see structure.'; "
            "allowed: alias, owned by [<spec>](<spec>.md).",
        ),
    ],
)
def test_a_malformed_section(text, expected):
    _, problems = read(text)
    assert [problem.render() for problem in problems] == [f"{PATH}:{expected}"]


def test_the_readme_of_the_specs_is_none():
    tree = OverlayTree(ManifestTree({}))
    tree.write("docs/specs/README.md", "# Specs\n")
    tree.write(PATH, SPEC)
    assert spec_paths(tree) == (PATH,)
    assert read_specs(tree)[1] == []


def test_items_in_a_code_block_elsewhere_are_no_declarations():
    declared, problems = read("```\n## Hard gates\n1. x\n```\n" + SPEC)
    assert (len(declared), problems) == (2, [])


def test_this_projects_specs_are_well_formed():
    declared, problems = read_specs(DirectoryTree(".", ("docs/specs",), outside_links=True))
    assert problems == []
    assert len({one.path for one in declared}) >= 8
