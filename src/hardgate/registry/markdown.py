"""The little of Markdown that the docs check needs: headings, their anchors, links, code masked."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import NamedTuple


class Heading(NamedTuple):
    """One heading; `line` counts from 1."""

    level: int
    text: str
    anchor: str
    line: int


class Link(NamedTuple):
    """The target of one link as written; positions count from 1."""

    target: str
    line: int
    column: int


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ATX_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_SETEXT_LINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_NO_PARAGRAPH = re.compile(r"\s*(?:$|[#>|*+-]|\d+[.)]\s|<)")
_INLINE_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_LINK_DEFINITION = re.compile(r" {0,3}\[[^\]]+\]:\s+<?([^\s>]+)")
_KEPT_IN_ANCHOR = ("L", "M", "N", "Pc")


class Markdown:
    """One document. Code, fenced or in backticks, holds no headings, links or markers."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.without_code = _mask_code(self.lines)

    @cached_property
    def _bare_lines(self) -> list[str]:
        """The lines with code and comments blanked out, columns kept."""
        joined = "\n".join(self.without_code)
        return _COMMENT.sub(lambda match: _blank(match.group()), joined).split("\n")

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """All headings in order, each with the anchor that GitHub gives it."""
        found: list[Heading] = []
        taken: dict[str, int] = {}
        for index, bare in enumerate(self._bare_lines):
            level_text = self._atx(index, bare) or self._setext(index, bare)
            if level_text:
                level, text, line = level_text
                found.append(Heading(level, text, _unique(anchor_of(text), taken), line))
        return tuple(found)

    @property
    def anchors(self) -> tuple[str, ...]:
        """The anchors of all headings in order."""
        return tuple(heading.anchor for heading in self.headings)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The targets of inline links and link definitions, in order."""
        found = []
        for number, bare in enumerate(self._bare_lines, start=1):
            for match in _INLINE_LINK.finditer(bare):
                found.append(Link(match.group(1), number, match.start(1) + 1))
            definition = _LINK_DEFINITION.match(bare)
            if definition:
                found.append(Link(definition.group(1), number, definition.start(1) + 1))
        return tuple(found)

    def _atx(self, index: int, bare: str) -> tuple[int, str, int] | None:
        """A heading that starts with `#`. Its text keeps the code that `bare` has lost."""
        match = _ATX_HEADING.fullmatch(self.lines[index]) if bare.lstrip()[:1] == "#" else None
        return (len(match.group(1)), match.group(2), index + 1) if match else None

    def _setext(self, index: int, bare: str) -> tuple[int, str, int] | None:
        """A heading underlined with `=` or `-`."""
        match = _SETEXT_LINE.fullmatch(bare) if index else None
        if not match or _NO_PARAGRAPH.match(self._bare_lines[index - 1]):
            return None
        return (1 if "=" in match.group(1) else 2, self.lines[index - 1].strip(), index)


def anchor_of(heading: str) -> str:
    """GitHub's anchor for a heading that is the only one of its text.

    Markup is taken off; then lower case, spaces become hyphens, and of the other characters only
    letters, marks, numbers, hyphens and connecting punctuation stay.
    """
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"<[^>]+>", "", text)
    text = re.sub(r"(?<!\w)_+([^_]+)_+(?!\w)", r"\1", text)
    kept = (
        character
        for character in text.strip().lower()
        if character in " -" or unicodedata.category(character).startswith(_KEPT_IN_ANCHOR)
    )
    return "".join(kept).replace(" ", "-")


def _unique(anchor: str, taken: dict[str, int]) -> str:
    """Later headings of the same anchor get `-1`, `-2`, ... appended."""
    result = anchor
    while result in taken:
        taken[anchor] += 1
        result = f"{anchor}-{taken[anchor]}"
    taken[result] = 0
    return result


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _mask_code(lines: list[str]) -> list[str]:
    """The lines with fenced blocks and code spans blanked out, columns kept."""
    masked = []
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            closes = match and match.group(1).startswith(fence) and not line.strip(" `~")
            fence = "" if closes else fence
            masked.append("")
        elif match and not (match.group(1)[0] == "`" and "`" in line[match.end() :]):
            fence = match.group(1)
            masked.append("")
        else:
            masked.append(_CODE_SPAN.sub(lambda span: " " * len(span.group()), line))
    return masked
