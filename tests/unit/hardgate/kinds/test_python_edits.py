"""The edits that defects make in Python sources."""

import ast

import pytest

from hardgate.documents.tree import DefectError, ManifestTree, OverlayTree
from hardgate.kinds.python_edits import (
    add_import,
    add_to_function,
    append,
    dotted,
    first_module,
    rename,
)


def tree_of(**files):
    tree = OverlayTree(ManifestTree({}))
    for name, text in files.items():
        tree.write(f"src/{name}.py", text)
    return tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a\n", "import new\nimport a\n"),
        ('"""Doc."""\n\nimport a\n', '"""Doc."""\n\nimport new\nimport a\n'),
        (
            '"""Doc."""\n\nfrom __future__ import annotations\n\nX = 1\n',
            '"""Doc."""\n\nfrom __future__ import annotations\n\nimport new\nX = 1\n',
        ),
        ('"""Doc."""\n', '"""Doc."""\n\nimport new\n'),
        ("", "\n\nimport new\n"),
    ],
)
def test_an_import_is_added_before_the_first_statement(text, expected):
    tree = tree_of(a=text)
    add_import(tree, "src/a.py", "import new")
    assert tree.read("src/a.py").decode() == expected
    ast.parse(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    return 1\n", "def f():\n    x = 1\n    y = 2\n    return 1\n"),
        (
            "class A:\n    async def f(self):\n        '''Doc.'''\n        return 1\n",
            "class A:\n    async def f(self):\n        '''Doc.'''\n"
            "        x = 1\n        y = 2\n        return 1\n",
        ),
        (
            "def f(): return 1\ndef g():\n    return 2\n",
            "def f(): return 1\ndef g():\n    x = 1\n    y = 2\n    return 2\n",
        ),
    ],
)
def test_a_statement_is_added_to_the_first_function_with_room(text, expected):
    tree = tree_of(a=text)
    add_to_function(tree, "src/a.py", "x = 1\ny = 2")
    assert tree.read("src/a.py").decode() == expected


def test_a_definition_is_renamed_and_its_uses_are_not():
    tree = tree_of(a="\ndef f():\n    return 1\n\n\ndef ff():\n    return f()\n")
    rename(tree, "src/a.py", "f", "g")
    assert tree.read("src/a.py") == b"\ndef g():\n    return 1\n\n\ndef ff():\n    return f()\n"


def test_lines_are_added_at_the_end():
    tree = tree_of(a="a = 1\n\n")
    append(tree, "src/a.py", "b = 2")
    assert tree.read("src/a.py") == b"a = 1\nb = 2\n"


def test_the_first_module_is_no_package():
    tree = OverlayTree(ManifestTree({}))
    for path in ("src/p/__init__.py", "src/p/q/__init__.py", "src/p/q/m.py", "src/p/z.py"):
        tree.write(path, "")
    assert first_module(tree, "src/p") == "src/p/q/m.py"
    assert dotted("src/p/q/m.py") == "p.q.m"
    assert dotted("src/p/q/__init__.py") == "p.q"


@pytest.mark.parametrize(
    "edit",
    [
        lambda tree: first_module(tree, "src/none"),
        lambda tree: add_import(tree, "src/none.py", "import a"),
        lambda tree: add_import(tree, "src/bad.py", "import a"),
        lambda tree: add_to_function(tree, "src/a.py", "x = 1"),
        lambda tree: add_to_function(tree, "src/none.py", "x = 1"),
        lambda tree: rename(tree, "src/a.py", "f", "g"),
        lambda tree: append(tree, "src/none.py", "x = 1"),
    ],
)
def test_an_edit_without_its_place_is_no_edit(edit):
    with pytest.raises(DefectError):
        edit(tree_of(a="x = 1\n", bad="def (:\n"))
