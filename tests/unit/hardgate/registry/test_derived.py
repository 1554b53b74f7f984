"""Numbers in the docs: computed, compared, set."""

import pytest

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.registry.derived import derived_numbers, derived_problems, main, with_numbers
from hardgate.registry.loader import load_registry
from hardgate.registry.specs import read_specs, spec_paths

ENTRY = """\
- id: gate.{area}.{slug}
  milestone: {milestone}
  kind: case
  spec: docs/specs/{area}.md#hard-gates
  statement: Something holds for everything.
  check: case:{slug}
  counterexamples: [{{name: broken, reason: broken}}]
"""
SPEC = """\
# {area}

## Hard gates

1. **`gate.{area}.first`** — Something holds for everything. **M0.**
2. **`gate.{area}.second`** — Something holds for everything. **M2.**
"""
ALIAS = "3. **`gate.tool.first`** — alias, owned by [tool](tool.md). **M0.**\n"


def span(name: str, value: str) -> str:
    return f"<!-- derived: {name} -->{value}<!-- /derived -->"


def files(page: str = "") -> dict[str, str]:
    return {
        "gates/MILESTONE": "1\n",
        **{
            f"gates/{area}.yaml": ENTRY.format(area=area, slug="first", milestone=0)
            + ENTRY.format(area=area, slug="second", milestone=2)
            for area in ("event", "tool")
        },
        "docs/specs/tool.md": SPEC.format(area="tool"),
        "docs/specs/event.md": SPEC.format(area="event") + ALIAS,
        "docs/page.md": page,
    }


def tree_of(page: str = "") -> OverlayTree:
    tree = OverlayTree(ManifestTree({}))
    for path, text in files(page).items():
        tree.write(path, text)
    return tree


def numbers() -> dict[str, int]:
    tree = tree_of()
    return derived_numbers(load_registry(tree), read_specs(tree)[0], spec_paths(tree))


def complaints(page: str) -> list[str]:
    tree = tree_of(page)
    found = derived_problems(tree, load_registry(tree), read_specs(tree)[0])
    return [problem.render().removeprefix("docs/page.md:") for problem in found]


def test_every_number():
    assert numbers() == {
        "gates.total": 4,
        "gates.active": 2,
        "gates.pending": 2,
        "gates.declared": 5,
        "gates.aliases": 1,
        "gates.counterexamples": 4,
        "repository.milestone": 1,
        "gates.kind.case": 4,
        "gates.kind.property": 0,
        "gates.kind.corpus": 0,
        "gates.kind.structural": 0,
        "gates.area.event": 2,
        "gates.area.tool": 2,
        "gates.milestone.0": 2,
        "gates.milestone.1": 0,
        "gates.milestone.2": 2,
        "gates.spec.event": 3,
        "gates.spec.tool": 2,
    }


def test_right_numbers_in_prose_and_tables():
    page = (
        f"There are {span('gates.total', '4')} gates.\n\n| {span('gates.area.tool', '2')} | x |\n"
    )
    assert complaints(page) == []


def test_stale_numbers_each_at_its_place():
    page = f"a {span('gates.total', '5')} b {span('gates.active', 'two')}\n"
    assert complaints(page) == [
        "1:32: derived_stale: found '5' for gates.total; allowed: 4, as computed",
        "1:83: derived_stale: found 'two' for gates.active; allowed: 2, as computed",
    ]


def test_an_unknown_name_with_the_nearest_known_one():
    (said,) = complaints(span("gates.totl", "4"))
    assert said.startswith(
        "1:15: derived_unknown: found the name 'gates.totl'; allowed: gates.total"
    )
    assert said.endswith("; did you mean 'gates.total'?")


@pytest.mark.parametrize(
    "page",
    [
        "<!-- derived: gates.total -->4\n",
        "4<!-- /derived -->\n",
        "<!-- derived: gates.total -->\n4<!-- /derived -->\n",
        "<!--derived: gates.total-->4<!-- /derived -->\n",
        "<!-- derived: -->4<!-- /derived -->\n",
    ],
)
def test_broken_markers(page):
    said = complaints(page)
    assert said
    assert all(": derived_marker: found a marker without its other half;" in one for one in said)


def test_markers_shown_as_code_are_none():
    assert complaints(f"`{span('gates.total', '9')}`\n\n```\n{span('nothing', '1')}\n```\n") == []


def test_pages_of_defects_are_wrong_on_purpose():
    tree = tree_of()
    tree.write("gates/defects/tool/stale/docs/page.md", span("gates.total", "9"))
    assert list(derived_problems(tree, load_registry(tree), read_specs(tree)[0])) == []


def test_setting_numbers_leaves_everything_else():
    page = f"{span('gates.total', '')} `{span('gates.total', '9')}` {span('what', '7')}\r\nend"
    assert with_numbers(page, {"gates.total": 62}) == (
        f"{span('gates.total', '62')} `{span('gates.total', '9')}` {span('what', '7')}\r\nend"
    )


@pytest.fixture
def workspace(tmp_path):
    for path, text in files(f"All {span('gates.total', '0')}\n").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_the_command_compares_then_writes(workspace, capsys):
    assert main(["--root", str(workspace)]) == 1
    assert "docs/page.md:1:34: derived_stale: found '0'" in capsys.readouterr().err
    assert main(["--root", str(workspace), "--write"]) == 0
    assert capsys.readouterr().out == "docs/page.md\n"
    assert (workspace / "docs/page.md").read_text() == f"All {span('gates.total', '4')}\n"
    assert main(["--root", str(workspace)]) == 0


def test_the_command_refuses_a_bad_registry(workspace, capsys):
    (workspace / "gates/tool.yaml").write_text("")
    assert main(["--root", str(workspace)]) == 4
    assert "gates/tool.yaml:1:1: yaml.empty_file:" in capsys.readouterr().err
