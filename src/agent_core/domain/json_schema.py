"""The part of JSON Schema 2020-12 that tool schemas use, enforced in full.

A keyword that is not enforced is refused when a tool registers, so no schema promises something
that nobody checks. Two things are stricter than the standard: properties that a schema does not
name are refused unless it says `additionalProperties: true`, and an integer is written without a
fraction (1.0 is none). A `$ref` leads to `#/$defs/<name>` of the same schema and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAXIMUM_SCHEMA_DEPTH = 32
_LOCAL_REFERENCE = "#/$defs/"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite_number(value: Any) -> bool:
    return _is_number(value) and abs(value) < float("inf")


_TYPES: dict[str, Callable[[object], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "null": lambda value: value is None,
    "number": _is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}
_RANGE = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_KEYWORDS_BY_TYPE: dict[str, frozenset[str]] = {
    "array": frozenset({"items", "minItems", "maxItems"}),
    "boolean": frozenset(),
    "integer": _RANGE,
    "null": frozenset(),
    "number": _RANGE,
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "string": frozenset({"minLength", "maxLength"}),
}
_ANNOTATIONS = frozenset({"$comment", "default", "deprecated", "description", "examples", "title"})
_ANYWHERE = _ANNOTATIONS | {"type", "enum", "const"}
_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")


def schema_problems(schema: object, where: str) -> list[str]:
    """Everything about `schema` that could not be enforced, in its order; empty if it is fine."""
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    if not isinstance(definitions, dict):
        return [f"{where}.$defs: must be an object"]
    problems = list(_problems(schema, where, definitions, 1))
    for name, definition in definitions.items():
        problems += _problems(definition, f"{where}.$defs.{name}", definitions, 2)
    return problems


def conforms(value: object, schema: Schema, root: Schema | None = None) -> bool:
    """Whether `value` is what `schema` describes. `schema` must have no `schema_problems`.

    `root` is the schema whose `$defs` a `$ref` names; None if that is `schema` itself. Lengths of
    strings count code points. Numbers are equal by value (1 and 1.0), and no number is a boolean.
    """
    root = root or schema
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix(_LOCAL_REFERENCE)]
    types = schema.get("type")
    if types is not None and not any(_TYPES[name](value) for name in _listed(types)):
        return False
    if "const" in schema and not _same(value, schema["const"]):
        return False
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        return False
    if isinstance(value, dict):
        return _object_conforms(value, schema, root)
    if isinstance(value, list):
        return _within(len(value), schema.get("minItems"), schema.get("maxItems")) and (
            "items" not in schema or all(conforms(one, schema["items"], root) for one in value)
        )
    if isinstance(value, str):
        return _within(len(value), schema.get("minLength"), schema.get("maxLength"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _in_range(value, schema)
    return True


def _problems(
    schema: object, where: str, definitions: Mapping[str, object], depth: int
) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{where}: a schema is an object"
        return
    if depth > MAXIMUM_SCHEMA_DEPTH:
        yield f"{where}: more than {MAXIMUM_SCHEMA_DEPTH} levels"
        return
    if depth == 1:
        if schema.get("$schema", DIALECT) != DIALECT:
            yield f"{where}.$schema: must be {DIALECT}"
        schema = {key: value for key, value in schema.items() if key not in ("$schema", "$defs")}
    if "$ref" in schema:
        yield from _reference_problems(schema, where, definitions)
        return
    types = schema.get("type")
    names = _listed(types) if types is not None else []
    unknown = [name for name in names if not isinstance(name, str) or name not in _TYPES]
    if unknown or (types is not None and not names):
        yield f"{where}.type: {types!r} is not one of {', '.join(_TYPES)}, nor a list of them"
        return
    if types is None and not {"enum", "const"} & set(schema):
        yield f"{where}: one of type, enum, const and $ref is required"
    yield from _keyword_problems(schema, where, [str(name) for name in names])
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, member in properties.items():
            yield from _problems(member, f"{where}.properties.{name}", definitions, depth + 1)
    if "items" in schema:
        yield from _problems(schema["items"], f"{where}.items", definitions, depth + 1)


def _keyword_problems(schema: Schema, where: str, types: list[str]) -> Iterator[str]:
    allowed = _ANYWHERE.union(*(_KEYWORDS_BY_TYPE[name] for name in types))
    for keyword in schema:
        if keyword not in allowed:
            of = f"type {' or '.join(types)}" if types else "a schema without a type"
            yield f"{where}.{keyword}: not a keyword of {of}; allowed: {', '.join(sorted(allowed))}"
    for bound in _LENGTHS:
        if bound in schema and not (_is_integer(schema[bound]) and schema[bound] >= 0):
            yield f"{where}.{bound}: must be an integer of at least 0"
    for bound in sorted(_RANGE):
        if bound in schema and not _is_finite_number(schema[bound]):
            yield f"{where}.{bound}: must be a finite number"
    if not isinstance(schema.get("enum", []), list) or schema.get("enum") == []:
        yield f"{where}.enum: must be an array with at least one value"
    if not isinstance(schema.get("additionalProperties", False), bool):
        yield f"{where}.additionalProperties: must be true or false"
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict):
        yield f"{where}.properties: must be an object"
    elif not isinstance(required, list):
        yield f"{where}.required: must be an array"
    else:
        for name in required:
            if not isinstance(name, str) or name not in properties:
                yield f"{where}.required: {name!r} is not among the properties"


def _reference_problems(
    schema: Schema, where: str, definitions: Mapping[str, object]
) -> Iterator[str]:
    for keyword in schema:
        if keyword != "$ref" and keyword not in _ANNOTATIONS:
            yield f"{where}.{keyword}: not beside $ref"
    reference = schema["$ref"]
    if not isinstance(reference, str) or not reference.startswith(_LOCAL_REFERENCE):
        yield f"{where}.$ref: {reference!r} leaves the schema; allowed: {_LOCAL_REFERENCE}<name>"
        return
    seen: list[object] = []
    while isinstance(reference, str):
        name = reference.removeprefix(_LOCAL_REFERENCE)
        if name in seen:
            yield f"{where}.$ref: leads back to itself"
            return
        if name not in definitions:
            yield f"{where}.$ref: {name!r} is not among $defs"
            return
        seen.append(name)
        target = definitions[name]
        reference = target.get("$ref") if isinstance(target, dict) else None


def _object_conforms(value: dict[str, Any], schema: Schema, root: Schema) -> bool:
    properties = schema.get("properties", {})
    if any(name not in value for name in schema.get("required", [])):
        return False
    return all(
        conforms(member, properties[name], root)
        if name in properties
        else schema.get("additionalProperties", False)
        for name, member in value.items()
    )


def _in_range(value: float, schema: Schema) -> bool:
    return (
        _within(value, schema.get("minimum"), schema.get("maximum"))
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
    )


def _within(value: float, lowest: float | None, highest: float | None) -> bool:
    return (lowest is None or value >= lowest) and (highest is None or value <= highest)


def _same(one: object, other: object) -> bool:
    """Equality of JSON values: True is not 1, in no place of a list or an object."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return one == other


def _listed(types: object) -> list[Any]:
    return types if isinstance(types, list) else [types]
