"""The report's JSON has exactly the form that docs/reference/schemas/report.schema.json says."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hardgate.report.faults import Fault
from hardgate.report.render import SCHEMA_VERSION, to_json
from hardgate.report.results import FAILED, TargetResult
from hardgate.report.rows import FAIL, PASS, PENDING, Report, Row, Totals, compare
from hardgate.report.selection import Selection
from tests.unit.hardgate.report.samples import LABEL, gate, good_results, targets_of

SCHEMA = json.loads(Path("docs/reference/schemas/report.schema.json").read_text(encoding="utf-8"))
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
READ = {"$ref", "const", "enum", "type", "minimum", "items"}
READ |= {"required", "properties", "additionalProperties"}
REMARKS = {"$schema", "$defs", "title", "description"}


def is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def complaints(value: Any, schema: dict[str, Any], place: str = "report") -> list[str]:
    """Where a value differs from a schema; knows the keywords that the report's schema uses."""
    unknown = set(schema) - READ - REMARKS
    assert not unknown, f"{place}: this test does not know {unknown}"
    if "$ref" in schema:
        return complaints(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], place)
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{place} is {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place} is {value!r}")
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        return [*found, f"{place} is no {' or '.join(types)}"]
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        found.append(f"{place} is {value!r}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += complaints(item, schema["items"], f"{place}[{index}]")
    if isinstance(value, dict):
        found += [f"{place} lacks {key}" for key in schema.get("required", []) if key not in value]
        known = schema.get("properties", {})
        for key, item in value.items():
            inner = known.get(key, schema.get("additionalProperties"))
            if inner is False:
                found.append(f"{place} has {key}")
            else:
                found += complaints(item, inner, f"{place}.{key}")
    return found


CASE = {"kind": "case", "check": "case:one", "sources": []}
GATES = [gate(), gate("gate.tool.case", **CASE), gate("gate.tool.later", milestone=2, **CASE)]


def reports() -> dict[str, Report]:
    """Reports that compare() makes: in order, with everything wrong, selected, and refused."""
    made = {}
    failing = good_results(*GATES) | {LABEL: TargetResult(LABEL, FAILED, "timeout", output="a\nb")}
    for name, results, targets in (
        ("in order", good_results(*GATES), targets_of(*GATES)),
        ("failing", failing, targets_of(*GATES)),
        ("nothing ran", {}, targets_of(*GATES)),
        ("no targets", {}, []),
        ("strays", good_results(*GATES), targets_of(*GATES, gate("gate.tool.old"))),
    ):
        rows, problems = compare(GATES, 0, "gates", targets, results)
        made[name] = Report(0, rows, problems, notes=["a note"])
    selection = Selection(0, "tool", "case")
    rows, problems = compare(GATES, 0, "gates", targets_of(*GATES), good_results(*GATES), selection)
    made["selected"] = Report(0, rows, problems, selection)
    made["refused"] = Report(None, [], [Fault("gates/a.yaml:1:1", "yaml.tab", "found a tab")])
    return made


REPORTS = reports()


@pytest.mark.parametrize("failed_only", [False, True])
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_the_form_of_the_schema(name, failed_only):
    plain = json.loads(to_json(REPORTS[name], failed_only=failed_only))
    assert complaints(plain, SCHEMA) == []


def test_the_reports_above_show_every_state_and_fault():
    rows = [row for made in REPORTS.values() for row in made.rows]
    assert {row.state for row in rows} == {PASS, FAIL, PENDING}
    assert any(row.faults and row.faults[0].details for row in rows)
    assert [made.ok for made in REPORTS.values()].count(True) == 2


@pytest.mark.parametrize(
    ("name", "kind"), [("gate", Row), ("fault", Fault), ("totals", Totals)], ids=str
)
def test_the_schema_names_every_field_and_no_other(name, kind):
    definition = SCHEMA["$defs"][name]
    names = {one.name for one in fields(kind)}
    assert set(definition["properties"]) == names
    assert set(definition["required"]) == names
    assert definition["additionalProperties"] is False
    assert all(one["description"] for one in definition["properties"].values())


def test_the_schema_s_version_and_states():
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    assert SCHEMA["$defs"]["gate"]["properties"]["state"]["enum"] == [PASS, FAIL, PENDING]
    assert set(SCHEMA["properties"]) == set(SCHEMA["required"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"ok": 1}, "report.ok is no boolean"),
        ({"surplus": 1}, "report has surplus"),
        ({"schema_version": 2}, "report.schema_version is 2"),
        ({"selection": {"x": "1"}}, "report.selection has x"),
        ({"milestone": True}, "report.milestone is no integer or null"),
        ({"cases": {"one": [1]}}, "report.cases.one[0] is no string"),
        ({"gates": [{}]}, "report.gates[0] lacks id"),
        ({"milestones": [{"milestone": -1}]}, "report.milestones[0].milestone is -1"),
    ],
)
def test_a_report_of_another_form_is_noticed(change, complaint):
    plain = json.loads(to_json(REPORTS["in order"])) | change
    assert complaint in complaints(plain, SCHEMA)
