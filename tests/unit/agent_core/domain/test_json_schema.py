"""The enforced part of JSON Schema."""

import pytest

from agent_core.domain.json_schema import DIALECT, MAXIMUM_SCHEMA_DEPTH, conforms, schema_problems

STRING = {"type": "string", "minLength": 2, "maxLength": 4}
INTEGER = {"type": "integer", "minimum": -1, "maximum": 3}
PERSON = {
    "type": "object",
    "description": "somebody",
    "properties": {"name": STRING, "age": INTEGER, "tags": {"type": "object"}},
    "required": ["name"],
}
TREE = {
    "$schema": DIALECT,
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node", "title": "The root"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"$ref": "#/$defs/value"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        },
        "value": {"$ref": "#/$defs/number"},
        "number": {"type": "number"},
    },
}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"type": "string"}, ["", "a"], [None, 1, True, [], {}]),
        (STRING, ["ab", "abcd", "éé"], ["a", "abcde", "é"]),
        ({"type": "boolean"}, [True, False], [0, 1, None, "true"]),
        ({"type": "null"}, [None], [0, False, "", []]),
        ({"type": "integer"}, [0, -5, 10**40], [1.0, True, False, "1", None]),
        (INTEGER, [-1, 3], [-2, 4, True]),
        ({"type": "number"}, [0, -5, 1.5, 10**400], [True, "1", None]),
        ({"type": "number", "minimum": 0.5, "maximum": 2}, [0.5, 1, 2], [0.4, 2.1]),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2}, [0.1, 1], [0, 2, 3]),
        ({"type": "integer", "exclusiveMinimum": 0}, [1], [0]),
        ({"type": ["string", "null"], "maxLength": 1}, [None, "a"], ["ab", 1, []]),
        ({"type": "array"}, [[], [1, "a"]], [{}, "[]", None]),
        (
            {"type": "array", "items": INTEGER, "minItems": 1, "maxItems": 2},
            [[1], [1, 2]],
            [[], [1, 2, 3], [4], ["1"], [1, None]],
        ),
        ({"const": True}, [True], [1, 1.0, "true", None]),
        ({"const": 1}, [1, 1.0], [True, "1"]),
        ({"enum": ["a", 1, None]}, ["a", 1, 1.0, None], ["b", True, False, 0]),
        ({"const": [1, {"a": False}]}, [[1.0, {"a": False}]], [[1, {"a": 0}], [1], [1, {}, 2]]),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c", 1]),
        ({"type": "object"}, [{}], [{"a": 1}, [], None, "{}"]),
        ({"type": "object", "additionalProperties": False}, [{}], [{"a": 1}]),
        (
            {"type": "object", "additionalProperties": True, "properties": {"a": STRING}},
            [{}, {"b": 1}, {"a": "ab", "b": [None]}],
            [{"a": "a"}, {"a": 1}],
        ),
        (
            PERSON,
            [{"name": "Ada"}, {"name": "Ada", "age": 3}, {"name": "Ada", "tags": {}}],
            [
                {},
                {"age": 3},
                {"name": None},
                {"name": "A"},
                {"name": "Ada", "age": 4},
                {"name": "Ada", "extra": 1},
                {"name": "Ada", "tags": {"x": 1}},
            ],
        ),
        (
            TREE,
            [
                {},
                {"root": {}},
                {"root": {"value": 1, "children": [{"children": [{"value": 2.5}]}]}},
            ],
            [
                {"root": 1},
                {"root": {"value": "1"}},
                {"root": {"children": [{"children": [{"value": None}]}]}},
                {"root": {"children": [1]}},
            ],
        ),
    ],
)
def test_conforming_values(schema, accepted, refused):
    assert schema_problems(schema, "schema") == []
    assert [value for value in accepted if not conforms(value, schema)] == []
    assert [value for value in refused if conforms(value, schema)] == []


TYPES = "array, boolean, integer, null, number, object, string, nor a list of them"
FOR_STRINGS = (
    "allowed: $comment, const, default, deprecated, description, enum, examples, "
    "maxLength, minLength, title, type"
)


@pytest.mark.parametrize(
    ("schema", "problems"),
    [
        ([], ["s: a schema is an object"]),
        (True, ["s: a schema is an object"]),
        ({}, ["s: one of type, enum, const and $ref is required"]),
        ({"type": "strin"}, [f"s.type: 'strin' is not one of {TYPES}"]),
        ({"type": []}, [f"s.type: [] is not one of {TYPES}"]),
        ({"type": ["string", 1]}, [f"s.type: ['string', 1] is not one of {TYPES}"]),
        ({"type": {"a": 1}}, [f"s.type: {{'a': 1}} is not one of {TYPES}"]),
        (
            {"type": "string", "pattern": "a", "minimum": 1},
            [
                f"s.pattern: not a keyword of type string; {FOR_STRINGS}",
                f"s.minimum: not a keyword of type string; {FOR_STRINGS}",
            ],
        ),
        (
            {"const": 1, "minimum": 0},
            [
                "s.minimum: not a keyword of a schema without a type; allowed: $comment, const, "
                "default, deprecated, description, enum, examples, title, type"
            ],
        ),
        ({"type": "string", "maxLength": "4"}, ["s.maxLength: must be an integer of at least 0"]),
        ({"type": "array", "minItems": -1}, ["s.minItems: must be an integer of at least 0"]),
        ({"type": "string", "minLength": 1.0}, ["s.minLength: must be an integer of at least 0"]),
        ({"type": "integer", "minimum": True}, ["s.minimum: must be a finite number"]),
        ({"type": "number", "maximum": float("inf")}, ["s.maximum: must be a finite number"]),
        ({"type": "number", "maximum": float("nan")}, ["s.maximum: must be a finite number"]),
        ({"enum": []}, ["s.enum: must be an array with at least one value"]),
        ({"enum": "ab"}, ["s.enum: must be an array with at least one value"]),
        ({"type": "object", "properties": []}, ["s.properties: must be an object"]),
        ({"type": "object", "required": {}}, ["s.required: must be an array"]),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            ["s.additionalProperties: must be true or false"],
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "no"}}, "b": 1},
                "required": ["c", ["a"]],
            },
            [
                "s.required: 'c' is not among the properties",
                "s.required: ['a'] is not among the properties",
                f"s.properties.a.items.type: 'no' is not one of {TYPES}",
                "s.properties.b: a schema is an object",
            ],
        ),
        ({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"},
         [f"s.$schema: must be {DIALECT}"]),
        (
            {"type": "object", "properties": {"a": {"type": "string", "$schema": DIALECT}}},
            [f"s.properties.a.$schema: not a keyword of type string; {FOR_STRINGS}"],
        ),
        ({"type": "object", "$defs": []}, ["s.$defs: must be an object"]),
        (
            {"type": "object", "$defs": {"a": {"type": "no"}}},
            [f"s.$defs.a.type: 'no' is not one of {TYPES}"],
        ),
    ],
)  # fmt: skip
def test_what_could_not_be_enforced_is_refused(schema, problems):
    assert schema_problems(schema, "s") == problems


ELSEWHERE = [
    "https://example.invalid/schema.json",
    "http://example.invalid/x#/$defs/a",
    "file:///schema.json",
    "other.json",
    "#",
    "#/properties/a",
    "#a",
    "",
    None,
    1,
]


@pytest.mark.parametrize("reference", ELSEWHERE)
def test_a_reference_does_not_leave_the_schema(reference):
    schema = {"type": "object", "properties": {"a": {"$ref": reference}}, "$defs": {}}
    assert schema_problems(schema, "s") == [
        f"s.properties.a.$ref: {reference!r} leaves the schema; allowed: #/$defs/<name>"
    ]


def test_a_reference_leads_somewhere_and_not_round_in_a_circle():
    definitions = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/c"}}, "$defs": definitions}
    assert schema_problems(schema, "s") == [
        "s.properties.x.$ref: 'c' is not among $defs",
        "s.$defs.a.$ref: leads back to itself",
        "s.$defs.b.$ref: leads back to itself",
    ]


def test_nothing_that_constrains_stands_beside_a_reference():
    schema = {"$ref": "#/$defs/a", "minLength": 1, "$defs": {"a": {"type": "string"}}}
    assert schema_problems(schema, "s") == ["s.minLength: not beside $ref"]


def test_a_schema_is_not_nested_too_deeply():
    schema = {"type": "string"}
    for _ in range(MAXIMUM_SCHEMA_DEPTH - 1):
        schema = {"type": "array", "items": schema}
    assert schema_problems(schema, "s") == []
    (problem,) = schema_problems({"type": "array", "items": schema}, "s")
    assert problem.endswith(".items: more than 32 levels")
