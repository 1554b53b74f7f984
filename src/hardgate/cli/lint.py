"""`hardgate lint`: reads every definition and lists what is wrong, all of it at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from hardgate.cli.app import Context
from hardgate.cli.console import many
from hardgate.cli.definitions import Definitions, read_definitions
from hardgate.cli.exits import OK, REFUSED, USAGE, UsageError
from hardgate.cli.parser import CommandParser
from hardgate.cli.subjects import add_agent_option, subjects_of
from hardgate.cli.workspace import Workspace, find_workspace
from hardgate.cli.yaml_files import overlooked
from hardgate.documents.problems import Problem
from hardgate.documents.tree import Tree
from hardgate.documents.wording import LIKE_PATHS, did_you_mean
from hardgate.verdicts.text import one_line

LINE_CHARACTERS = 1000
_ONE_OF = {"gates": "gate", "cases": "case", "fixtures": "fixture", "corpora": "corpus"}
DESCRIPTION = """\
Reads every definition of the workspace through the strict loaders and compares them with each
other: gates/ (registry, milestone, retired gates), docs/ (what the specs declare, links, derived
numbers), evals/ (cases, fixtures, corpora), and every other YAML file of gates/ and evals/.
Each problem is a line `file:line:column: rule: message`. With PATHs, only the problems of these
files and folders are listed; everything is read all the same.

A definition that is refused is no failing gate: the code is 4, never 1."""


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _options(arguments, context)
    workspace = find_workspace(options.workspace)
    tree = workspace.tree()
    subjects = subjects_of(context.subject, options.agent, workspace.here)
    chosen = [_chosen(word, workspace, tree) for word in options.paths]
    with workspace.entered():
        definitions = read_definitions(tree, subjects.default)
    found = [*definitions.problems, *_overlooked(workspace, definitions)]
    problems = [one for one in sorted(found) if _is_about(one, chosen)]
    if options.json:
        context.console.json(to_plain(definitions, problems))
    else:
        for problem in problems:
            context.console.result(one_line(problem.render(), LINE_CHARACTERS))
        for note in definitions.notes:
            context.console.note(note)
        context.console.result(conclusion(definitions, problems))
    return REFUSED if problems else OK


def _options(arguments: Sequence[str], context: Context) -> argparse.Namespace:
    parser = CommandParser(
        context.name,
        "[PATH...] [--agent PATH] [--workspace DIR] [--json]",
        DESCRIPTION,
        "evals/cases/02_calculator_tool.yaml",
        (OK, USAGE, REFUSED),
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a file or folder to list")
    add_agent_option(parser)
    return parser.parse(arguments)


def _chosen(word: str, workspace: Workspace, tree: Tree) -> str:
    """A path of the tree. Raises UsageError for what is not there and for what is not read."""
    path = workspace.relative(word)
    if path == "." or tree.exists(path):
        return path
    if (workspace.root / path).exists():
        message = f"found {word}, which holds no definition; allowed: docs, evals, gates, *.md"
        raise UsageError(message)
    known = {*tree.paths(), *(part for one in tree.paths() for part in _folders(one))}
    raise UsageError(f"found no {word}{did_you_mean(path, known, LIKE_PATHS)}")


def _overlooked(workspace: Workspace, definitions: Definitions) -> list[Problem]:
    """Names like those of YAML files that nobody reads, apart from the ones that are told."""
    told = {problem.path for problem in definitions.problems}
    return [one for one in overlooked(workspace.root) if one.path not in told]


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _is_about(problem: Problem, chosen: Sequence[str]) -> bool:
    return not chosen or any(
        path in (".", problem.path) or problem.path.startswith(f"{path}/") for path in chosen
    )


def counts(definitions: Definitions) -> dict[str, int]:
    """How much was read, by noun."""
    registry, suite = definitions.registry, definitions.suite
    return {
        "gates": 0 if registry is None else len(registry.gates),
        "cases": len(suite.cases),
        "fixtures": suite.fixtures,
        "corpora": len(definitions.corpora),
    }


def conclusion(definitions: Definitions, problems: Sequence[Problem]) -> str:
    """The last line."""
    read = ", ".join(
        f"{count} {_ONE_OF[noun] if count == 1 else noun}"
        for noun, count in counts(definitions).items()
    )
    if not problems:
        return f"OK: {read}: no problem"
    files = len({problem.path for problem in problems})
    return f"NOT OK: {read}: {many(len(problems), 'problem')} in {many(files, 'file')}"


def to_plain(definitions: Definitions, problems: Sequence[Problem]) -> dict[str, Any]:
    """The JSON form."""
    return {
        "schema_version": 1,
        "ok": not problems,
        "read": counts(definitions),
        "problems": [problem._asdict() for problem in problems],
        "notes": list(definitions.notes),
    }
