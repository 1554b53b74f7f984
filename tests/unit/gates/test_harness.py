"""The checks of the area harness over a small workspace: which gate each mistake turns red."""

import pytest

from gates.checks import harness
from tests.unit.gates.sources import examine, said

SPEC = """\
# Area

## Hard gates

1. **`gate.area.first`** — The first thing holds for everything. **M0.**
2. **`gate.area.second`** — The second thing holds for everything. **M1.**
"""
REGISTRY = """\
- id: gate.area.first
  milestone: 0
  kind: structural
  spec: docs/specs/area.md#hard-gates
  statement: The first thing holds for everything.
  check: gates/checks/area.py::first
  sources:
    - //src:sources
  counterexamples:
    - name: broken
      reason: some_rule

- id: gate.area.second
  milestone: 1
  kind: case
  spec: docs/specs/area.md#hard-gates
  statement: The second thing holds for everything.
"""
README = """\
See `gate.area.first`, [the spec](area.md#hard-gates) and
<!-- derived: gates.total -->2<!-- /derived --> gates, each `gate.<area>.<slug>`.
"""
SOUND = {
    "docs/specs/area.md": SPEC,
    "docs/specs/README.md": README,
    "gates/area.yaml": REGISTRY,
    "gates/MILESTONE": "0\n",
    "gates/checks/area.py": "def first(context):\n    return None\n",
    "gates/defects/area.py": 'def broken(bench):\n    """It is broken."""\n',
    "tests/unit/test_a.py": "def test_a():\n    assert 1\n",
    "evals/cases/01_sum.yaml": "name: sum\n",
}
CHECKS = {
    check.__name__: check
    for check in (
        harness.registry_complete,
        harness.id_grammar,
        harness.anchor_resolves,
        harness.no_stale_skip,
    )
}


def red(files):
    """The findings of every check that has one, by the check's name."""
    found = {name: said(examine(check, {**SOUND, **files})) for name, check in CHECKS.items()}
    return {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    ("name", "examined", "unit"),
    [
        ("registry_complete", 4, "entries and items"),
        ("id_grammar", 5, "ids"),
        ("anchor_resolves", 3, "anchors and links"),
        ("no_stale_skip", 3, "files"),
    ],
)
def test_a_sound_workspace_is_examined_without_a_finding(name, examined, unit):
    examination = examine(CHECKS[name], SOUND)
    assert said(examination) == []
    assert (examination.examined, examination.unit) == (examined, unit)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_an_empty_workspace_leaves_nothing_examined(name):
    assert examine(CHECKS[name], {"README.md": ""}).examined == 0


def registry(old, new):
    assert old in REGISTRY
    return {"gates/area.yaml": REGISTRY.replace(old, new)}


def spec(old, new):
    assert old in SPEC
    return {"docs/specs/area.md": SPEC.replace(old, new)}


ENTRY = REGISTRY.split("\n\n")[1]
LIST = "docs/specs/area.md"


@pytest.mark.parametrize(
    ("files", "gate", "finding"),
    [
        (registry("\n" + ENTRY, ""), "registry_complete", f"{LIST}:6: gate_unregistered"),
        (
            spec(SPEC.split("\n")[5] + "\n", ""),
            "registry_complete",
            "gates/area.yaml:13: gate_undeclared",
        ),
        (spec("**M1.**", "**M2.**"), "registry_complete", f"{LIST}:6: milestone_mismatch"),
        (
            registry("The second thing holds", "The second thing may hold"),
            "registry_complete",
            "gates/area.yaml:17: statement_mismatch",
        ),
        (
            registry("::first", "::last"),
            "registry_complete",
            "gates/area.yaml:6: check_missing",
        ),
        (
            {"gates/defects/area.py": ""},
            "registry_complete",
            "gates/area.yaml:10: counterexample_missing",
        ),
        (
            {"docs/specs/README.md": README.replace("-->2<", "-->3<")},
            "registry_complete",
            "docs/specs/README.md:2: derived_stale",
        ),
        (
            registry("kind: structural", "kind: structure"),
            "registry_complete",
            None,
        ),
        (
            {"docs/specs/README.md": README + "`gate.area.First`\n"},
            "id_grammar",
            "docs/specs/README.md:3: id_malformed",
        ),
        (
            {"gates/retired.yaml": "- id: gate.area.second\n  reason: It was replaced.\n"},
            "id_grammar",
            "gates/area.yaml:13: id_retired",
        ),
        (
            registry(
                "area.md#hard-gates\n  statement: The second", "b.md#x\n  statement: The second"
            ),
            "anchor_resolves",
            "gates/area.yaml:16: spec_missing",
        ),
        (
            {"docs/specs/README.md": README.replace("(area.md#hard-gates)", "(area.md#gates)")},
            "anchor_resolves",
            "docs/specs/README.md:1: link_broken",
        ),
        (
            {"tests/unit/test_a.py": "import pytest\npytest.skip('x')\ndef test_a(): assert 1"},
            "no_stale_skip",
            "tests/unit/test_a.py:2: test_skipped",
        ),
        (
            {"gates/defects/more.py": "import unittest\nunittest.skip('x')"},
            "no_stale_skip",
            "gates/defects/more.py:2: test_skipped",
        ),
        (
            {"evals/more.py": "import pytest\npytest.skip('x')"},
            "no_stale_skip",
            "evals/more.py:2: test_skipped",
        ),
        (
            {"tests/unit/more.py": "def test_b(): assert 1"},
            "no_stale_skip",
            "tests/unit/more.py:1: test_uncollected",
        ),
        (
            {"evals/quarantine.yaml": "- test: gate.area.first\n"},
            "no_stale_skip",
            "evals/quarantine.yaml:1: gate_quarantined",
        ),
        (
            {"evals/quarantine.yaml": "- [\n"},
            "no_stale_skip",
            None,
        ),
        (
            {"gates/BUILD.bazel": "test(flaky = True)"},
            "no_stale_skip",
            "gates/BUILD.bazel:1: test_flaky",
        ),
    ],
)
def test_one_mistake_turns_one_gate_red(files, gate, finding):
    found = red(files)
    assert list(found) == [gate]
    assert finding is None or finding in found[gate]


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        (ENTRY.replace("area.second", "area.Third"), "id_malformed"),
        (ENTRY.replace("area.second", "other.third"), "id_area_mismatch"),
        (ENTRY, "id_duplicate"),
        (ENTRY.replace("area.second", "area.sec0nd"), "id_confusable"),
    ],
)
def test_an_id_that_breaks_the_grammar_turns_its_own_gate_red(entry, rule):
    found = red({"gates/area.yaml": f"{REGISTRY}\n{entry}"})
    assert list(found) == ["id_grammar"]
    assert [line.split(": ")[1] for line in found["id_grammar"]] == [rule]


def test_a_defect_of_an_entry_that_cannot_be_read_is_not_called_unused():
    found = red(registry("gate.area.first\n  milestone: 0", "gate.area.First\n  milestone: 0"))
    assert list(found) == ["id_grammar"]


def test_a_defect_that_no_gate_names_is_a_finding():
    text = SOUND["gates/defects/area.py"] + 'def forgotten(bench):\n    """It is broken too."""\n'
    assert red({"gates/defects/area.py": text}) == {
        "registry_complete": ["gates/defects/area.py:3: defect_unused"]
    }


def test_an_id_with_a_letter_of_another_alphabet_names_the_letter():
    files = {**SOUND, "docs/specs/README.md": "`gate.\u0430rea.first`\n"}
    (finding,) = examine(harness.id_grammar, files).findings
    assert "CYRILLIC SMALL LETTER A" in finding.message


CASE_GATE = registry(
    "milestone: 1\n  kind: case\n", "milestone: 0\n  kind: case\n  check: case:sum\n"
)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({**CASE_GATE, "evals/quarantine.yaml": "- case: sum\n"}, 1),
        ({**CASE_GATE, "evals/quarantine.yaml": "sum: {since: '2026-01-01'}\n"}, 1),
        ({**CASE_GATE, "evals/quarantine.yaml": "- test: //evals:cases/sum\n"}, 1),
        ({"evals/quarantine.yaml": "- test: //gates:area/first\n"}, 1),
        ({**CASE_GATE, "evals/quarantine.yaml": "- case: product\n"}, 0),
        ({"evals/quarantine.yaml": "- case: sum\n"}, 0),
    ],
)
def test_a_case_that_backs_an_active_gate_stays_out_of_the_quarantine(files, expected):
    found = examine(harness.no_stale_skip, {**SOUND, **files}).findings
    assert [one.rule for one in found] == ["gate_quarantined"] * expected


def test_live_tests_may_skip():
    files = {"tests/live/test_b.py": "import pytest\npytest.skip('no key')"}
    assert red(files) == {}


@pytest.mark.parametrize("name", ["contract_coverage", "evals_isolation"])
def test_a_file_that_is_not_python_is_a_finding(name):
    files = {"src/agent_core/ports/a.py": "def (:\n"}
    assert "src/agent_core/ports/a.py:1: syntax_error" in said(
        examine(getattr(harness, name), files)
    )
