"""The words of messages, the problems that carry them, and characters that look alike."""

import pytest

import hardgate.documents
from hardgate.documents.confusable import first_not_ascii, skeleton
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.wording import choices, did_you_mean, nearest, quoted, shown


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (12, "12"),
        (1.5, "1.5"),
        (10**80, "a very large number"),
        ("text", "'text'"),
        ("a\nb\x1b[31m", r"'a\nb\u001b[31m'"),
        ("x" * 61, f"'{'x' * 60}... (61 characters)'"),
        ({"a": 1}, "a map"),
        ({}, "an empty map"),
        ([1], "a list"),
        ([], "an empty list"),
    ],
)
def test_shown(value, words):
    assert shown(value) == words
    assert shown(value).isprintable()


def test_quoted_cuts_after_sixty_characters():
    assert quoted("x" * 60) == f"'{'x' * 60}'"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "nothing"),
        (["a"], "a"),
        (["a", "b"], "a or b"),
        (["a", "b", "c"], "a, b or c"),
        ([f"n{number}" for number in range(24)], "n22 or n23"),
        ([f"n{number}" for number in range(25)], "n22, n23 and 1 more"),
    ],
)
def test_choices(names, words):
    assert choices(names).endswith(words)


def test_nearest_ignores_case_and_wants_likeness():
    assert nearest("Statment", ["kind", "statement"]) == "statement"
    assert nearest("KIND", ["kind", "statement"]) == "kind"
    assert nearest("owner", ["lowered", "kind"]) is None
    assert did_you_mean("knid", ["kind"]) == "; did you mean 'kind'?"
    assert did_you_mean("owner", ["kind"]) == ""


def test_nearest_is_the_only_name_with_that_word():
    assert nearest("delay", ["retry_after_seconds", "delay_seconds"]) == "delay_seconds"
    assert nearest("Class", ["error_class", "text"]) == "error_class"
    assert nearest("tools", ["forbidden_tools", "unknown_tools"]) is None
    assert nearest("second", ["delay_seconds"]) is None
    assert nearest("", ["a_b"]) is None


def test_problems_are_sorted_unique_and_rendered():
    first, second = Problem("a.yaml", 2, 3, "r", "m"), Problem("a.yaml", 10, 1, "r", "m")
    error = DefinitionError([second, first, second])
    assert error.problems == (first, second)
    assert str(error) == "a.yaml:2:3: r: m\na.yaml:10:1: r: m"


def test_an_error_without_a_problem_is_a_mistake():
    with pytest.raises(ValueError, match="at least one problem"):
        DefinitionError([])


@pytest.mark.parametrize(
    ("text", "seen_as"),
    [
        ("plain", "plain"),
        ("\u0440\u0430th", "path"),
        ("\u03bd\u03b1lue", "value"),
        ("\uff4b\uff49\uff4e\uff44", "kind"),
        ("ki\u200bnd", "kind"),
        ("größe", "größe"),
        ("gro\u0308ße", "größe"),
    ],
)
def test_skeleton(text, seen_as):
    assert skeleton(text) == seen_as


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", None),
        (
            "k\u0456nd",
            "character 2 is U+0456 CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I, "
            "which looks like 'i'",
        ),
        ("größe", "character 3 is U+00F6 LATIN SMALL LETTER O WITH DIAERESIS"),
        ("a\u200bb", "character 2 is U+200B ZERO WIDTH SPACE, which prints nothing"),
        ("\ue000", "character 1 is U+E000 unnamed"),
    ],
)
def test_first_not_ascii(text, said):
    assert first_not_ascii(text) == said


def test_public_names_resolve_and_unknown_ones_do_not():
    for name in hardgate.documents.__all__:
        assert getattr(hardgate.documents, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        hardgate.documents.lode  # noqa: B018
