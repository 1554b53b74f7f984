"""Text from models and tools cannot drive a terminal, hide, or look like our own lines."""

import unicodedata

import pytest

from hardgate.verdicts.text import indented, one_line, printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 391", "plain 391"),
        ("caf\u00e9 \u6f22", "caf\u00e9 \u6f22"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\rb\x08c\x00d\x7f\x9b2J", "a\\rb\\x08c\\x00d\\x7f\\x9b2J"),
        ("tab\there", "tab\\there"),
        ("two\nlines", "two\nlines"),
        ("abc\u202edef\u2066", "abc\\u202edef\\u2066"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("half \ud83d", "half \\ud83d"),
        ("no\u00a0break", "no\\xa0break"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("emoji \U0001f600", "emoji \U0001f600"),
    ],
)
def test_unsafe_characters_become_visible(text, shown):
    assert printable(text) == shown


def test_no_control_or_direction_character_survives():
    every = "".join(map(chr, range(0x10000)))
    left = {
        character
        for character in printable(every, limit=len(every))
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF")
        or unicodedata.bidirectional(character) in ("LRI", "RLI", "FSI", "PDI")
    }
    assert left == {"\n"}


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (1, "... [25 characters left out] ...z"),
        (2, "a... [24 characters left out] ...z"),
        (8, "abcdef... [18 characters left out] ...yz"),
        (25, "abcdefghijklmnopqr... [1 characters left out] ...tuvwxyz"),
        (26, "abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_a_long_text_keeps_both_ends_and_says_how_much_was_left_out(limit, shown):
    assert printable("abcdefghijklmnopqrstuvwxyz", limit) == shown


def test_a_text_at_the_limit_is_whole():
    assert printable("x" * 10, 10) == "x" * 10


def test_one_line_has_no_newline():
    assert one_line("a\nPASS b") == "a\\nPASS b"


def test_indented_marks_every_line_but_the_first():
    assert indented("a\nPASS b\n", "  | ") == "a\n  | PASS b\n  | "


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("stdout", "12345", "12345"),
        ("stdout", "123456", "12345..."),
        ("stderr", "12345", "12345"),
        ("stderr", "123456", "...23456"),
    ],
)
def test_of_a_long_value_the_end_that_says_more_is_kept(name, text, shown):
    assert shortened(name, text, 5) == shown
