"""Texts of one form, and values that may not be null."""

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict

from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import load
from hardgate.documents.texts import DOTTED_PATTERN, NAME_PATTERN, SHA256_PATTERN, matching
from hardgate.documents.validation import validate_without_nulls

Word = Annotated[str, AfterValidator(matching("^[a-z]+$", "sample.word", "letters"))]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
    word: Word | None = None
    words: tuple[Word, ...] = ()
    needed: str = "x"
    free: Any = None
    parts: "tuple[Part, ...]" = ()


def refusals(text):
    try:
        validate_without_nulls(load("p.yaml", text.encode()), Part, free_keys=("free",))
    except DefinitionError as error:
        return [problem.render().removeprefix("p.yaml:") for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("word: Abc", "1:7: sample.word: found 'Abc'; allowed: letters"),
        ('word: ""', "1:7: sample.word: found ''; allowed: letters"),
        ('word: "abc\\n"', "1:7: sample.word: found 'abc\\n'; allowed: letters"),
        (
            "word: \u0430bc",
            "1:7: sample.word: found '\u0430bc' (character 1 is U+0430 CYRILLIC SMALL LETTER A, "
            "which looks like 'a'); allowed: letters",
        ),
        ("words: [abc, d1]", "1:14: sample.word: found 'd1'; allowed: letters"),
    ],
)
def test_a_text_of_another_form_is_refused_in_words(text, said):
    assert refusals(text) == [said]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("word: null", ["1:7"]),
        ("word: ~", ["1:7"]),
        ("parts: [{word: null}, {word: abc}]", ["1:16"]),
        ("needed: null", ["1:9"]),
        ("{word: null, needed: null, words: [null]}", ["1:8", "1:22", "1:36"]),
        ("{free: null, word: abc}", []),
        ("free: {a: null, b: [null]}", []),
        ("null", ["1:1"]),
    ],
)
def test_null_is_no_way_to_leave_a_key_out(text, places):
    found = refusals(text)
    assert [one.split(": ")[0] for one in found] == places
    assert all("schema.type: found null; allowed: " in one for one in found)


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (NAME_PATTERN, ["a", "a_1"], ["", "A", "1a", "a-b", "a.b", "a\n"]),
        (DOTTED_PATTERN, ["a.b", "a.b.1"], ["a", "a.", ".a", "A.b", "a..b"]),
        (SHA256_PATTERN, ["0" * 64, "af" * 32], ["0" * 63, "0" * 65, "AF" * 32, "g" * 64]),
    ],
)
def test_the_shared_patterns(pattern, good, bad):
    check = matching(pattern, "r", "a")
    assert [check(text) for text in good] == good
    for text in bad:
        with pytest.raises(Exception, match="allowed: a"):
            check(text)
