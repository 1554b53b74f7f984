"""The part of JSON Schema 2020-12 that tool schemas use, enforced in full.

A keyword outside `KEYWORDS` is refused when a tool registers, so no schema promises something
that is not checked. Properties that a schema does not name are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any]

_TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
_KEYWORDS_BY_TYPE = {
    "object": frozenset({"properties", "required"}),
    "string": frozenset({"minLength", "maxLength"}),
    "boolean": frozenset(),
    "integer": frozenset({"minimum", "maximum"}),
}
KEYWORDS = frozenset({"type", "description"}).union(*_KEYWORDS_BY_TYPE.values())


def schema_problems(schema: object, where: str) -> list[str]:
    """Everything about `schema` that could not be enforced; empty if it is fine."""
    if not isinstance(schema, dict):
        return [f"{where}: a schema is an object"]
    type_name = schema.get("type")
    if type_name not in _TYPES:
        return [f"{where}.type: {type_name!r} is not one of {', '.join(sorted(_TYPES))}"]
    allowed = {"type", "description"} | _KEYWORDS_BY_TYPE[type_name]
    problems = [
        f"{where}.{keyword}: not a keyword of type {type_name}; "
        f"allowed: {', '.join(sorted(allowed))}"
        for keyword in schema
        if keyword not in allowed
    ]
    for bound in ("minLength", "maxLength", "minimum", "maximum"):
        if bound in schema and not _TYPES["integer"](schema[bound]):
            problems.append(f"{where}.{bound}: must be an integer")
    if type_name == "object":
        problems += _object_problems(schema, where)
    return problems


def _object_problems(schema: Schema, where: str) -> list[str]:
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return [f"{where}: `properties` is an object and `required` is an array"]
    problems = [
        f"{where}.required: {name!r} is not among the properties"
        for name in required
        if name not in properties
    ]
    for name, member in properties.items():
        problems += schema_problems(member, f"{where}.properties.{name}")
    return problems


def conforms(value: object, schema: Schema) -> bool:
    """Whether `value` is what `schema` describes. `schema` must have no `schema_problems`.

    Lengths of strings count code points.
    """
    type_name = schema["type"]
    if not _TYPES[type_name](value):
        return False
    if isinstance(value, dict):
        return _object_conforms(value, schema)
    if isinstance(value, str):
        return _within(len(value), schema.get("minLength"), schema.get("maxLength"))
    if type_name == "integer" and isinstance(value, int):
        return _within(value, schema.get("minimum"), schema.get("maximum"))
    return True


def _object_conforms(value: dict[str, Any], schema: Schema) -> bool:
    properties = schema.get("properties", {})
    return all(name in value for name in schema.get("required", [])) and all(
        name in properties and conforms(member, properties[name]) for name, member in value.items()
    )


def _within(value: int, lowest: int | None, highest: int | None) -> bool:
    return (lowest is None or value >= lowest) and (highest is None or value <= highest)
