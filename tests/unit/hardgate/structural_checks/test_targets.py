"""The macros know each ready check, and the library that holds it."""

import ast
import importlib
from pathlib import Path

from hardgate.registry.check_options import OPTIONS_OF

MACROS = Path("tools/private/targets.bzl")
BUILD = Path("src/BUILD.bazel")


def assigned(name):
    """The keys and the labels of a dict at the top of the macros."""
    for node in ast.parse(MACROS.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            pairs = zip(node.value.keys, node.value.values, strict=True)
            return {key.value: value.args[0].value for key, value in pairs}
    raise AssertionError(f"no {name} in {MACROS}")


def sources(library):
    """The files of a library of src/BUILD.bazel."""
    for node in ast.walk(ast.parse(BUILD.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.keywords and node.keywords[0].arg == "name":
            attributes = {one.arg: one.value for one in node.keywords}
            if ast.literal_eval(attributes["name"]) == library:
                return ast.literal_eval(attributes["srcs"])
    raise AssertionError(f"no {library} in {BUILD}")


def test_each_ready_check_is_in_the_library_that_its_gates_depend_on():
    libraries = assigned("_READY_CHECKS")
    assert set(libraries) == set(OPTIONS_OF)
    for name, label in libraries.items():
        module = f"hardgate/structural_checks/{name}.py"
        assert module in sources(label.removeprefix("//src:"))
        assert callable(importlib.import_module(module[:-3].replace("/", ".")).check)
