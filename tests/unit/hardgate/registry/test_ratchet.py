"""What may only grow, and the reasons that excuse a step back."""

import pytest

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.registry.loader import load_registry
from hardgate.registry.ratchet import compare, snapshot

FILES = {
    "gates/MILESTONE": "1\n",
    "gates/tool.yaml": """\
- id: gate.tool.stable
  milestone: 2
  kind: property
  spec: docs/specs/tool.md#hard-gates
  statement: The hash is stable.
  trials: 500
- id: gate.tool.foreign
  milestone: 1
  kind: corpus
  spec: docs/specs/tool.md#hard-gates
  statement: No foreign text is repeated.
  check: gates/checks/tool.py::foreign
  corpus: evals/corpora/foreign
  minimum_members: 2
  counterexamples:
    - {name: repeated, reason: repeated}
    - {name: half, reason: repeated}
""",
    "evals/corpora/foreign/README.md": "About the members.",
    "evals/corpora/foreign/one.txt": "1",
    "evals/corpora/foreign/deep/two.txt": "2",
    "evals/corpora/foreign/three.txt": "3",
}
GATES = "gates/tool.yaml"


def workspace(*edits: tuple[str, str, str], remove: str = "") -> OverlayTree:
    tree = OverlayTree(ManifestTree({}))
    for path, text in FILES.items():
        tree.write(path, text)
    for path, old, new in edits:
        tree.edit(path, old, new)
    if remove:
        tree.remove(remove)
    return tree


def shot(tree: OverlayTree, name: str = "abc123"):
    return snapshot(tree, load_registry(tree), name)


def complaints(before: OverlayTree, after: OverlayTree) -> list[str]:
    return [problem.render() for problem in compare(shot(before), shot(after))]


TRIALS = (GATES, "trials: 500", "trials: 499")
LOWERED = "  lowered: {}\n  trials: 499"


def test_nothing_changed_and_everything_grown():
    grown = workspace(
        (GATES, "trials: 500", "trials: 501"),
        (GATES, "minimum_members: 2", "minimum_members: 3"),
        (
            GATES,
            "milestone: 2",
            "milestone: 1\n  check: gates/checks/tool.py::stable\n"
            "  counterexamples: [{name: unsorted, reason: unstable}]",
        ),
        ("gates/MILESTONE", "1", "2"),
    )
    grown.write("evals/corpora/foreign/four.txt", "4")
    assert complaints(workspace(), workspace()) == []
    assert complaints(workspace(), grown) == []


def test_readme_files_are_no_members():
    assert shot(workspace()).members == {"evals/corpora/foreign": 3}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(
            workspace(TRIALS),
            "gates/tool.yaml:6:11: ratchet_trials: found 499 trials for gate.tool.stable, 500 in "
            "abc123; allowed: at least 500, or a new reason in 'lowered'",
            id="trials",
        ),
        pytest.param(
            workspace((GATES, "property", "case"), (GATES, "  trials: 500\n", "")),
            "gates/tool.yaml:1:3: ratchet_trials: found 0 trials for gate.tool.stable, 500 in "
            "abc123; allowed: at least 500, or a new reason in 'lowered'",
            id="another kind without trials",
        ),
        pytest.param(
            workspace((GATES, "minimum_members: 2", "minimum_members: 1")),
            "gates/tool.yaml:14:20: ratchet_minimum_members: found 1 members as minimum "
            "for gate.tool.foreign, 2 in abc123; allowed: at least 2, or a new reason in 'lowered'",
            id="minimum of members",
        ),
        pytest.param(
            workspace(remove="evals/corpora/foreign/deep/two.txt"),
            "gates/tool.yaml:13:11: ratchet_corpus: found 2 members in the corpus for "
            "gate.tool.foreign, 3 in abc123; allowed: at least 3, or a new reason in 'lowered'",
            id="members of the corpus",
        ),
        pytest.param(
            workspace((GATES, "corpora/foreign", "corpora/other")),
            "gates/tool.yaml:13:11: ratchet_corpus: found 0 members in the corpus for "
            "gate.tool.foreign, 3 in abc123; allowed: at least 3, or a new reason in 'lowered'",
            id="another corpus",
        ),
        pytest.param(
            workspace((GATES, "    - {name: half, reason: repeated}\n", "")),
            "gates/tool.yaml:16:5: ratchet_counterexamples: found 1 counterexamples for "
            "gate.tool.foreign, 2 in abc123; allowed: at least 2, or a new reason in 'lowered'",
            id="counterexamples",
        ),
        pytest.param(
            workspace((GATES, "milestone: 1", "milestone: 2")),
            "gates/tool.yaml:8:14: ratchet_milestone: found milestone 2 for gate.tool.foreign, "
            "active since 1 in abc123; allowed: at most 1, or a new reason in 'lowered'",
            id="milestone of an active gate",
        ),
        pytest.param(
            workspace((GATES, "id: gate.tool.stable", "id: gate.tool.steady")),
            "gates/tool.yaml:1:1: ratchet_gate_removed: found no gate.tool.stable, which abc123 "
            "has; allowed: the gate, or an entry with a reason in gates/retired.yaml",
            id="gate renamed",
        ),
        pytest.param(
            workspace(("gates/MILESTONE", "1", "0")),
            "gates/MILESTONE:1:1: ratchet_repository_milestone: found milestone 0, 1 in abc123; "
            "allowed: at least 1",
            id="milestone of the repository",
        ),
    ],
)
def test_what_asks_for_less(after, expected):
    assert complaints(workspace(), after) == [expected]


def test_a_pending_gate_may_move_to_a_later_milestone():
    assert complaints(workspace(), workspace((GATES, "milestone: 2", "milestone: 5"))) == []


def test_a_written_reason_excuses_the_entry_that_carries_it():
    reason = (GATES, "  trials: 500", LOWERED.format("It took eleven minutes."))
    assert complaints(workspace(), workspace(reason)) == []
    other = workspace(reason, (GATES, "minimum_members: 2", "minimum_members: 1"))
    assert [line.split(": ")[1] for line in complaints(workspace(), other)] == [
        "ratchet_minimum_members"
    ]


def test_a_reason_excuses_once():
    before = workspace((GATES, "  trials: 500", LOWERED.format("It took eleven minutes.")))
    again = LOWERED.format("It took eleven minutes.").replace("499", "100")
    same_reason = workspace((GATES, "  trials: 500", again))
    assert [line.split(": ")[1] for line in complaints(before, same_reason)] == ["ratchet_trials"]
    new_reason = again.replace("eleven", "twelve")
    assert complaints(before, workspace((GATES, "  trials: 500", new_reason))) == []


def test_a_retired_gate_may_go():
    after = workspace((GATES, FILES[GATES].split("- id: gate.tool.foreign")[0], ""))
    assert len(complaints(workspace(), after)) == 1
    retired = "- id: gate.tool.stable\n  reason: Hashes are gone.\n"
    after.write("gates/retired.yaml", retired)
    assert complaints(workspace(), after) == []
