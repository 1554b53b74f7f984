"""Ways in which the build could leave a gate out, or try it until it passes."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from gates.checks.harness_skips import FLAKY
from hardgate.documents.tree import Tree
from hardgate.kinds.python_source import literal_text
from hardgate.verdicts.verdict import Finding

FILTERED = "run_filtered"
BAZELRC = ".bazelrc"
_BUILD_NAMES = ("BUILD", "BUILD.bazel")
_DELETED_PACKAGES = "--deleted_packages"
_FILTERING_OPTIONS = (
    "--build_tag_filters",
    _DELETED_PACKAGES,
    "--test_filter",
    "--test_lang_filters",
    "--test_size_filters",
    "--test_tag_filters",
    "--test_timeout_filters",
)
# Workspaces of their own: their packages cannot be loaded here, and their tests are run by ours.
_EXAMPLES = "examples/"
_RETRYING_OPTION = "--flaky_test_attempts"
_ONCE = "1"
_ALWAYS = re.compile(r"(build|common|run|test|always)(:linux|:macos)?")


def build_paths(tree: Tree) -> list[str]:
    """The files of the build that this module judges."""
    named = [path for path in tree.paths() if posixpath.basename(path) in _BUILD_NAMES]
    return named + ([BAZELRC] if tree.exists(BAZELRC) else [])


def build_findings(tree: Tree, path: str) -> Iterator[Finding]:
    """What is wrong with a BUILD file or with the options of Bazel."""
    text = tree.read(path).decode("utf-8", "replace")
    if path == BAZELRC:
        yield from _options(path, text)
        return
    try:
        # BUILD files are written in Starlark, whose expressions and calls are those of Python.
        body = ast.parse(text, filename=path)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        yield Finding(path, line, "syntax_error", "this BUILD file cannot be read")
        return
    for node in ast.walk(body):
        if isinstance(node, ast.keyword) and node.arg is not None:
            yield from _attribute(path, node.arg, node.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                yield from _attribute(path, literal_text(key) or "", value)


def _attribute(path: str, name: str, value: ast.expr) -> Iterator[Finding]:
    off = isinstance(value, ast.Constant) and value.value in (False, None)
    if name == "flaky" and not off:
        message = "flaky lets Bazel repeat a failing test until it passes"
        yield Finding(path, value.lineno, FLAKY, message)
    if name == "target_compatible_with":
        message = "target_compatible_with is set by hand; only a gate's milestone makes it pending"
        yield Finding(path, value.lineno, FILTERED, message)
    if name == "tags" and any(literal_text(node) == "manual" for node in ast.walk(value)):
        message = "the tag manual takes a target out of //..., so nobody sees that it does not run"
        yield Finding(path, value.lineno, FILTERED, message)


def _options(path: str, text: str) -> Iterator[Finding]:
    """Options that every call of Bazel gets; a named --config is asked for and may filter."""
    for number, line in enumerate(text.splitlines(), start=1):
        command, *options = line.split("#", 1)[0].split() or [""]
        for index, option in enumerate(options):
            name, equals, value = option.partition("=")
            value = value if equals else " ".join(options[index + 1 : index + 2])
            if name == _RETRYING_OPTION and value != _ONCE:
                message = f"{name} repeats a failing test until it passes"
                yield Finding(path, number, FLAKY, message)
            if name == _DELETED_PACKAGES and _only_examples(value):
                continue
            if name in _FILTERING_OPTIONS and _ALWAYS.fullmatch(command):
                message = f"{name} leaves tests out of every run; give it a --config of its own"
                yield Finding(path, number, FILTERED, message)


def _only_examples(packages: str) -> bool:
    return all(package.startswith(_EXAMPLES) for package in packages.split(","))
