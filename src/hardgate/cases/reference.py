"""The reference of every key of the suite's files, made from their JSON Schemas.

`python -m hardgate.cases.reference [--write FILE]` prints the page or writes it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hardgate.cases.expected import ALIASES
from hardgate.cases.needs import ABILITIES
from hardgate.cases.schemas import schemas

PAGE = "docs/reference/cases.md"
PROGRAM = "python -m hardgate.cases.reference"
_FILES = (
    ("case", "A case", "evals/cases/NN_<name>.yaml"),
    ("model_script", "A model script", "evals/fixtures/models/<stem>.yaml"),
    ("tool_results", "Recorded tool results", "evals/fixtures/tools/<stem>.yaml"),
    ("judge", "A scripted judge", "evals/fixtures/judges/<stem>.yaml"),
    ("mcp_server", "A scripted MCP server", "evals/fixtures/mcp/<stem>.yaml"),
    ("volatile_fields", "The volatile fields", "evals/volatile_fields.yaml"),
)
_HEAD = """\
# Keys of cases and fixtures

Every key of the suite's files. This page is made from the schemas by `{program}`; a test
compares the two. How to write a case is in [the guide](../guide/cases.md).
"""
_ABILITIES = """\
## What comes with later milestones

A case that runs is refused where it uses what its subject cannot do yet (`case.needs_<ability>`). A
case of a later milestone may be written ahead of it.
"""


def reference() -> str:
    """The text of the page."""
    parts = [_HEAD.format(program=PROGRAM)]
    for name, title, path in _FILES:
        schema = json.loads(schemas()[f"{name}.schema.json"])
        parts += _file(schema, title, path)
    parts.append(_ABILITIES)
    rows = [(f"`{name}`", str(one.milestone), one.meaning) for name, one in ABILITIES.items()]
    parts.append(_table(("Ability", "Milestone", "What it is"), rows))
    return "\n".join(parts)


def _file(schema: dict[str, Any], title: str, path: str) -> Iterator[str]:
    """The sections of one kind of file: its top, and each map in it."""
    definitions = schema.get("$defs", {})
    yield f"## {title}: `{path}`\n"
    if "properties" in schema:
        yield _keys(schema, definitions)
    else:
        yield f"A {_value(schema)}.\n"
    for name, definition in definitions.items():
        yield f"### {name}\n"
        yield f"{definition['description'].splitlines()[0]}\n"
        yield _keys(definition, definitions)


def _keys(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The table of the keys of one map; second names stand with the key that they name."""
    required = schema.get("required", [])
    names = dict.fromkeys(schema["properties"])
    aliases = {name: alias for alias, name in ALIASES.items() if {alias, name} <= set(names)}
    rows = []
    for name in names:
        if name in aliases.values():
            continue
        value = schema["properties"][name]
        key = f"`{name}`" + (f", also `{aliases[name]}`" if name in aliases else "")
        target = definitions.get(value.get("$ref", "").rsplit("/", 1)[-1], {})
        meaning = value.get("description", target.get("description", ""))
        rows.append((key, _with_default(value, name in required), meaning))
    return _table(("Key", "Value", "Meaning"), rows)


def _with_default(value: dict[str, Any], is_required: bool) -> str:
    text = _value(value)
    if is_required:
        return f"{text}, required"
    default = value.get("default")
    return text if default in (None, "", []) else f"{text}, default `{json.dumps(default)}`"


def _value(schema: dict[str, Any]) -> str:
    """What a value may be, in few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"map [{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_value(one) for one in schema[key])
    if "const" in schema:
        return f"`{json.dumps(schema['const']).strip(chr(34))}`"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    kind = str(schema.get("type"))
    if kind == "array":
        return f"list of {_value(schema.get('items', {}))}"
    if kind in ("integer", "number"):
        return _range(schema, "whole number" if kind == "integer" else "number")
    return {"string": "text", "boolean": "true or false", "object": "map"}.get(kind, "anything")


def _range(schema: dict[str, Any], word: str) -> str:
    lowest = schema.get("minimum", schema.get("exclusiveMinimum"))
    above = "above" if "exclusiveMinimum" in schema else "from"
    return f"{word} {above} {lowest} to {schema['maximum']}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    """A text as it stands in a cell: `<this>` is no HTML."""
    return text.replace("|", "\\|").replace("<", "\\<")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns 0."""
    parser = argparse.ArgumentParser(prog=PROGRAM)
    parser.add_argument("--write", metavar="FILE", help=f"write the page there, e.g. {PAGE}")
    options = parser.parse_args(arguments)
    if options.write:
        Path(options.write).write_text(reference(), encoding="utf-8", newline="")
    else:
        print(reference(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
