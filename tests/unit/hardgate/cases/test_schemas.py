"""The checked-in JSON Schemas of the suite are fresh, and agree with the loader on real files."""

import json
import re

import pytest

from hardgate.cases.schemas import DOCUMENT_TYPES, PROGRAM, schemas, stale
from hardgate.documents.schema_files import FOLDER, run
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import DirectoryTree, OverlayTree
from hardgate.verdicts.network import ATTEMPTS, NetworkProof
from hardgate.verdicts.verdict import CheckResult, Counterexample, Finding, conclude

NAMES = [
    "case",
    "model_script",
    "tool_results",
    "judge",
    "mcp_server",
    "volatile_fields",
    "verdict",
]
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def conforms(value, schema, root) -> bool:
    """Whether a value conforms, for the keywords that these schemas use."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema:
        return conforms(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    for keyword, enough in (("anyOf", any), ("oneOf", lambda found: sum(found) == 1)):
        if keyword in schema:
            return enough([conforms(value, one, root) for one in schema[keyword]])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(
        isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
        for kind in kinds
    ):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "const" in schema and (type(value), value) != (type(schema["const"]), schema["const"]):
        return False
    if isinstance(value, str):
        return bool(re.search(schema.get("pattern", ""), value)) and (
            schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        )
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and (
            all(conforms(item, schema.get("items", {}), root) for item in value)
        )
    if isinstance(value, dict):
        known = schema.get("properties", {})
        other = schema.get("additionalProperties", {})
        if len(value) < schema.get("minProperties", 0):
            return False
        return all(name in value for name in schema.get("required", [])) and all(
            conforms(item, known[name], root)
            if name in known
            else other is not False and conforms(item, other, root)
            for name, item in value.items()
        )
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return True


def schema(name):
    return json.loads(schemas()[f"{name}.schema.json"])


def test_the_checked_in_schemas_are_fresh():
    tree = DirectoryTree(".", (FOLDER,), outside_links=True)
    assert [problem.render() for problem in stale(tree)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_schema_is_stale(name):
    tree = OverlayTree(DirectoryTree(".", (FOLDER,), outside_links=True))
    tree.edit(f"{FOLDER}/{name}.schema.json", '"title": "Hardgate: ', '"title": "Hardgate; ')
    assert [(problem.path, problem.line) for problem in stale(tree)] == [
        (f"{FOLDER}/{name}.schema.json", 3)
    ]


def test_the_command_writes_what_it_compares(tmp_path, capsys):
    folder = tmp_path / FOLDER
    assert run(DOCUMENT_TYPES, PROGRAM, ["--root", str(tmp_path)]) == 1
    assert "case.schema.json:1:1: schema_file_missing" in capsys.readouterr().err
    assert run(DOCUMENT_TYPES, PROGRAM, ["--write", str(folder)]) == 0
    assert run(DOCUMENT_TYPES, PROGRAM, ["--root", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("evals/cases/*.yaml", "case"),
        ("evals/fixtures/models/*.yaml", "model_script"),
        ("evals/volatile_fields.yaml", "volatile_fields"),
    ],
)
def test_the_files_of_the_suite_conform(pattern, name):
    tree = DirectoryTree(".", ("evals",), outside_links=True)
    paths = tree.glob(pattern)
    assert paths
    root = schema(name)
    for path in paths:
        assert conforms(load(path, tree.read(path)).value, root, root), path


GOOD_CASE = {
    "name": "x",
    "milestone": 1,
    "input": {"text": "y"},
    "model_fixture": "z",
    "expected": {"no_tools": True},
}


@pytest.mark.parametrize(
    ("edit", "good"),
    [
        ({}, True),
        ({"milestone": 100}, False),
        ({"milestone": True}, False),
        ({"name": "X"}, False),
        ({"nmae": "x"}, False),
        ({"clock": {"start": "2026-01-01T00:00:00Z"}}, True),
        ({"clock": {"start": "today"}}, False),
        ({"expected": {"no_tools": False}}, False),
        ({"expected": {"tool_calls": [{"name": "a.b", "count": 1}]}}, True),
        ({"expected": {"tool_calls": [{"name": "a.b", "cuont": 1}]}}, False),
        ({"expected": {"tool_calls": []}}, False),
        ({"expected": {"contains": ["x"]}}, True),
        ({"expected": {"contains": "x"}}, False),
        ({"expected": {"terminal_status": None}}, False),
        ({"expected": {"event_order": ["a.b", {"event": "a.b", "step": 1}]}}, True),
        ({"expected": {"event_order": [{"event": "a.b", "steps": 1}]}}, False),
        ({"fixtures": {"run_limits": {"max_steps": 2}}}, True),
        ({"fixtures": {"run_limits": {"max_steps": None}}}, False),
    ],
)
def test_the_case_schema_tells_good_from_bad(edit, good):
    root = schema("case")
    assert conforms({**GOOD_CASE, **edit}, root, root) is good


OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
ON = NetworkProof(False, None, (), "network_on", "on")
IDENTITY = {"id": "gate.x.y", "kind": "structural", "milestone": 0}
VERDICTS = [
    conclude(**IDENTITY, checks=(CheckResult("a", "pass", 1, [2]),), seed="s", network=OFF),
    conclude(**IDENTITY, findings=(Finding("a", 1, "r", "m"),), examined=1, trials=5, network=ON),
    conclude(**IDENTITY, counterexample=Counterexample("a", "b", True, "rejected"), subject="s 1"),
    conclude(**IDENTITY, limits_hit=("events",)),
]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_verdicts_conform(verdict):
    root = schema("verdict")
    assert conforms(json.loads(verdict.to_json()), root, root)


@pytest.mark.parametrize("edit", [{"outcome": "maybe"}, {"extra": 1}, {"examined": -0.5}])
def test_the_verdict_schema_refuses(edit):
    root = schema("verdict")
    assert not conforms({**json.loads(VERDICTS[0].to_json()), **edit}, root, root)


def described(node, root):
    """Every property of every object in a schema, as (name, description)."""
    if isinstance(node, dict):
        for name, value in node.get("properties", {}).items():
            target = root["$defs"][value["$ref"].rsplit("/", 1)[1]] if "$ref" in value else {}
            yield name, value.get("description", target.get("description", ""))
        for value in node.values():
            yield from described(value, root)
    elif isinstance(node, list):
        for value in node:
            yield from described(value, root)


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_described(name):
    root = schema(name)
    found = list(described(root, root))
    assert len(found) >= 3
    assert [key for key, text in found if len(text.split()) < 2] == []
