"""The options of ready checks in a registry entry: what is refused, where, and in which words."""

import json

import pytest

from hardgate.registry.check_options import OPTIONS_OF
from hardgate.registry.loader import read_registry
from hardgate.registry.schemas import schemas
from tests.unit.hardgate.kinds.trees import DictionaryTree

ENTRY = """\
- id: gate.app.shape
  milestone: 0
  kind: structural
  spec: docs/specs/app.md#hard-gates
  statement: Every module keeps its place in the order.
  sources: ["//:sources"]
  counterexamples: [{name: broken, reason: layer_order}]
"""
LAYERS = "  check: hardgate:import_layers\n"
GOOD = {
    "committed_secrets": "{}",
    "forbidden_calls": "{roots: [.], calls: [{names: [os.system], reason: It starts a shell.}]}",
    "forbidden_imports": (
        "{roots: [src], imports: [{reason: It must stay light., importers: [a.*.b],"
        " forbidden: [(third-party)]}]}"
    ),
    "import_layers": "{roots: [src], layers: [[a.low], [a.high]]}",
    "no_ambient_time": "{roots: [src], of: [time], allowed_in: [a.clocks]}",
    "one_caller_only": "{roots: [src], callables: [{name: a.b.C.d, callers: [a.e]}]}",
}


def problems(more):
    tree = DictionaryTree({"gates/app.yaml": ENTRY + more, "gates/MILESTONE": "0\n"})
    return read_registry(tree)[1]


def said(more):
    return [(one.line, one.column, one.rule) for one in problems(more)]


@pytest.mark.parametrize("name", sorted(OPTIONS_OF))
def test_good_options_are_accepted(name):
    assert problems(f"  check: hardgate:{name}\n  options: {GOOD[name]}\n") == []


def test_committed_secrets_needs_no_options():
    assert problems("  check: hardgate:committed_secrets\n") == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("  check: hardgate:import_layer\n", [(8, 10, "check_unknown")]),
        (LAYERS, [(1, 3, "options_missing")]),
        ("  check: gates/checks/app.py::x\n  options: {}\n", [(9, 12, "options_unexpected")]),
        (LAYERS + "  options: 7\n", [(9, 12, "schema.type")]),
        (
            LAYERS + "  options:\n    roots: [src]\n    layer: [[a], [b]]\n",
            [(10, 5, "schema.missing_key"), (11, 5, "schema.unknown_key")],
        ),
        (LAYERS + "  options:\n    roots: [../x]\n    layers: [[a], [b]]\n", 10),
        (LAYERS + "  options:\n    roots: ['src/*']\n    layers: [[a], [b]]\n", 10),
        (LAYERS + "  options:\n    roots: [src]\n    layers: [[a]]\n", 11),
        (LAYERS + "  options:\n    roots: [src]\n    layers: [[a], [a]]\n", 11),
        (LAYERS + "  options:\n    roots: [src, src]\n    layers: [[a], [b]]\n", 10),
        (LAYERS + "  options:\n    roots: [src]\n    layers: [[a-b], [b]]\n", 11),
    ],
)
def test_bad_options_are_refused_where_they_stand(more, expected):
    found = said(more)
    if isinstance(expected, int):
        assert [line for line, _, _ in found] == [expected]
    else:
        assert [(line, rule) for line, _, rule in sorted(found)] == [
            (line, rule) for line, _, rule in expected
        ]


def test_a_name_that_is_nearly_one_is_told():
    (problem,) = problems("  check: hardgate:import_layer\n")
    assert "did you mean 'import_layers'" in problem.message


def test_ready_checks_are_structural():
    text = ENTRY.replace("kind: structural", "kind: property\n  trials: 1")
    tree = DictionaryTree(
        {
            "gates/app.yaml": text + "  check: hardgate:committed_secrets\n",
            "gates/MILESTONE": "0\n",
        }
    )
    assert [one.rule for one in read_registry(tree)[1]] == ["check_mismatch"]


def test_editors_learn_the_options_of_each_check():
    conditions = json.loads(schemas()["gates.schema.json"])["$defs"]["Gate"]["allOf"]
    told = {
        one["if"]["properties"]["check"]["const"]
        for one in conditions
        if "const" in one["if"]["properties"].get("check", {})
    }
    assert told == {f"hardgate:{name}" for name in OPTIONS_OF}
    assert "$ref" not in json.dumps(conditions)
