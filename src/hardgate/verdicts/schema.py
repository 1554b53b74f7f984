"""The JSON Schema of verdict.json, made from what `from_json` requires."""

from collections.abc import Mapping
from typing import Any

from hardgate.verdicts import verdict
from hardgate.verdicts.network import ATTEMPTS

_JSON_TYPES = {
    str: "string",
    int: "integer",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
}

_DESCRIPTIONS = {
    "id": "The gate's id, or case.<name>.",
    "kind": "How the gate is checked.",
    "milestone": "The first milestone at which it has to hold.",
    "outcome": "pass or fail; a pass is backed by everything else in the file.",
    "checks": "One entry for each expectation, in the order in which they were made.",
    "findings": "What was objected to, sorted.",
    "examined": "How many things were looked at, in units of `unit`.",
    "unit": "What was counted, such as files or events.",
    "trials": "How many generated examples were run; null where there are none.",
    "seed": "What the run was seeded with; null where nothing is.",
    "network": "The proof that the network is off; null before a test process has made one.",
    "counterexample": "What became of the seeded defect; null for the gate itself.",
    "limits_hit": "Limits that cut the evidence short; each one fails the verdict.",
    "subject": "What was run, with its version; null where nothing was.",
    "harness": "The version of Hardgate.",
}
_CHECK = {
    "name": "The expectation, such as final_text_contains.",
    "outcome": "pass or fail.",
    "expected": "Any JSON value.",
    "observed": "Any JSON value; long ones are cut and say so.",
    "message": "What is missing and what is unexpected.",
    "path": "The file in which the expectation is written.",
    "line": "Its line, counted from 1; 0 where there is none.",
}
_FINDING = {
    "path": "The file; empty for what concerns the whole repository.",
    "line": "The line, counted from 1; 0 where there is none.",
    "rule": "The name of the rule.",
    "message": "What was found and what is allowed.",
}
_COUNTEREXAMPLE = {
    "name": "The defect.",
    "reason": "The rule or check that has to reject it.",
    "rejected": "Whether the gate rejected it.",
    "why": "rejected, or what happened instead.",
    "message": "Details of what happened instead.",
}
_NETWORK = {
    "off": "Whether the network was proven to be off.",
    "ways_out": "Interfaces that are up and routes; null where the system does not tell.",
    "attempts": "How each attempted connection was refused; empty when none was made.",
    "rule": "The rule that fails the verdict; empty when the network is off.",
    "message": "Why the network is not proven to be off.",
}


def verdict_schema() -> dict[str, Any]:
    """The schema; every object in it is closed and complete."""
    schema = _object(verdict.VERDICT_TYPES, _DESCRIPTIONS)
    properties = schema["properties"]
    properties["kind"]["enum"] = list(verdict.KINDS)
    properties["outcome"]["enum"] = [verdict.PASS, verdict.FAIL]
    properties["checks"]["items"] = {"$ref": "#/$defs/Check"}
    properties["findings"]["items"] = {"$ref": "#/$defs/Finding"}
    properties["limits_hit"]["items"] = {"type": "string"}
    for name, definition in (("network", "Network"), ("counterexample", "Counterexample")):
        description = properties[name].pop("description")
        properties[name] = {
            "anyOf": [{"$ref": f"#/$defs/{definition}"}, {"type": "null"}],
            "description": description,
        }
    return {**schema, "$defs": _definitions()}


def _definitions() -> dict[str, Any]:
    check = _object(verdict.CHECK_TYPES, _CHECK)
    check["properties"]["outcome"]["enum"] = [verdict.PASS, verdict.FAIL]
    counterexample = _object(verdict.COUNTEREXAMPLE_TYPES, _COUNTEREXAMPLE)
    counterexample["properties"]["why"]["enum"] = list(verdict.WHYS)
    network = _object(verdict.NETWORK_TYPES, _NETWORK)
    network["properties"]["ways_out"]["items"] = {"type": "string"}
    network["properties"]["attempts"]["propertyNames"] = {"enum": list(ATTEMPTS)}
    network["properties"]["attempts"]["additionalProperties"] = {"type": "string"}
    return {
        "Check": check,
        "Finding": _object(verdict.FINDING_TYPES, _FINDING),
        "Counterexample": counterexample,
        "Network": network,
    }


def _object(
    types: Mapping[str, tuple[type, ...]], descriptions: Mapping[str, str]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, allowed in types.items():
        properties[name] = {"description": descriptions[name]}
        if allowed != verdict.ANY:
            names = [_JSON_TYPES[one] for one in allowed]
            properties[name]["type"] = names[0] if len(names) == 1 else names
    return {
        "type": "object",
        "properties": properties,
        "required": list(types),
        "additionalProperties": False,
    }
