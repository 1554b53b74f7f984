"""The enforced part of JSON Schema."""

import pytest

from agent_core.domain.json_schema import conforms, schema_problems

STRING = {"type": "string", "minLength": 2, "maxLength": 4}
INTEGER = {"type": "integer", "minimum": -1, "maximum": 3}
PERSON = {
    "type": "object",
    "description": "somebody",
    "properties": {"name": STRING, "age": INTEGER, "tags": {"type": "object"}},
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"type": "string"}, ["", "a"], [None, 1, True, [], {}]),
        (STRING, ["ab", "abcd", "éé"], ["a", "abcde", "é"]),
        ({"type": "boolean"}, [True, False], [0, 1, None, "true"]),
        ({"type": "integer"}, [0, -5, 10**40], [1.0, True, False, "1", None]),
        (INTEGER, [-1, 3], [-2, 4, True]),
        ({"type": "object"}, [{}], [{"a": 1}, [], None, "{}"]),
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
    ],
)
def test_conforming_values(schema, accepted, refused):
    assert schema_problems(schema, "schema") == []
    assert [value for value in accepted if not conforms(value, schema)] == []
    assert [value for value in refused if conforms(value, schema)] == []


@pytest.mark.parametrize(
    ("schema", "problems"),
    [
        ([], ["s: a schema is an object"]),
        ({}, ["s.type: None is not one of boolean, integer, object, string"]),
        ({"type": "strin"}, ["s.type: 'strin' is not one of boolean, integer, object, string"]),
        (
            {"type": "string", "pattern": "a", "minimum": 1},
            [
                "s.pattern: not a keyword of type string; "
                "allowed: description, maxLength, minLength, type",
                "s.minimum: not a keyword of type string; "
                "allowed: description, maxLength, minLength, type",
            ],
        ),
        ({"type": "string", "maxLength": "4"}, ["s.maxLength: must be an integer"]),
        ({"type": "integer", "minimum": True}, ["s.minimum: must be an integer"]),
        (
            {"type": "object", "properties": [], "required": []},
            ["s: `properties` is an object and `required` is an array"],
        ),
        (
            {"type": "object", "properties": {"a": {"type": "nope"}, "b": 1}, "required": ["c"]},
            [
                "s.required: 'c' is not among the properties",
                "s.properties.a.type: 'nope' is not one of boolean, integer, object, string",
                "s.properties.b: a schema is an object",
            ],
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "http://example.invalid/x"}}},
            ["s.properties.a.type: None is not one of boolean, integer, object, string"],
        ),
    ],
)
def test_what_could_not_be_enforced_is_refused(schema, problems):
    assert schema_problems(schema, "s") == problems
