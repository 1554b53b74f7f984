"""Every complaint of a model at its line, in plain words, all of them at once."""

from enum import StrEnum
from typing import Annotated, Literal, get_args

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import ValidationError
from pydantic_core.core_schema import ErrorType

from hardgate.documents.complaints import complain
from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import load
from hardgate.documents.validation import (
    locate,
    refused,
    validate,
    validate_list,
    validate_without_nulls,
)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Call(Strict):
    kind: Literal["call"]
    tool: str
    calls: tuple[int, ...] = ()


class Final(Strict):
    kind: Literal["final"]
    text: str


def shouted(text: str) -> str:
    if text.isupper():
        raise refused("shouting", f"found '{text}'; allowed: a calm {{text}}")
    return text


def old_style(number: int) -> int:
    if number == 13:
        raise ValueError("a lucky number")
    return number


class Thing(Strict):
    name: Annotated[str, AfterValidator(shouted)]
    colour: Colour = Colour.RED
    count: Annotated[int, Field(ge=1, lt=10)] = 1
    share: float = 0.5
    ready: bool = False
    labels: Annotated[
        tuple[Annotated[str, Field(min_length=2, max_length=4)], ...],
        Field(min_length=1, max_length=3),
    ] = ("xx",)
    limits: dict[Literal["low", "high"], int] = Field(default_factory=dict)
    turns: tuple[Annotated[Call | Final, Field(discriminator="kind")], ...] = ()
    either: str | int | Final | None = None
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "x"
    renamed: int = Field(default=0, alias="as")
    calls: dict[str, Call] = Field(default_factory=dict)


def complaints(text: str, model=Thing, **options) -> list[str]:
    with pytest.raises(DefinitionError) as refusal:
        validate(load("x.yaml", text.encode()), model, **options)
    return [line.removeprefix("x.yaml:") for line in str(refusal.value).split("\n")]


def test_a_good_document_becomes_an_instance():
    text = """\
name: a
colour: green
share: 1
labels: [ab, cd]
limits: {low: 1}
turns:
  - {kind: call, tool: t, calls: [1, 2]}
  - {kind: final, text: done}
either: {kind: final, text: x}
as: 7
"""
    thing = validate(load("x.yaml", text.encode()), Thing)
    assert (thing.colour, thing.share, thing.labels) == (Colour.GREEN, 1.0, ("ab", "cd"))
    assert thing.turns == (
        Call(kind="call", tool="t", calls=(1, 2)),
        Final(kind="final", text="done"),
    )
    assert (thing.either, thing.renamed) == (Final(kind="final", text="x"), 7)


KEYS = "as, calls, code, colour, count, either, labels, limits, name, ready, share or turns"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", ["1:1: schema.type: found an empty list; allowed: a map"]),
        ("{}", ["1:1: schema.missing_key: found a map without 'name'; allowed: one that has it"]),
        ("name: 1", ["1:7: schema.type: found 1; allowed: a text"]),
        ("name: null", ["1:7: schema.type: found null; allowed: a text"]),
        ("name: LOUD", ["1:7: shouting: found 'LOUD'; allowed: a calm {text}"]),
        (
            "name: a\nnmae: b",
            [
                f"2:1: schema.unknown_key: found the unknown key 'nmae'; allowed: {KEYS}"
                "; did you mean 'name'?"
            ],
        ),
        (
            "name: a\nrenamed: 1",
            [
                f"2:1: schema.unknown_key: found the unknown key 'renamed'; allowed: {KEYS}"
                "; did you mean 'name'?"
            ],
        ),
        (
            "name: a\ncalls:\n  one: {kind: call, tool: t, cals: []}",
            [
                "3:30: schema.unknown_key: found the unknown key 'cals'; "
                "allowed: calls, kind or tool; did you mean 'calls'?"
            ],
        ),
        (
            "name: a\ncolour: gren",
            ["2:9: schema.value: found 'gren'; allowed: red or green; did you mean 'green'?"],
        ),
        ("name: a\ncount: 0", ["2:8: schema.range: found 0; allowed: at least 1"]),
        ("name: a\ncount: 10", ["2:8: schema.range: found 10; allowed: less than 10"]),
        ("name: a\ncount: 13.0", ["2:8: schema.type: found 13.0; allowed: a whole number"]),
        ("name: a\nshare: a half", ["2:8: schema.type: found 'a half'; allowed: a number"]),
        ("name: a\nready: yes", ["2:8: schema.type: found 'yes'; allowed: true or false"]),
        ("name: a\nready: 1", ["2:8: schema.type: found 1; allowed: true or false"]),
        ("name: a\nlabels: ab", ["2:9: schema.type: found 'ab'; allowed: a list"]),
        (
            "name: a\nlabels: []",
            ["2:9: schema.length: found an empty list; allowed: at least 1 item"],
        ),
        (
            "name: a\nlabels: [a]",
            ["2:10: schema.length: found 'a'; allowed: at least 2 characters"],
        ),
        (
            "name: a\ncalls:\n  one: {}",
            [
                "3:8: schema.missing_key: found a map without 'kind'; allowed: one that has it",
                "3:8: schema.missing_key: found a map without 'tool'; allowed: one that has it",
            ],
        ),
        (
            "name: a\nlabels: [aa, bb, cc, dd]",
            ["2:9: schema.length: found a list; allowed: at most 3 items"],
        ),
        (
            "name: a\nlabels: [a, bbbbb]",
            [
                "2:10: schema.length: found 'a'; allowed: at least 2 characters",
                "2:13: schema.length: found 'bbbbb'; allowed: at most 4 characters",
            ],
        ),
        (
            "name: a\nlimits:\n  hihg: 1\n  low: x",
            [
                "3:3: schema.value: found 'hihg'; allowed: low or high; did you mean 'high'?",
                "4:8: schema.type: found 'x'; allowed: a whole number",
            ],
        ),
        (
            "name: a\ncode: X1",
            ["2:7: schema.pattern: found 'X1'; allowed: a text that matches ^[a-z]+$"],
        ),
        (
            "name: a\nturns:\n  - {kind: cal, tool: t}",
            ["3:12: schema.value: found 'cal'; allowed: call or final; did you mean 'call'?"],
        ),
        (
            "name: a\nturns:\n  - {tool: t}",
            ["3:5: schema.missing_key: found a map without 'kind'; allowed: one that has it"],
        ),
        (
            "name: a\nturns:\n  - {kind: call, tol: t, calls: [1, x]}",
            [
                "3:5: schema.missing_key: found a map without 'tool'; allowed: one that has it",
                "3:18: schema.unknown_key: found the unknown key 'tol'; "
                "allowed: calls, kind or tool; did you mean 'tool'?",
                "3:37: schema.type: found 'x'; allowed: a whole number",
            ],
        ),
        (
            "name: a\neither: 1.5",
            ["2:9: schema.type: found 1.5; allowed: a text or a whole number or a map"],
        ),
        (
            "name: a\neither: {kind: final, txet: x}",
            [
                "2:9: schema.missing_key: found a map without 'text'; allowed: one that has it",
                "2:23: schema.unknown_key: found the unknown key 'txet'; "
                "allowed: kind or text; did you mean 'text'?",
            ],
        ),
    ],
)
def test_complaints(text, expected):
    assert complaints(text) == expected


def test_all_complaints_come_at_once_and_in_the_order_of_the_file():
    places = [line.split(" ")[0] for line in complaints("colour: x\ncount: y\nshare: z\nwhat: 1\n")]
    assert places == ["1:1:", "1:9:", "2:8:", "3:8:", "4:1:"]


def test_a_validator_that_raises_value_error_is_quoted():
    class Lucky(Strict):
        number: Annotated[int, AfterValidator(old_style)]

    assert complaints("number: 13", Lucky) == [
        "1:9: schema.value: found 13; allowed: a lucky number"
    ]


def test_a_part_of_a_document():
    text = "outer:\n  - inner: {name: 5}\n"
    assert complaints(text, at=("outer", 0, "inner")) == [
        "2:19: schema.type: found 5; allowed: a text"
    ]


def test_a_list_keeps_its_good_items():
    text = "- {name: a}\n- {name: 1}\n- {name: c}\n- 5\n"
    things, problems = validate_list(load("x.yaml", text.encode()), Thing)
    assert {index: thing.name for index, thing in things.items()} == {0: "a", 2: "c"}
    assert [problem.render() for problem in problems] == [
        "x.yaml:2:10: schema.type: found 1; allowed: a text",
        "x.yaml:4:3: schema.type: found 5; allowed: a map",
    ]


def test_a_list_that_is_none():
    things, problems = validate_list(load("x.yaml", b"a: 1"), Thing)
    assert (things, [problem.render() for problem in problems]) == (
        {},
        ["x.yaml:1:1: schema.type: found a map; allowed: a list"],
    )


def test_an_unknown_key_of_an_item_is_told_the_known_ones():
    _, problems = validate_list(load("x.yaml", b"- {kind: final, text: x, txt: y}"), Final)
    assert [problem.render() for problem in problems] == [
        "x.yaml:1:26: schema.unknown_key: found the unknown key 'txt'; "
        "allowed: kind or text; did you mean 'text'?"
    ]


class Nullable(Strict):
    count: int | None = 1
    inner: dict[str, int | None] = Field(default_factory=dict)
    items: tuple[int | None, ...] = ()
    rows: tuple[dict[str, int | None], ...] = ()
    free: dict[str, int | None] = Field(default_factory=dict)


NULL = "schema.type: found null; allowed: a value, or no such key"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count: null", [f"1:8: {NULL}"]),
        ("inner: {a: 1, b: null}", [f"1:18: {NULL}"]),
        ("items: [1, ~, null]", [f"1:12: {NULL}", f"1:15: {NULL}"]),
        ("inner: {free: null}", None),
        ("free: {a: null, b: 1}", None),
        ("rows: [{free: null}, {a: 1}]", None),
        ("rows: [{a: 1}, {b: null}]", [f"1:20: {NULL}"]),
        ("count: 2\nitems: [1]", None),
        (
            "count: null\nitems: [x, null]",
            [
                f"1:8: {NULL}",
                "2:9: schema.type: found 'x'; allowed: a whole number",
                f"2:12: {NULL}",
            ],
        ),
        ("inner: null", ["1:8: schema.type: found null; allowed: a map"]),
    ],
)
def test_a_key_that_is_null_is_refused_except_below_free_keys(text, expected):
    document = load("x.yaml", text.encode())
    if expected is None:
        instance = validate_without_nulls(document, Nullable, free_keys=("free",))
        assert instance == validate(document, Nullable)
        return
    with pytest.raises(DefinitionError) as refusal:
        validate_without_nulls(document, Nullable, free_keys=("free",))
    assert str(refusal.value).split("\n") == [f"x.yaml:{line}" for line in expected]


def test_without_free_keys_every_null_is_refused():
    with pytest.raises(DefinitionError):
        validate_without_nulls(load("x.yaml", b"free: {a: null}"), Nullable)


@pytest.mark.parametrize(
    ("value", "location", "keys"),
    [
        ({"a": [{"b": 1}]}, ("a", 0, "b"), ("a", 0, "b")),
        ({"a": [{"b": 1}]}, ("a", 0, "Label", "b"), ("a", 0, "b")),
        ({"call": {"call": 1}}, ("call", "call"), ("call", "call")),
        (
            {"turn": {"call": {"x": 1}, "x": {"y": 2}}},
            ("turn", "call", "x", "y"),
            ("turn", "x", "y"),
        ),
        ({"a": 1}, ("str",), ()),
        ({"b": {"x": 1}, "a": {"x": 2}}, ("b", "a", "x"), ("b", "x")),
    ],
)
def test_locations_are_found_again_despite_labels_of_unions(value, location, keys):
    assert locate(value, location) == keys


def context_of(kind: str) -> dict[str, object]:
    """Something for each name that pydantic puts into the context of an error."""
    numbers = dict.fromkeys(("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length"), 3)
    return {
        **numbers,
        "pattern": "^x$",
        "expected": "'aa' or 'bb'",
        "discriminator": "'kind'",
        "tag": "ab",
        "expected_tags": "'aa', 'bb'",
        "error": ValueError("it is wrong"),
    }


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_error_of_pydantic_becomes_a_sentence(kind):
    details = {
        "type": kind,
        "loc": ("key",),
        "input": "ab",
        "ctx": context_of(kind),
        "msg": f"Input should be a valid {kind.replace('_', ' ')}",
    }
    complaint = complain(details, ("key",), ("known",))
    message = complaint.message()
    assert complaint.rule.startswith("schema.")
    assert message.startswith("found ")
    assert "; allowed: " in message
    assert "Input should" not in message
    assert "http" not in message


def test_real_messages_of_pydantic_lose_their_lead():
    class Dated(Strict):
        day: Annotated[int, Field(multiple_of=2)]
        when: Annotated[str, Field(min_length=1)]

    with pytest.raises(ValidationError):
        Dated.model_validate({"day": 1, "when": ""})
    said = complaints("day: 1\nwhen: ''\n", Dated)
    assert said == [
        "1:6: schema.range: found 1; allowed: a multiple of 2",
        "2:7: schema.length: found ''; allowed: at least 1 character",
    ]
