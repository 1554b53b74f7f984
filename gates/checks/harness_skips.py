"""Ways in which a test of this repository could end without having run.

What counts, and why, is said by docs/specs/evaluation_harness.md, gate no_stale_skip.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from hardgate.kinds.python_source import PythonFile, classes_of, functions_of, inside
from hardgate.verdicts.verdict import Finding

SKIPPED = "test_skipped"
UNCOLLECTED = "test_uncollected"
HIDDEN = "test_hidden"
FLAKY = "test_flaky"

# Whatever begins with one of these, followed by nothing or by another attribute, ends a test
# without a verdict.
_SKIPPING = (
    "pytest.skip",
    "pytest.xfail",
    "pytest.exit",
    "pytest.importorskip",
    "pytest.mark.skip",
    "pytest.mark.skipif",
    "pytest.mark.xfail",
    "_pytest.outcomes",
    "_pytest.skipping",
    "unittest.skip",
    "unittest.skipIf",
    "unittest.skipUnless",
    "unittest.expectedFailure",
    "unittest.SkipTest",
    "unittest.case.SkipTest",
)
_RETRYING = ("pytest.mark.flaky", "flaky")
# Methods of objects that pytest and unittest hand to a test; what they are called on has no name.
_SKIPPING_METHODS = frozenset({"skipTest", "applymarker", "add_marker"})
_UNCOLLECTING_NAMES = frozenset(
    {"collect_ignore", "collect_ignore_glob", "__test__", "__unittest_skip__"}
)
_COLLECTION_HOOKS = frozenset(
    {"pytest_ignore_collect", "pytest_collection_modifyitems", "pytest_deselected"}
)
_STAR_MODULES = ("pytest.*", "unittest.*")


def skips(file: PythonFile) -> Iterator[Finding]:
    """Every use of a skip, an expected failure, an import-or-skip or a retry in a file."""
    inner = {id(node.value) for node in file.nodes if isinstance(node, ast.Attribute)}
    for node in file.nodes:
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from _imported(file, node)
        elif isinstance(node, ast.Name | ast.Attribute | ast.Call) and id(node) not in inner:
            for name in sorted(file.qualified(node)):
                if rule := _rule_for(name):
                    yield _finding(file, node, rule, f"uses {name}; {_WHY[rule]}")
        method = node.func if isinstance(node, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr in _SKIPPING_METHODS:
            yield _finding(file, node, SKIPPED, f"calls .{method.attr}(); {_WHY[SKIPPED]}")


_WHY = {
    SKIPPED: "a test behind a gate runs to a pass or a failure, it is never set aside",
    FLAKY: "a test that passes on a second try has failed",
}


def _imported(file: PythonFile, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    for name in node.names:
        base = file.absolute(node) if isinstance(node, ast.ImportFrom) else ""
        target = f"{base}.{name.name}" if base else name.name
        if target in _STAR_MODULES:
            message = f"imports everything of {base}, which hides whether a test is skipped"
            yield _finding(file, node, SKIPPED, message)
        elif rule := _rule_for(target):
            yield _finding(file, node, rule, f"imports {target}; {_WHY[rule]}")


def _rule_for(name: str) -> str | None:
    if inside(name, _SKIPPING):
        return SKIPPED
    return FLAKY if inside(name, _RETRYING) else None


def uncollected(files: Sequence[PythonFile]) -> Iterator[Finding]:
    """Tests that pytest does not find: by file name, by function or class name, or by a setting."""
    for file in files:
        yield from _uncollecting_settings(file)
        stem = PurePosixPath(file.path).stem
        collected = stem.startswith("test_") or stem.endswith("_test")
        if not collected:
            yield from _tests_in_other_files(file, stem)
            continue
        yield from _unreferenced_checks(file, file.body.body)
        for node in classes_of(file.body.body):
            yield from _uncollected_class(file, node)


def _uncollecting_settings(file: PythonFile) -> Iterator[Finding]:
    for node in file.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in _UNCOLLECTING_NAMES:
                yield _finding(file, node, UNCOLLECTED, f"sets {name}, which leaves tests out")
    for function in functions_of(file.body.body):
        if function.name in _COLLECTION_HOOKS:
            message = f"defines {function.name}, which can leave tests out of a run"
            yield _finding(file, function, UNCOLLECTED, message)


def _tests_in_other_files(file: PythonFile, stem: str) -> Iterator[Finding]:
    for function in functions_of(file.body.body):
        if function.name.startswith("test_"):
            message = (
                f"{function.name} is in {stem}.py, which pytest does not collect; "
                f"call the file test_{stem}.py"
            )
            yield _finding(file, function, UNCOLLECTED, message)


def _uncollected_class(file: PythonFile, node: ast.ClassDef) -> Iterator[Finding]:
    methods = functions_of(node.body)
    is_unittest = any(name.endswith("TestCase") for base in node.bases for name in _names(base))
    if node.name.startswith("Test") or is_unittest:
        yield from _unreferenced_checks(file, node.body)
        if not is_unittest and any(method.name == "__init__" for method in methods):
            message = f"class {node.name} has an __init__, so pytest does not collect it"
            yield _finding(file, node, UNCOLLECTED, message)
        return
    holds_tests = any(method.name.startswith("test_") for method in methods)
    if holds_tests and not node.name.startswith("Test") and not _is_base_class(file, node.name):
        message = f"class {node.name} holds tests; pytest collects classes named Test…"
        yield _finding(file, node, UNCOLLECTED, message)


def _unreferenced_checks(file: PythonFile, body: Sequence[ast.stmt]) -> Iterator[Finding]:
    """Functions that assert something, that pytest does not call and that nothing else names."""
    for function in functions_of(body):
        if function.name.startswith("test") or _is_fixture(file, function):
            continue
        marked = any(_is_mark(file, decorator) for decorator in function.decorator_list)
        asserts = any(isinstance(node, ast.Assert) for node in ast.walk(function))
        if (asserts or marked) and not _is_named(file, function.name):
            message = f"nothing runs {function.name}, which has a test's body; call it test_…"
            yield _finding(file, function, UNCOLLECTED, message)


def _decorator_names(file: PythonFile, decorator: ast.expr) -> frozenset[str]:
    return file.qualified(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _is_mark(file: PythonFile, decorator: ast.expr) -> bool:
    names = _decorator_names(file, decorator)
    return any(inside(name, ("pytest.mark", "hypothesis.given")) for name in names)


def _is_fixture(file: PythonFile, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A fixture, or a function that some other decorator hands to somebody."""
    decorators = function.decorator_list
    return bool(decorators) and not any(_is_mark(file, decorator) for decorator in decorators)


def _is_named(file: PythonFile, name: str) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
        for node in file.nodes
    )


def _is_base_class(file: PythonFile, name: str) -> bool:
    classes = [node for node in file.nodes if isinstance(node, ast.ClassDef)]
    return any(name in _names(base) for node in classes for base in node.bases)


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    return {node.attr} if isinstance(node, ast.Attribute) else set()


def hidden(file: PythonFile) -> Iterator[Finding]:
    """Tests that a later definition of the same name replaces before pytest can see them."""
    bodies = [file.body.body] + [node.body for node in file.nodes if isinstance(node, ast.ClassDef)]
    for body in bodies:
        definitions = [
            node
            for node in body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name.lower().startswith("test")
        ]
        last = {node.name: node for node in definitions}
        counts = Counter(node.name for node in definitions)
        for node in definitions:
            if counts[node.name] > 1 and node is not last[node.name]:
                message = f"{node.name} is defined again at line {last[node.name].lineno}, and only"
                yield _finding(file, node, HIDDEN, f"{message} the last one runs")


def _finding(file: PythonFile, node: ast.AST, rule: str, message: str) -> Finding:
    return Finding(file.path, getattr(node, "lineno", 1), rule, message)
