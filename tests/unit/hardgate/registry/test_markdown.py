"""Headings, their anchors as GitHub makes them, links, and code that is neither."""

import pytest

from hardgate.registry.markdown import Link, Markdown, anchor_of


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Hard gates", "hard-gates"),
        ("What's new?", "whats-new"),
        ("`math.calculate`", "mathcalculate"),
        ("a_b and c-d", "a_b-and-c-d"),
        ("_very_ *strong* **words**", "very-strong-words"),
        ("[The spec](spec.md) says", "the-spec-says"),
        ("Größe & Maß", "größe--maß"),
        ("1. First: 50 %", "1-first-50-"),
        ("Tabs <kbd>x</kbd> here", "tabs-x-here"),
        ("snake_case_name", "snake_case_name"),
        ("日本語 見出し", "日本語-見出し"),
        ("Party 🎉 time", "party--time"),
    ],
)
def test_anchor(heading, anchor):
    assert anchor_of(heading) == anchor


def test_equal_headings_are_numbered():
    document = Markdown("# A\n# A\n# A-1\n# A\n")
    assert document.anchors == ("a", "a-1", "a-1-1", "a-2")


def test_headings_of_both_styles_with_level_and_line():
    text = "# One #\n\nTwo words\n===\n\n  ## Three ##\nFour\n---\n\n####### seven\n#none\n"
    found = [(one.level, one.text, one.line) for one in Markdown(text).headings]
    assert found == [(1, "One", 1), (1, "Two words", 3), (2, "Three", 6), (2, "Four", 7)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~ text\n# no\n```\n# no\n~~~\n",
        "````\n```\n# no\n````\n",
        "<!--\n# no\n-->\n",
        "a paragraph `# no`\n",
        "- item\n---\n",
        "\n---\n",
        "| a |\n---\n",
    ],
)
def test_what_is_no_heading(text):
    assert Markdown(text).headings == ()


def test_a_fence_that_is_closed_lets_headings_through():
    assert Markdown("```python\n# no\n```\n# Yes\n").anchors == ("yes",)
    assert Markdown("```one line```\n# Yes\n").anchors == ("yes",)


def test_links_with_their_places():
    text = 'See [a](b.md) and\n![i](<c.md#x> "title"), `[no](no.md)`.\n[ref]: d.md\n'
    assert Markdown(text).links == (Link("b.md", 1, 9), Link("c.md#x", 2, 7), Link("d.md", 3, 8))


def test_links_in_comments_and_code_blocks_are_none():
    assert Markdown("<!-- [a](b.md) -->\n```\n[a](b.md)\n```\n").links == ()
