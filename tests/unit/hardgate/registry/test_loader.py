"""Loading the registry as a whole: milestones, retired gates, and what concerns many files."""

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree, ManifestTree, OverlayTree
from hardgate.registry.loader import Registry, load_registry, read_registry

ENTRY = """\
- id: gate.{area}.{slug}
  milestone: {milestone}
  kind: property
  spec: docs/specs/{area}.md#hard-gates
  statement: Something holds for all inputs.
  trials: 100
"""


def entry(area: str, slug: str, milestone: int = 2) -> str:
    """A valid entry that needs no check while it is pending."""
    return ENTRY.format(area=area, slug=slug, milestone=milestone)


def tree_of(**files: str) -> OverlayTree:
    """A workspace with these files in gates/; `__` in a name stands for a dot."""
    tree = OverlayTree(ManifestTree({}))
    for name, content in {"MILESTONE": "1\n", **files}.items():
        tree.write(f"gates/{name.replace('__', '.')}", content)
    return tree


def complaints(tree: OverlayTree) -> str:
    with pytest.raises(DefinitionError) as refused:
        load_registry(tree)
    return str(refused.value)


def test_gates_of_all_files_are_sorted_by_id():
    tree = tree_of(
        tool__yaml=entry("tool", "b") + entry("tool", "a"), event__yaml=entry("event", "z")
    )
    assert [gate.id for gate in load_registry(tree).gates] == [
        "gate.event.z",
        "gate.tool.a",
        "gate.tool.b",
    ]


def test_a_gate_knows_its_area_slug_and_place():
    registry = load_registry(tree_of(tool__yaml=entry("tool", "a") + entry("tool", "b")))
    gate = registry.by_id["gate.tool.b"]
    assert (gate.area, gate.slug) == ("tool", "b")
    assert registry.place("gate.tool.b") == ("gates/tool.yaml", 7, 3)
    assert registry.place("gate.tool.b", "trials") == ("gates/tool.yaml", 12, 11)
    assert registry.problem("gate.tool.b", ("check",), "rule", "message").render() == (
        "gates/tool.yaml:7:3: rule: message"
    )


def test_active_and_pending_follow_the_milestone():
    registry = load_registry(
        tree_of(tool__yaml=entry("tool", "two", 2) + entry("tool", "three", 3))
    )

    def ids(gates):
        return [gate.slug for gate in gates]

    assert (ids(registry.active()), ids(registry.pending())) == ([], ["three", "two"])
    assert (ids(registry.active(2)), ids(registry.pending(2))) == (["two"], ["three"])
    assert ids(registry.active(3)) == ["three", "two"]


def test_an_entry_of_the_repositorys_milestone_is_active():
    assert "check_missing" in complaints(tree_of(tool__yaml=entry("tool", "one", 1)))


@pytest.mark.parametrize(("text", "milestone"), [("0\n", 0), ("1", 1), ("12\n", 12)])
def test_milestone_file(text, milestone):
    tree = tree_of(tool__yaml=entry("tool", "a", 20))
    tree.write("gates/MILESTONE", text)
    assert load_registry(tree).milestone == milestone


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "''"),
        ("M1\n", r"'M1\n'"),
        ("1.0\n", r"'1.0\n'"),
        ("-1\n", r"'-1\n'"),
        ("01\n", r"'01\n'"),
        ("100\n", r"'100\n'"),
        (" 1\n", r"' 1\n'"),
        ("1\n2\n", r"'1\n2\n'"),
        ("٣\n", r"'٣\n'"),
    ],
)
def test_bad_milestone_file(text, found):
    tree = tree_of(tool__yaml=entry("tool", "a", 20))
    tree.write("gates/MILESTONE", text)
    assert complaints(tree) == (
        f"gates/MILESTONE:1:1: milestone_file: found {found}; "
        "allowed: one whole number from 0 to 99 on a line"
    )


def test_a_workspace_without_the_milestone_file_is_at_milestone_0():
    tree = tree_of(tool__yaml=entry("tool", "a"))
    tree.write("gates/MILESTONE", "1\n")
    assert load_registry(tree).milestone == 1
    tree.remove("gates/MILESTONE")
    assert load_registry(tree).milestone == 0


def test_a_registry_without_files():
    assert complaints(tree_of()) == (
        "gates:1:1: registry_empty: found no file gates/<area>.yaml; allowed: at least one"
    )


@pytest.mark.parametrize("name", ["Tool.yaml", "tool.yml", "tool-system.yaml", "7.yaml"])
def test_a_file_that_would_be_overlooked(name):
    tree = tree_of(event__yaml=entry("event", "a"))
    tree.write(f"gates/{name}", entry("tool", "a"))
    assert complaints(tree) == (
        f"gates/{name}:1:1: registry_file_name: found the file name '{name}'; "
        "allowed: <area>.yaml (a-z, 0-9, _)"
    )


def test_yaml_below_checks_and_defects_is_no_registry():
    tree = tree_of(event__yaml=entry("event", "a"))
    tree.write("gates/defects/event/lost/gates/event.yaml", "not: a registry\n")
    assert len(load_registry(tree).gates) == 1


def test_an_id_in_two_files():
    tree = tree_of(event__yaml=entry("event", "a"), tool__yaml=entry("event", "a"))
    assert complaints(tree) == (
        "gates/tool.yaml:1:7: id_area_mismatch: found 'gate.event.a' in gates/tool.yaml; "
        "allowed: gate.tool.<slug>, the area being the stem of the file\n"
        "gates/tool.yaml:1:7: id_duplicate: found 'gate.event.a' again, first at "
        "gates/event.yaml:1:7; allowed: each id once"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("log_order", "logorder"),
        ("no_egress", "n0_egress"),
        ("all_turns", "al1_turns"),
        ("modern_model", "modem_model"),
        ("scope", "s\u0441ope"),
        ("scope", "scope\u200d"),
    ],
)
def test_ids_that_read_alike(first, second):
    escaped = second.encode("unicode_escape").decode()
    second_entry = entry("tool", "x").replace("gate.tool.x", f'"gate.tool.{escaped}"')
    said = complaints(tree_of(tool__yaml=entry("tool", first) + second_entry))
    assert f"easily taken for 'gate.tool.{first}' at gates/tool.yaml:1:7" in said
    assert "gates/tool.yaml:7:7: id_confusable: " in said


def test_one_bad_file_hides_no_other():
    tree = tree_of(
        event__yaml="- id: [\n",
        policy__yaml="",
        tool__yaml=entry("tool", "a").replace("trials: 100", "trials: none"),
        retired__yaml="- id: gate.tool.old\n",
        MILESTONE="one\n",
    )
    paths = [line.split(":")[0] for line in complaints(tree).split("\n")]
    assert paths == [
        "gates/MILESTONE",
        "gates/event.yaml",
        "gates/policy.yaml",
        "gates/retired.yaml",
        "gates/tool.yaml",
    ]


def test_one_bad_entry_hides_no_other():
    bad = entry("tool", "bad").replace("property", "proprety")
    tree = tree_of(tool__yaml=bad + entry("tool", "good") + bad)
    registry, problems = read_registry(tree)
    assert [gate.slug for gate in registry.gates] == ["good"]
    assert [(problem.line, problem.rule) for problem in problems] == [
        (3, "schema.value"),
        (15, "schema.value"),
        (13, "id_duplicate"),
    ]


def test_retired_gates():
    retired = "- id: gate.tool.old\n  reason: The tool it was about is gone.\n"
    registry = load_registry(tree_of(tool__yaml=entry("tool", "a"), retired__yaml=retired))
    assert [gate.id for gate in registry.retired] == ["gate.tool.old"]


def test_no_gate_is_retired_by_an_empty_list_or_without_the_file():
    for files in ({}, {"retired__yaml": "# nothing so far\n[]\n"}):
        assert load_registry(tree_of(tool__yaml=entry("tool", "a"), **files)).retired == ()


def test_a_retired_id_is_not_used_again():
    retired = "- id: gate.tool.a\n  reason: The tool it was about is gone.\n"
    assert complaints(tree_of(tool__yaml=entry("tool", "a"), retired__yaml=retired)) == (
        "gates/tool.yaml:1:7: id_retired: found 'gate.tool.a', retired at "
        "gates/retired.yaml:1:7; allowed: an id never used before"
    )


def test_retired_entries_have_a_reason_and_stand_once():
    retired = "- id: gate.tool.a\n  reason: obsolete\n" * 2
    said = complaints(tree_of(tool__yaml=entry("tool", "b"), retired__yaml=retired)).split("\n")
    assert [line.split(": ")[:2] for line in said] == [
        ["gates/retired.yaml:2:11", "reason_placeholder"],
        ["gates/retired.yaml:3:7", "id_duplicate"],
        ["gates/retired.yaml:4:11", "reason_placeholder"],
    ]


def test_this_projects_registry_loads():
    registry = load_registry(DirectoryTree(".", ("gates",), outside_links=True))
    assert isinstance(registry, Registry)
    assert {gate.area for gate in registry.gates} >= {"harness", "structure", "tool"}
    assert registry.active(), "the repository is past no gate's milestone"
