"""What entries name has to exist: functions, cases, corpora, folders. Nothing is imported."""

import pytest

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.registry.loader import load_registry, read_registry
from hardgate.registry.resolve import check_problems, counterexample_problems

CHECKS = "gates/checks/tool.py"
DEFECTS = "gates/defects/tool.py"
FILES = {
    "gates/MILESTONE": "1\n",
    "gates/tool.yaml": """\
- id: gate.tool.trust
  milestone: 1
  kind: structural
  spec: docs/specs/tool.md#hard-gates
  statement: No remote tool is trusted more.
  check: gates/checks/tool.py::trust
  sources: ["//src:sources"]
  counterexamples:
    - {name: label_kept, reason: too_high}
    - {name: file_gone, reason: missing, tree: gates/defects/tool/file_gone}
- id: gate.tool.shape
  milestone: 1
  kind: case
  spec: docs/specs/tool.md#hard-gates
  statement: The outcome has six fields.
  check: case:outcome
  counterexamples:
    - {name: label_kept, reason: too_high}
- id: gate.tool.text
  milestone: 1
  kind: corpus
  spec: docs/specs/tool.md#hard-gates
  statement: No foreign text is repeated.
  check: gates/checks/tool.py::text
  corpus: evals/corpora/foreign
  minimum_members: 3
  counterexamples:
    - {name: label_kept, reason: too_high}
- id: gate.tool.later
  milestone: 2
  kind: case
  spec: docs/specs/tool.md#hard-gates
  statement: Not there yet at all.
  check: case:later
  counterexamples:
    - {name: also_later, reason: unknown}
""",
    CHECKS: "def trust(context):\n    pass\n\nasync def text(context):\n    pass\n\n\nTRUTH = 1\n",
    DEFECTS: 'def label_kept(bench):\n    """The label stays."""\n\ndef _help(bench):\n    pass\n',
    "gates/defects/tool/file_gone/src/x.py": "",
    "evals/cases/01_outcome.yaml": "name: outcome\nmilestone: 1\n",
    "evals/corpora/foreign/one.txt": "x",
}


def complaints(*edits: tuple[str, str, str], remove: str = "", add: dict[str, str] | None = None):
    """What does not resolve after some edits (path, old, new) of a workspace in which all does."""
    tree = OverlayTree(ManifestTree({}))
    for path, text in {**FILES, **(add or {})}.items():
        tree.write(path, text)
    for path, old, new in edits:
        tree.edit(path, old, new)
    if remove:
        tree.remove(remove)
    registry = load_registry(tree)
    found = check_problems(tree, registry) + counterexample_problems(tree, registry)
    return [problem.render() for problem in sorted(found)]


def test_everything_resolves_and_pending_gates_need_nothing():
    assert complaints() == []


def test_a_registry_that_is_wrong_can_still_be_resolved():
    tree = OverlayTree(ManifestTree({}))
    for path, text in FILES.items():
        tree.write(path, text)
    tree.edit("gates/tool.yaml", "  check: case:outcome\n", "")
    registry, problems = read_registry(tree)
    assert [problem.rule for problem in problems] == ["check_missing"]
    assert check_problems(tree, registry) == []


def test_a_check_in_another_file_of_the_folder():
    edit = (
        CHECKS,
        "def trust(context):\n    pass",
        "from gates.checks.trust import found as trust",
    )
    add = {"gates/checks/trust.py": "def found(context):\n    pass\n"}
    assert complaints(edit, add=add) == []
    (said,) = complaints(edit, add={"gates/checks/trust.py": "def lost(context):\n    pass\n"})
    assert said.startswith("gates/tool.yaml:6:10: check_missing: found gates/checks/tool.py::trust")


def test_only_functions_are_offered():
    edits = [
        (CHECKS, "def trust(context)", "from __future__ import annotations\n\ndef trust(context)"),
        ("gates/tool.yaml", "tool.py::trust", "tool.py::trusts"),
    ]
    (said,) = complaints(*edits)
    assert said.endswith("allowed: text or trust; did you mean 'trust'?")


def test_modules_that_import_each_other_end():
    edit = (CHECKS, "def trust(context):\n    pass", "from gates.checks.other import trust")
    add = {"gates/checks/other.py": "from gates.checks.tool import trust\n"}
    assert [line.split(": ")[1] for line in complaints(edit, add=add)] == ["check_missing"]


def test_a_later_definition_wins():
    replaced = FILES[DEFECTS] + "\n\ndef label_kept(bench):\n    pass\n"
    assert {line.split(": ")[1] for line in complaints(add={DEFECTS: replaced})} == {
        "counterexample_undocumented"
    }


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(
            (CHECKS, "def trust", "def trusted"),
            "gates/tool.yaml:6:10: check_missing: found gates/checks/tool.py::trust, but no such "
            "function at the top of the file; allowed: text or trusted; did you mean 'trusted'?",
            id="check renamed",
        ),
        pytest.param(
            (CHECKS, "def trust(context):\n    pass", "class Checks:\n    def trust(self): pass"),
            "gates/tool.yaml:6:10: check_missing: found gates/checks/tool.py::trust, but no such "
            "function at the top of the file; allowed: text",
            id="check in a class",
        ),
        pytest.param(
            ("gates/tool.yaml", "tool.py::trust", "tool.py::truth"),
            "gates/tool.yaml:6:10: check_missing: found gates/checks/tool.py::truth, but no such "
            "function at the top of the file; allowed: text or trust; did you mean 'trust'?",
            id="check unknown",
        ),
        pytest.param(
            ("gates/tool.yaml", "case:outcome", "case:outcom"),
            "gates/tool.yaml:16:10: check_missing: found no case 'outcom'; allowed: outcome; "
            "did you mean 'outcome'?",
            id="case unknown",
        ),
        pytest.param(
            ("gates/tool.yaml", "corpora/foreign", "corpora/foreing"),
            "gates/tool.yaml:25:11: corpus_missing: found the corpus 'evals/corpora/foreing', "
            "which holds no file; allowed: a folder with at least 3 members",
            id="corpus missing",
        ),
        pytest.param(
            (DEFECTS, '    """The label stays."""', "    pass"),
            "gates/tool.yaml:9:14: counterexample_undocumented: found the defect 'label_kept' "
            "without a docstring; allowed: one that says what is wrong",
            id="defect without a docstring",
        ),
    ],
)
def test_what_does_not_resolve(edit, expected):
    assert complaints(edit)[0] == expected


def test_a_file_of_checks_that_is_gone():
    assert complaints(remove=CHECKS)[0] == (
        "gates/tool.yaml:6:10: check_missing: found gates/checks/tool.py::trust, but no file "
        "gates/checks/tool.py; allowed: a file of gates/checks/"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [("def trust(:\n", 1), ("def trust(context):\n\tpass\n    pass\n", 3)],
)
def test_a_file_of_checks_that_is_no_python(text, line):
    (first, *_) = complaints(add={CHECKS: text})
    assert first.startswith(
        "gates/tool.yaml:6:10: check_missing: found gates/checks/tool.py::trust"
    )
    assert f", but line {line} of it is no Python (" in first


def test_a_defect_that_is_gone_is_missed_by_each_gate_that_names_it():
    said = complaints((DEFECTS, "def label_kept", "def label_kpet"))
    assert [line.split(" ")[:2] for line in said] == [
        [f"{DEFECTS}:1:1:", "defect_unused:"],
        ["gates/tool.yaml:9:14:", "counterexample_missing:"],
        ["gates/tool.yaml:18:14:", "counterexample_missing:"],
        ["gates/tool.yaml:28:14:", "counterexample_missing:"],
    ]


def test_a_folder_of_a_defect_that_is_gone():
    assert complaints(remove="gates/defects/tool/file_gone/src/x.py") == [
        "gates/tool.yaml:10:48: counterexample_missing: found the folder "
        "'gates/defects/tool/file_gone', which holds no file; allowed: files to lay over"
    ]


def test_a_defect_that_no_gate_names():
    unused = FILES[DEFECTS] + '\n\ndef forgotten(bench):\n    """Never put in place."""\n'
    helper = unused + "\n\ndef helper(bench, path):\n    pass\n"
    assert complaints(add={DEFECTS: helper}) == [
        f"{DEFECTS}:8:1: defect_unused: found the defect 'forgotten', which no gate names; "
        "allowed: a counterexample of some gate"
    ]


def test_a_defect_of_a_pending_gate_is_used():
    add = {DEFECTS: FILES[DEFECTS] + '\n\ndef also_later(bench):\n    """For later."""\n'}
    assert complaints(add=add) == []


def test_a_file_of_defects_that_is_no_python_names_no_unused_ones():
    said = complaints(add={"gates/defects/other.py": "\ndef x(:\n"})
    assert [line.split(": ")[:2] for line in said] == [
        ["gates/defects/other.py:2:1", "defect_unreadable"]
    ]


def test_a_file_of_cases_that_is_no_map_holds_no_case():
    said = complaints(("evals/cases/01_outcome.yaml", "name: outcome\nmilestone: 1", "- outcome"))
    assert said == [
        "gates/tool.yaml:16:10: check_missing: found no case 'outcome'; allowed: nothing"
    ]


def test_a_case_that_cannot_be_read_is_reported_itself():
    said = complaints(add={"evals/cases/02_bad.yaml": "name: [\n"})
    assert [line.split(": ")[:2] for line in said] == [
        ["evals/cases/02_bad.yaml:2:1", "yaml.syntax"]
    ]
