"""Reads which gates the specs declare: the section "Hard gates" of each file in docs/specs.

An item of the section is the id in bold code, a dash, the statement, and the milestone at the end:

    1. **`gate.event.sequence_integrity`** — Over generated schedules ... event. **M2.**
    6. **`gate.structure.import_boundary`** — alias, owned by [structure](structure.md). **M0.**
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hardgate.documents.confusable import first_not_ascii
from hardgate.documents.problems import Problem
from hardgate.documents.tree import Tree
from hardgate.documents.wording import quoted
from hardgate.registry.grammar import GATE_ID_PATTERN
from hardgate.registry.markdown import Heading, Markdown

SPECS = "docs/specs/*.md"
SECTION = "Hard gates"
SECTION_ANCHOR = "hard-gates"
_NOT_A_SPEC = "README.md"

_ITEM_START = re.compile(r"(\d+)\. +")
_TOKEN = re.compile(r"\*\*`([^`]*)`\*\*")
_MILESTONE = re.compile(r"\*\*M(0|[1-9]\d?)\.\*\*$")
_ALIAS = re.compile(r"alias, owned by \[[^\]]+\]\(([^)]+)\)\.")
_GATE_ID = re.compile(GATE_ID_PATTERN)
_FORM = "N. **`gate.<area>.<slug>`** — statement. **M<milestone>.**"


@dataclass(frozen=True)
class DeclaredGate:
    """One item of a spec's section. `owner` is the path of the owning spec if it is an alias."""

    id: str
    milestone: int
    statement: str
    number: int
    owner: str | None
    path: str
    line: int
    column: int

    @property
    def alias(self) -> bool:
        """Whether another spec owns the gate."""
        return self.owner is not None

    @property
    def place(self) -> str:
        """`path:line:column` of the id."""
        return f"{self.path}:{self.line}:{self.column}"

    def problem(self, rule: str, message: str) -> Problem:
        """A Problem at the id."""
        return Problem(self.path, self.line, self.column, rule, message)


def spec_paths(tree: Tree) -> tuple[str, ...]:
    """The files that have to declare gates."""
    return tuple(path for path in tree.glob(SPECS) if posixpath.basename(path) != _NOT_A_SPEC)


def read_specs(tree: Tree) -> tuple[list[DeclaredGate], list[Problem]]:
    """All gates that the specs of a workspace declare, aliases included, and what is malformed."""
    declared: list[DeclaredGate] = []
    problems: list[Problem] = []
    for path in spec_paths(tree):
        document = Markdown(tree.read(path).decode("utf-8", "replace"))
        for one in _read_section(path, document):
            (problems if isinstance(one, Problem) else declared).append(one)  # type: ignore[arg-type]
    return declared, problems


def _read_section(path: str, document: Markdown) -> Iterator[DeclaredGate | Problem]:
    sections = [heading for heading in document.headings if heading.text == SECTION]
    if [heading.level for heading in sections] != [2]:
        line = sections[-1].line if sections else len(document.lines)
        message = f"found {len(sections)} headings '{SECTION}'; allowed: one, '## {SECTION}'"
        yield Problem(path, line, 1, "spec_section", message)
        return
    section = sections[0]
    for heading in document.headings:
        if heading.line > section.line:
            message = f"found the heading {quoted(heading.text)} after '{SECTION}'"
            message = f"{message}; allowed: '{SECTION}' as the last section"
            yield Problem(path, heading.line, 1, "spec_section", message)
            return
    yield from _read_items(path, document, section)


class _Item:
    """The lines of one item, or of something that is none (`number` is None)."""

    def __init__(self, line: int, number: int | None, text: str) -> None:
        self.line = line
        self.number = number
        self.texts = [text]


def _split_items(document: Markdown, section: Heading) -> list[_Item]:
    """Groups the lines below the heading; indented lines go on with what is before them."""
    items: list[_Item] = []
    for number, line in enumerate(document.lines[section.line :], start=section.line + 1):
        start = _ITEM_START.match(line)
        if start:
            items.append(_Item(number, int(start.group(1)), line[start.end() :].strip()))
        elif line.strip() and items and line.startswith("  "):
            items[-1].texts.append(line.strip())
        elif line.strip():
            items.append(_Item(number, None, line.strip()))
    return items


def _read_items(
    path: str, document: Markdown, section: Heading
) -> Iterator[DeclaredGate | Problem]:
    items = _split_items(document, section)
    if not items:
        message = f"found no gate under '{SECTION}'; allowed: at least one, {_FORM}"
        yield Problem(path, section.line, 1, "spec_section", message)
    all_numbered = all(item.number is not None for item in items)
    for position, item in enumerate(items, start=1):
        if item.number is None:
            message = f"found {quoted(item.texts[0])}; allowed: numbered items only, {_FORM}"
            yield Problem(path, item.line, 1, "spec_item", message)
            continue
        if all_numbered and item.number != position:
            message = f"found the number {item.number}; allowed: {position}, counting from 1"
            yield Problem(path, item.line, 1, "spec_item_number", message)
        column = document.lines[item.line - 1].find("`") + 2
        yield _read_item(path, item.line, column, item.number, " ".join(item.texts))


def _read_item(path: str, line: int, column: int, number: int, text: str) -> DeclaredGate | Problem:
    token, milestone = _TOKEN.match(text), _MILESTONE.search(text)
    body = text[token.end() : milestone.start()].strip() if token and milestone else ""
    fault = None
    if token is None:
        fault = "an item that does not start with an id in bold code"
    elif milestone is None:
        fault = f"the item {quoted(token.group(1))} without a milestone at its end"
    elif not body.startswith("— ") or not body[2:].strip():
        fault = f"the item {quoted(token.group(1))} without a dash and a statement"
    if fault is not None or token is None or milestone is None:
        return Problem(path, line, max(column, 1), "spec_item", f"found {fault}; allowed: {_FORM}")
    gate_id = token.group(1)
    if not _GATE_ID.fullmatch(gate_id):
        strange = first_not_ascii(gate_id)
        found = quoted(gate_id) + (f" ({strange})" if strange else "")
        message = f"found {found}; allowed: gate.<area>.<slug>, each of a-z, 0-9 and _"
        return Problem(path, line, column, "id_malformed", message)
    statement = body[2:].strip()
    alias = _ALIAS.fullmatch(statement)
    if statement.startswith("alias") and not alias:
        message = f"found {quoted(statement)}; allowed: alias, owned by [<spec>](<spec>.md)."
        return Problem(path, line, column, "spec_item", message)
    owner = posixpath.normpath(posixpath.join(posixpath.dirname(path), alias[1])) if alias else None
    return DeclaredGate(
        gate_id, int(milestone.group(1)), statement, number, owner, path, line, column
    )
