"""The line by which an editor finds the schema of a YAML file."""

from __future__ import annotations

import posixpath

from hardgate.documents.schema_files import FOLDER
from hardgate.documents.tree import Tree


def editor_line(tree: Tree, path: str, name: str) -> str:
    """The first line of the file `path`, or nothing where the workspace keeps no schema `name`."""
    schema = f"{FOLDER}/{name}.schema.json"
    if not tree.exists(schema):
        return ""
    way = posixpath.relpath(schema, posixpath.dirname(path))
    return f"# yaml-language-server: $schema={way}\n"
