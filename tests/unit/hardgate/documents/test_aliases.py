"""Second names of keys: one name behind the loader, and positions of what was written."""

from typing import ClassVar

import pytest
from pydantic import BaseModel, ConfigDict

from hardgate.documents.aliases import with_field_names
from hardgate.documents.model_keys import known_keys
from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import load
from hardgate.documents.validation import validate

ALIASES = {"colour": "color", "tint": "color", "sizes": "lengths"}
TEXT = """\
name: x
box:
  colour: red
  sizes:
    - {cm: 1}
"""


def renamed(text, at=("box",)):
    return with_field_names(load("b.yaml", text.encode()), at, ALIASES)


def test_the_fields_have_their_names_and_the_places_of_the_aliases():
    document, problems = renamed(TEXT)
    assert problems == []
    assert document.value == {"name": "x", "box": {"color": "red", "lengths": [{"cm": 1}]}}
    assert document.position(("box", "color")) == (3, 11)
    assert document.key_position(("box", "color")) == (3, 3)
    assert document.position(("box", "lengths", 0, "cm")) == (5, 12)
    assert document.position(("name",)) == (1, 7)


def test_the_loaded_document_stays_as_it_is():
    loaded = load("b.yaml", TEXT.encode())
    with_field_names(loaded, ("box",), ALIASES)
    assert "colour" in loaded.value["box"]
    assert loaded.position(("box", "colour")) == (3, 11)


@pytest.mark.parametrize(
    ("keys", "place", "message"),
    [
        ("color: a, colour: b", "1:17", "found 'colour' beside 'color', which means the same"),
        ("colour: a, color: b", "1:18", "found 'color' beside 'colour', which means the same"),
        ("colour: a, tint: b", "1:18", "found 'tint' beside 'colour', which means the same"),
    ],
)
def test_two_names_of_one_field_are_refused_and_the_first_counts(keys, place, message):
    document, problems = renamed(f"box: {{{keys}}}")
    assert [problem.render() for problem in problems] == [
        f"b.yaml:{place}: schema.alias_twice: {message}; allowed: one of the two"
    ]
    assert document.value == {"box": {"color": "a"}}


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("box: [colour]", ("box",)),
        ("box: colour", ("box",)),
        ("bag: {colour: red}", ("box",)),
        ("[1, 2]", ("box",)),
        ("box: {color: red}", ("box",)),
        ("arms: [{x: 1}]", ("arms", 1, "x")),
        ("arms: {x: 1}", ("arms", 0, "x")),
    ],
)
def test_nothing_happens_where_there_is_no_alias(text, at):
    loaded = load("b.yaml", text.encode())
    assert with_field_names(loaded, at, ALIASES) == (loaded, [])


def test_a_place_inside_a_list():
    document, _ = renamed("arms: [{box: {}}, {box: {colour: red}}]", ("arms", 1, "box"))
    assert document.value["arms"] == [{"box": {}}, {"box": {"color": "red"}}]
    assert document.position(("arms", 1, "box", "color")) == (1, 34)


class Box(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    aliases: ClassVar = ALIASES
    color: str = ""


def test_an_alias_is_suggested():
    assert known_keys(Box, ()) == ("color", "colour", "sizes", "tint")
    with pytest.raises(DefinitionError, match="did you mean 'tint'"):
        validate(load("b.yaml", b"tnt: red"), Box)
