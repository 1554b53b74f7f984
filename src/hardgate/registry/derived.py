"""Numbers of gates in the docs are never typed: they stand between markers and are compared.

    <!-- derived: gates.area.tool -->9<!-- /derived -->

`python -m hardgate.registry.derived --write` sets them all.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.tree import DirectoryTree, Tree
from hardgate.documents.wording import choices, did_you_mean, quoted
from hardgate.registry.loader import Registry, load_registry
from hardgate.registry.markdown import Markdown
from hardgate.registry.models import Kind
from hardgate.registry.specs import DeclaredGate, read_specs, spec_paths

_SPAN = re.compile(r"<!-- derived: (\S+) -->(.*?)<!-- /derived -->")
_MARKER = re.compile(r"<!--\s*/?derived\b")
_FORM = "<!-- derived: NAME -->number<!-- /derived --> on one line"


def derived_numbers(
    registry: Registry, declared: Sequence[DeclaredGate], specs: Sequence[str]
) -> dict[str, int]:
    """Every number the docs may show, by name. `specs` are the paths of all specs."""
    latest = max((gate.milestone for gate in registry.gates), default=0)
    by_milestone = Counter(gate.milestone for gate in registry.gates)
    by_kind = Counter(gate.kind for gate in registry.gates)
    by_area = Counter(gate.area for gate in registry.gates)
    by_spec = Counter(one.path for one in declared)
    return {
        "gates.total": len(registry.gates),
        "gates.active": len(registry.active()),
        "gates.pending": len(registry.pending()),
        "gates.declared": len(declared),
        "gates.aliases": sum(one.alias for one in declared),
        "gates.counterexamples": sum(len(gate.counterexamples) for gate in registry.gates),
        "repository.milestone": registry.milestone,
        **{f"gates.kind.{kind}": by_kind[kind] for kind in Kind},
        **{f"gates.area.{area}": count for area, count in sorted(by_area.items())},
        **{f"gates.milestone.{number}": by_milestone[number] for number in range(latest + 1)},
        **{f"gates.spec.{PurePosixPath(path).stem}": by_spec[path] for path in specs},
    }


def derived_problems(
    tree: Tree, registry: Registry, declared: Sequence[DeclaredGate]
) -> Iterator[Problem]:
    """Numbers in any Markdown file that differ from what is computed, and broken markers."""
    numbers = derived_numbers(registry, declared, spec_paths(tree))
    for path in _markdown_files(tree):
        document = Markdown(tree.read(path).decode("utf-8", "replace"))
        for number, line in enumerate(document.without_code, start=1):
            for column, rule, message in _line_faults(line, numbers):
                yield Problem(path, number, column, rule, message)


def _markdown_files(tree: Tree) -> tuple[str, ...]:
    """All but what defects lay over the workspace, which is wrong on purpose."""
    return tuple(path for path in tree.glob("**/*.md") if not path.startswith("gates/defects/"))


def _line_faults(line: str, numbers: Mapping[str, int]) -> Iterator[tuple[int, str, str]]:
    """Column, rule and message of each fault in a line without code."""
    for span in _SPAN.finditer(line):
        name, value = span.groups()
        if name not in numbers:
            suggestion = did_you_mean(name, numbers)
            message = f"found the name {quoted(name)}; allowed: {choices(numbers)}{suggestion}"
            yield span.start(1) + 1, "derived_unknown", message
        elif value != str(numbers[name]):
            message = f"found {quoted(value)} for {name}; allowed: {numbers[name]}, as computed"
            yield span.start(2) + 1, "derived_stale", message
    for marker in _MARKER.finditer(_SPAN.sub(lambda span: " " * len(span.group()), line)):
        message = f"found a marker without its other half; allowed: {_FORM}"
        yield marker.start() + 1, "derived_marker", message


def with_numbers(text: str, numbers: Mapping[str, int]) -> str:
    """A document with each known number set; code and unknown names stay as they are."""
    document = Markdown(text)
    lines = []
    for line, without_code in zip(document.lines, document.without_code, strict=True):
        for span in reversed(list(_SPAN.finditer(without_code))):
            if span.group(1) in numbers:
                line = f"{line[: span.start(2)]}{numbers[span.group(1)]}{line[span.end(2) :]}"
        lines.append(line)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares the numbers in the docs, or sets them. Returns 0, 1 for stale, 4 for a bad file."""
    parser = argparse.ArgumentParser(prog="python -m hardgate.registry.derived")
    parser.add_argument("--root", default=".", help="the workspace (default: this folder)")
    parser.add_argument("--write", action="store_true", help="set the numbers in the files")
    options = parser.parse_args(arguments)
    tree = DirectoryTree(options.root)
    try:
        registry = load_registry(tree)
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return 4
    declared, problems = read_specs(tree)
    if options.write:
        numbers = derived_numbers(registry, declared, spec_paths(tree))
        for path in _markdown_files(tree):
            old = tree.read(path).decode()
            new = with_numbers(old, numbers)
            if new != old:
                Path(options.root, path).write_text(new, encoding="utf-8", newline="")
                print(path)
        tree = DirectoryTree(options.root)
    problems = sorted([*problems, *derived_problems(tree, registry, declared)])
    for problem in problems:
        print(problem.render(), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
