"""Excerpts: where they are cut, and what is said about the rest."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.domain.output_limits import CEILING_FACTOR, excerpt

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


def test_the_ceiling_is_four_times_the_limit():
    assert CEILING_FACTOR == 4


@pytest.mark.parametrize("content", ["", "0123456789", "ééééé"])
def test_what_fits_is_left_alone(content):
    assert excerpt(content, 10) == content


def test_sixty_percent_of_the_limit_from_the_beginning_and_twenty_from_the_end():
    assert excerpt("0123456789A", 10) == "012345\n[3 bytes left out]\n9A"
    assert excerpt("a" * 60 + "-" * 900 + "z" * 20, 100) == (
        "a" * 60 + "\n[900 bytes left out]\n" + "z" * 20
    )


def test_a_character_is_not_cut_in_two():
    assert excerpt("a" + "é" * 5, 10) == "aéé\n[4 bytes left out]\né"
    assert excerpt("é" * 5 + "a", 10) == "ééé\n[4 bytes left out]\na"
    assert excerpt("𝄞𝄞𝄞", 4) == "\n[12 bytes left out]\n"


@given(st.text(min_size=1), st.integers(1, 40))
def test_an_excerpt_is_a_beginning_and_an_end_and_counts_what_is_missing(content, limit):
    shown = excerpt(content, limit)
    encoded = content.encode()
    if len(encoded) <= limit:
        assert shown == content
        return
    head, missing, tail = re.fullmatch(
        r"(.*?)\n\[(\d+) bytes left out\]\n(.*)", shown, re.DOTALL
    ).groups()
    assert content.startswith(head)
    assert content.endswith(tail)
    kept = len(head.encode()) + len(tail.encode())
    assert kept <= limit * 80 // 100
    assert kept + int(missing) == len(encoded)
    assert limit * 60 // 100 - 4 < len(head.encode()) <= limit * 60 // 100
    assert limit * 20 // 100 - 4 < len(tail.encode()) <= limit * 20 // 100
