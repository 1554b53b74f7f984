"""Closed schemas without pydantic: what they accept, what they say, and their JSON Schema."""

import pytest

from hardgate.documents.problems import DefinitionError
from hardgate.documents.shapes import (
    AnyMap,
    Choice,
    Entry,
    Many,
    Number,
    OnlyTrue,
    Part,
    Refused,
    Tagged,
    Text,
    TextOrMap,
    json_schema,
    key,
    matching,
    read,
)
from hardgate.documents.strict_yaml import load


def no_x(text: str) -> None:
    if "x" in text:
        raise Refused("sample.no_x", "found an x; allowed: none")


class Cat(Entry):
    """A cat."""

    kind: str = key(Choice("cat"), "Which animal.")
    lives: int = key(Number(minimum=0, maximum=9, whole=True), "How many are left.", default=9)


class Fish(Entry):
    """A fish."""

    kind: str = key(Choice("fish"), "Which animal.")
    depth: float = key(Number(minimum=0, maximum=99.5), "How deep it swims.")


class Owner(Entry):
    """Somebody with animals.

    More about owners.
    """

    name: str = key(
        Text(minimum=1, maximum=5, check=matching("^[a-z]+$", "sample.name", "letters")), "Who."
    )
    pets: tuple = key(
        Many(Tagged("kind", {"cat": Cat, "fish": Fish}), minimum=1, maximum=2), "Which animals."
    )
    nickname: str = key(Text(maximum=5, check=no_x), "As friends say.", default="")
    friendly: bool | None = key(OnlyTrue(), "Whether to greet.", default=None)
    notes: object = key(TextOrMap(Text(maximum=5), AnyMap(minimum=1)), "Anything.", default=None)
    best: Cat | None = key(Part(Cat), "The favourite.", default=None)


GOOD = "name: ann\npets: [{kind: cat}]\n"


def problems(text: str) -> list[str]:
    try:
        read(load("o.yaml", text.encode()), Owner)
    except DefinitionError as error:
        return [problem.render() for problem in error.problems]
    return []


def test_values_and_defaults():
    text = "name: ann\npets: [{kind: cat, lives: 3}, {kind: fish, depth: 2}]\nnotes: {a: [1]}\n"
    owner = read(load("o.yaml", text.encode()), Owner)
    assert owner == Owner(
        name="ann", pets=(Cat(kind="cat", lives=3), Fish(kind="fish", depth=2)), notes={"a": [1]}
    )
    assert (owner.nickname, owner.friendly, owner.best) == ("", None, None)


def test_entries_are_values():
    assert Cat(kind="cat") == Cat(kind="cat", lives=9)
    assert Cat(kind="cat") != Cat(kind="cat", lives=8)
    assert repr(Cat(kind="cat")) == "Cat(kind='cat', lives=9)"
    with pytest.raises(AttributeError, match="cannot be changed"):
        Cat(kind="cat").lives = 1
    with pytest.raises(TypeError, match="Cat needs kind"):
        Cat()
    with pytest.raises(TypeError, match="no key colour"):
        Cat(kind="cat", colour="grey")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Cat(kind="cat"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- 1\n", "o.yaml:1:1: schema.type: found a list; allowed: a map"),
        ("pets: [{kind: cat}]\n", "o.yaml:1:1: schema.missing_key: found no key 'name'"),
        (f"{GOOD}nicknam: a\n", "3:1: schema.unknown_key: found the unknown key 'nicknam'"),
        (f"{GOOD}nicknam: a\n", "did you mean 'nickname'?"),
        (f"{GOOD}n\u00e4me: a\n", "(character 2 is U+00E4"),
        (f"{GOOD}nickname: 5\n", "3:11: schema.type: found 5; allowed: a text"),
        (f"{GOOD}nickname: axe\n", "3:11: sample.no_x: found an x; allowed: none"),
        (
            f"{GOOD}nickname: abcdef\n",
            "found a text of 6 characters; allowed: at most 5 characters",
        ),
        (f"{GOOD}friendly: false\n", "3:11: schema.value: found false; allowed: true, or no such"),
        (f'{GOOD}friendly: "true"\n', "found 'true'; allowed: true, or no such key"),
        (f"{GOOD}friendly: 1\n", "found 1; allowed: true, or no such key"),
        (f"{GOOD}notes: [1]\n", "3:8: schema.type: found a list; allowed: a map or a text"),
        (f"{GOOD}notes: {{}}\n", "found an empty map; allowed: at least 1 key"),
        (f"{GOOD}notes: abcdef\n", "found a text of 6 characters"),
        (f"{GOOD}best: cat\n", "3:7: schema.type: found 'cat'; allowed: a map"),
        ("name: Ann\npets: [{kind: cat}]\n", "1:7: sample.name: found 'Ann'; allowed: letters"),
        ('name: ""\npets: [{kind: cat}]\n', "found an empty text; allowed: at least 1 character"),
        ("name: a\u0430\npets: [{kind: cat}]\n", "looks like 'a'"),
        ("name: ann\npets: []\n", "2:7: schema.length: found an empty list; allowed: at least 1"),
        ("name: ann\npets: [1, 2, 3]\n", "found a list of 3 items; allowed: at most 2 items"),
        ("name: ann\npets: cat\n", "found 'cat'; allowed: a list"),
        ("name: ann\npets: [cat]\n", "2:8: schema.type: found 'cat'; allowed: a map"),
        ("name: ann\npets: [{lives: 1}]\n", "2:8: schema.missing_key: found no key 'kind'"),
        (
            "name: ann\npets: [{kind: cats}]\n",
            "found 'cats'; allowed: cat or fish; did you mean 'cat'",
        ),
        ("name: ann\npets: [{kind: [cat]}]\n", "found a list; allowed: cat or fish"),
        ("name: ann\npets: [{kind: cat, depth: 1}]\n", "found the unknown key 'depth'"),
        ("name: ann\npets: [{kind: cat, lives: 1.5}]\n", "found 1.5; allowed: a whole number"),
        ("name: ann\npets: [{kind: cat, lives: true}]\n", "found true; allowed: a whole number"),
        (
            "name: ann\npets: [{kind: cat, lives: -1}]\n",
            "schema.range: found -1; allowed: at least 0",
        ),
        ("name: ann\npets: [{kind: cat, lives: 10}]\n", "found 10; allowed: at most 9"),
        ("name: ann\npets: [{kind: fish, depth: 99.6}]\n", "found 99.6; allowed: at most 99.5"),
        ("name: ann\npets: [{kind: fish, depth: false}]\n", "found false; allowed: a number"),
    ],
)
def test_what_is_refused(text, said):
    found = problems(text)
    assert len(found) == 1, found
    assert said in found[0]


def test_all_problems_at_once():
    text = "name: ANN\npets: [{kind: cat, lives: 10}, {kind: fish}]\nnickname: x\nage: 5\n"
    assert [one.split(": ")[0] for one in problems(text)] == [
        "o.yaml:1:7",
        "o.yaml:2:27",
        "o.yaml:2:32",
        "o.yaml:3:11",
        "o.yaml:4:1",
    ]


def test_the_json_schema_says_the_same():
    schema = json_schema(Owner)
    assert schema["description"] == "Somebody with animals."
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["name", "pets"]
    assert set(schema["properties"]) == set(Owner.keys)
    assert schema["properties"]["nickname"] == {
        "type": "string",
        "maxLength": 5,
        "description": "As friends say.",
        "default": "",
    }
    assert schema["properties"]["pets"]["items"] == {
        "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Fish"}]
    }
    cat = schema["$defs"]["Cat"]
    assert cat["properties"]["lives"]["default"] == 9
    assert cat["properties"]["kind"] == {"enum": ["cat"], "description": "Which animal."}
