"""JSON Schemas for editors, generated from the models and checked in.

A package that owns a kind of file lists it as a DocumentType; the same few functions write the
schemas of any list of them and say which checked-in ones are stale.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from hardgate.documents.problems import Problem
from hardgate.documents.tree import DirectoryTree, MissingFile, Tree

FOLDER = "docs/reference/schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class DocumentType:
    """One kind of file: `name` is the stem of its schema file, `model` what validates it."""

    name: str
    model: Any
    title: str
    description: str

    @property
    def file_name(self) -> str:
        """The name of the schema file."""
        return f"{self.name}.schema.json"

    @property
    def path(self) -> str:
        """Where the schema file is checked in."""
        return f"{FOLDER}/{self.file_name}"

    def schema(self) -> dict[str, Any]:
        """What the model says; a document that is no pydantic model overrides this."""
        return TypeAdapter(self.model).json_schema()


def schema_texts(types: Sequence[DocumentType]) -> dict[str, str]:
    """The text of each schema file, by file name."""
    return {one.file_name: _schema_text(one) for one in types}


def _schema_text(one: DocumentType) -> str:
    generated = one.schema()
    head = {"$schema": _DIALECT, "title": one.title, "description": one.description}
    rest = {key: value for key, value in generated.items() if key not in head}
    return json.dumps({**head, **rest}, indent=2, ensure_ascii=False) + "\n"


def stale_schemas(tree: Tree, types: Sequence[DocumentType], repair: str) -> list[Problem]:
    """Schema files that are missing or not what the models say; `repair` is the mending command."""
    problems = []
    for one in types:
        wanted = _schema_text(one)
        try:
            found = tree.read(one.path).decode("utf-8", "replace")
        except MissingFile:
            message = f"found no such file; allowed: the file that `{repair}` writes"
            problems.append(Problem(one.path, 1, 1, "schema_file_missing", message))
            continue
        if found != wanted:
            line = _first_difference(found.split("\n"), wanted.split("\n"))
            message = f"found another schema than the models'; allowed: what `{repair}` writes"
            problems.append(Problem(one.path, line, 1, "schema_file_stale", message))
    return problems


def _first_difference(found: Sequence[str], wanted: Sequence[str]) -> int:
    """The number of the first line that differs."""
    line = 0
    while found[line : line + 1] == wanted[line : line + 1]:
        line += 1
    return line + 1


def run(types: Sequence[DocumentType], program: str, arguments: Sequence[str] | None) -> int:
    """The command of a list of types: compares, or writes. Returns 0, or 1 for a stale file."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--root", default=".", help="the workspace (default: this folder)")
    parser.add_argument("--write", metavar="DIR", help=f"write the schemas there, e.g. {FOLDER}")
    options = parser.parse_args(arguments)
    if options.write:
        folder = Path(options.write)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in schema_texts(types).items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
            print(folder / name)
        return 0
    tree = DirectoryTree(options.root, (FOLDER,))
    problems = stale_schemas(tree, types, f"{program} --write {FOLDER}")
    for problem in problems:
        print(problem.render(), file=sys.stderr)
    return 1 if problems else 0
