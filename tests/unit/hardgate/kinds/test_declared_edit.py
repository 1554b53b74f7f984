"""Counterexamples that are one edit."""

import importlib
import sys

import pytest

from hardgate.documents.tree import DefectError, ManifestTree, OverlayTree
from hardgate.kinds.bench import Bench
from hardgate.kinds.declared_edit import put_edit
from hardgate.kinds.entry import DeclaredEdit

CODE = """
def greeting(name):
    return "Hello, " + name


class Polite:
    def farewell(self):
        return "Goodbye"


    LIMIT = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    folder = tmp_path / "phrases"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "spoken.py").write_text(CODE)
    (folder / "broken.py").write_text("import phrases.absent_below\nimport absent_elsewhere")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield importlib.import_module("phrases.spoken")
    for name in [name for name in sys.modules if name.split(".")[0] == "phrases"]:
        del sys.modules[name]


def bench():
    sources = OverlayTree(ManifestTree({}))
    sources.write("a.txt", "one two")
    return Bench(sources)


def test_a_file_is_edited_in_the_tree():
    with bench() as bench_:
        put_edit(DeclaredEdit("two", "three", path="a.txt"), bench_)
        bench_.watch()
        assert not bench_.reached
        assert bench_.tree.read("a.txt") == b"one three"
        assert bench_.reached


@pytest.mark.parametrize(
    ("path", "old", "words"),
    [("a.txt", "four", "occurs 0 times"), ("b.txt", "two", "cannot edit b.txt")],
)
def test_a_file_without_the_text_is_refused(path, old, words):
    with bench() as bench_, pytest.raises(DefectError, match=words):
        put_edit(DeclaredEdit(old, "x", path=path), bench_)


def test_a_function_is_edited_and_put_back(module):
    with bench() as bench_:
        put_edit(DeclaredEdit("+ name", "", function="phrases.spoken.greeting"), bench_)
        assert module.greeting("you") == "Hello, "
        assert bench_.reached
    assert module.greeting("you") == "Hello, you"


def test_a_method_is_edited_and_put_back(module):
    edit = DeclaredEdit("Goodbye", "Bye", function="phrases.spoken.Polite.farewell")
    with bench() as bench_:
        put_edit(edit, bench_)
        assert module.Polite().farewell() == "Bye"
    assert module.Polite().farewell() == "Goodbye"


@pytest.mark.parametrize(
    "function",
    [
        "phrases.spoken.absent",
        "phrases.absent.greeting",
        "phrases.spoken.Absent.farewell",
        "phrases.spoken.Polite.LIMIT",
        "absent.module.function",
    ],
)
def test_what_is_no_function_is_refused(module, function):
    with bench() as bench_, pytest.raises(DefectError):
        put_edit(DeclaredEdit("a", "b", function=function), bench_)


def test_a_module_that_does_not_import_is_no_missing_function(module):
    with bench() as bench_, pytest.raises(ModuleNotFoundError):
        put_edit(DeclaredEdit("a", "b", function="phrases.broken.f"), bench_)
