"""The first line of each file tells editors its schema, by a path that leads there."""

import posixpath

import pytest

from hardgate.documents.tree import DirectoryTree

LINE = "# yaml-language-server: $schema="
FOLDER = "docs/reference/schemas"
SCHEMAS = {
    "gates/*.yaml": "gates",
    "gates/retired.yaml": "retired",
    "gates/allowances/*.yaml": "allowances",
    "evals/quarantine.yaml": "quarantine",
    "evals/cases/*.yaml": "case",
    "evals/fixtures/models/*.yaml": "model_script",
    "evals/fixtures/tools/*.yaml": "tool_results",
    "evals/fixtures/judges/*.yaml": "judge",
    "evals/fixtures/mcp/*.yaml": "mcp_server",
    "evals/volatile_fields.yaml": "volatile_fields",
}
TREE = DirectoryTree(".", ("gates", "evals", FOLDER), outside_links=True)
FILES = {path: schema for pattern, schema in SCHEMAS.items() for path in TREE.glob(pattern)}


def test_there_are_such_files():
    assert {"gates", "retired", "allowances", "case", "model_script", "volatile_fields"} <= set(FILES.values())


@pytest.mark.parametrize("path", FILES)
def test_the_schema_of_a_file(path):
    first = TREE.read(path).decode().split("\n", 1)[0]
    assert first.startswith(LINE)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), first[len(LINE) :]))
    assert target == f"{FOLDER}/{FILES[path]}.schema.json"
    assert TREE.exists(target)
