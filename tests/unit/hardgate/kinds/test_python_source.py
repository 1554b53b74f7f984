"""What Python sources say without being run: modules, imports and what a name stands for."""

import ast

import pytest

from hardgate.documents.tree import ManifestTree, OverlayTree
from hardgate.kinds.python_source import (
    PythonFile,
    inside,
    join,
    literal_text,
    module_name,
    parse_files,
)


def file_of(text, path="src/pack/sub/mod.py"):
    return PythonFile(path, module_name(path, ("src", "")), ast.parse(text))


def targets(file):
    return [one.target for one in file.imports]


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/a/b.py", "a.b"),
        ("src/a/__init__.py", "a"),
        ("tests/unit/test_a.py", "tests.unit.test_a"),
        ("a.py", "a"),
    ],
)
def test_the_name_of_a_module(path, module):
    assert module_name(path, ("src", "")) == module


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("import a.b as c, d", "src/p/m.py", ["a.b", "d"]),
        ("from a import b, c as d", "src/p/m.py", ["a.b", "a.c"]),
        ("from . import b", "src/p/m.py", ["p.b"]),
        ("from . import b", "src/p/__init__.py", ["p.b"]),
        ("from .. import b", "src/p/q/m.py", ["p.b"]),
        ("from ..x import b", "src/p/q/__init__.py", ["p.x.b"]),
        ("from .... import b", "src/p/m.py", ["b"]),
        ("from a import *", "src/p/m.py", ["a.*"]),
        ("def f():\n  if x:\n    import a", "src/p/m.py", ["a"]),
    ],
)
def test_imports_are_absolute_wherever_they_stand(text, path, expected):
    assert targets(file_of(text, path)) == expected


@pytest.mark.parametrize(
    ("text", "expression", "expected"),
    [
        ("import a.b", "a.b.c", {"a.b.c"}),
        ("import a.b as x", "x.c", {"a.b.c"}),
        ("from a import b as x", "x.c.d", {"a.b.c.d"}),
        ("import a\nx = a.b\ny = x", "y.c", {"a.b.c"}),
        ("import a, b\nx, y = a, b", "y.c", {"b.c"}),
        ("import a\nif (x := a.b): pass", "x", {"a.b"}),
        ("import a\nx: object = a.b", "x", {"a.b"}),
        ("import a, b\nx = a\nx = b", "x", {"a", "b"}),
        ("import a\nx = y\ny = x = a", "x", {"a"}),
        ("import a", "getattr(a, 'b' + 'c')", {"a.bc"}),
        ("import a", "getattr(a, name)", set()),
        ("", "__import__('a.b').c", {"a.b.c", "a.c"}),
        ("from importlib import import_module as i", "i('a').b", {"a.b"}),
        ("from importlib import import_module as i", "i(name='a.b').c", {"a.b.c"}),
        ("from importlib import import_module as i", "i(name).c", set()),
        ("import sys", "sys.modules['a.b'].c", {"a.b.c"}),
        ("from sys import modules as m", "m.get('a').c", {"a.c"}),
        ("import sys", "sys.modules[name].c", set()),
        ("import pkgutil", "pkgutil.resolve_name('a.b:c')", {"a.b.c"}),
        ("", "unknown.a", set()),
        ("", "print", {"print"}),
        ("import a", "a.b()", set()),
    ],
)
def test_what_an_expression_stands_for(text, expression, expected):
    file = file_of(text)
    assert file.qualified(ast.parse(expression, mode="eval").body) == expected


def test_imports_by_a_literal_name():
    file = file_of("import importlib\nimportlib.import_module('a.' + 'b')\n__import__(name)\n")
    assert [(one.target, one.line) for one in file.named_imports] == [("a.b", 2)]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'a'", "a"),
        ("'a' + 'b' + 'c'", "abc"),
        ("f'a{\"b\"}c'", "abc"),
        ("'.'.join(['a', 'b'])", "a.b"),
        ("'.'.join(('a', 'b' + 'c'))", "a.bc"),
        ("'.'.join(names)", None),
        ("'a' + name", None),
        ("f'a{name}'", None),
        ("1", None),
    ],
)
def test_the_text_of_literals(expression, text):
    assert literal_text(ast.parse(expression, mode="eval").body) == text


@pytest.mark.parametrize(
    ("module", "expected"),
    [("a.b", True), ("a.b.c", True), ("a.bc", False), ("a", False), ("x.a.b", False)],
)
def test_inside_takes_whole_names(module, expected):
    assert inside(module, ("a.b",)) is expected


def test_join_takes_empty_parts():
    assert [join("a", "b"), join("", "b"), join("a", ""), join("", "")] == ["a.b", "b", "a", ""]


@pytest.mark.parametrize("content", [b"def (:\n", b"a = '\x00'\n", b"a = '\xff'\n"])
def test_a_file_that_is_not_python_is_a_finding(content):
    tree = OverlayTree(ManifestTree({}))
    tree.write("src/a.py", content)
    tree.write("src/b.py", "import a")
    files, findings = parse_files(tree, ["src/a.py", "src/b.py"])
    assert [file.module for file in files] == ["b"]
    assert [(finding.path, finding.rule) for finding in findings] == [("src/a.py", "syntax_error")]


def test_a_file_that_is_nested_too_deeply_is_a_finding_and_no_crash():
    tree = OverlayTree(ManifestTree({}))
    tree.write("src/deep.py", "x = " + "-" * 100_000 + "1\n")
    files, findings = parse_files(tree, ["src/deep.py"])
    assert files == []
    assert [(one.path, one.rule) for one in findings] == [("src/deep.py", "syntax_error")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import importlib\nimportlib.import_module(name='a.b')", ["a.b"]),
        ("import importlib\nimportlib.import_module('.b', 'a')", ["a.b"]),
        ("import importlib\nimportlib.import_module('..b', package='a.c')", ["a.b"]),
        ("import importlib\nimportlib.import_module('.b', __package__)", ["pack.sub.b"]),
        ("import importlib\nimportlib.import_module('....b', 'a')", ["b"]),
        ("import runpy\nrunpy.run_module(mod_name='a')", ["a"]),
        ("import pkgutil\npkgutil.resolve_name('a.b:c')", ["a.b"]),
        ("import importlib.util\nimportlib.util.find_spec('a')", ["a"]),
        ("import sys\nsys.modules['a.b']", ["a.b"]),
        ("from sys import modules as m\nm['a']", ["a"]),
        ("import sys\nsys.modules[name]", []),
        ("import importlib\nimportlib.import_module()", []),
    ],
)
def test_every_function_and_form_that_takes_the_name_of_a_module(text, expected):
    assert [one.target for one in file_of(text).named_imports] == expected
