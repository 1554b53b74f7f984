"""`hardgate doctor`: what this workspace has, a line each, and what to do about what is missing."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hardgate.cli.app import Context
from hardgate.cli.console import GREEN, RED, YELLOW, many
from hardgate.cli.definitions import Definitions, read_definitions
from hardgate.cli.exits import OK, REFUSED, USAGE
from hardgate.cli.parser import CommandParser
from hardgate.cli.workspace import Workspace, find_workspace
from hardgate.documents.schema_files import FOLDER as SCHEMAS
from hardgate.documents.tree import Tree
from hardgate.verdicts.text import one_line
from hardgate.verdicts.verdict import HARNESS_VERSION

GOOD, WARN, MISSING = "ok", "warn", "missing"
COLOURS = {GOOD: GREEN, WARN: YELLOW, MISSING: RED}
LAUNCHER = "bazelw"
LAUNCHER_SECONDS = 180
LINE_CHARACTERS = 500
DESCRIPTION = """\
Says a line each: the workspace and its registry, how many gates, cases and fixtures it has, whether
its definitions are sound and its JSON Schemas fresh, which subject is mounted; and, where the
workspace has a ./bazelw, what `./bazelw doctor` finds of Bazel and its sandbox. A line is `ok`,
`warn`, or `missing`, which the code 4 stands for."""


class Line(NamedTuple):
    """One thing looked at; `todo` may be empty."""

    name: str
    state: str
    found: str
    todo: str = ""


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _options(arguments, context)
    workspace = find_workspace(options.workspace)
    lines = list(examine(workspace, context))
    usable = all(line.state != MISSING for line in lines)
    if options.json:
        checks = [line._asdict() for line in lines]
        context.console.json({"schema_version": 1, "ok": usable, "checks": checks})
    else:
        for line in lines:
            todo = f"; to do: {line.todo}" if line.todo else ""
            text = one_line(f"{line.name}: {line.found}{todo}", LINE_CHARACTERS)
            state = context.console.paint(line.state.ljust(len(MISSING)), COLOURS[line.state])
            context.console.result(f"{state}  {text}")
    return OK if usable else REFUSED


def _options(arguments: Sequence[str], context: Context) -> argparse.Namespace:
    parser = CommandParser(
        context.name, "[--workspace DIR] [--json]", DESCRIPTION, "--json", (OK, USAGE, REFUSED)
    )
    return parser.parse(arguments)


def examine(workspace: Workspace, context: Context) -> Iterator[Line]:
    """All findings, in the order in which they are printed."""
    yield Line("hardgate", GOOD, f"{HARNESS_VERSION} on Python {platform.python_version()}")
    yield Line("workspace", GOOD, str(workspace.root))
    tree = workspace.tree()
    with workspace.entered():
        definitions = read_definitions(tree, context.subject)
    yield _registry(definitions, context)
    yield _suite(definitions)
    yield _definitions(definitions, context)
    yield _schemas(tree, context)
    yield _subject(context)
    yield from _launcher(workspace.root)


def _registry(definitions: Definitions, context: Context) -> Line:
    registry = definitions.registry
    if registry is None:
        todo = f"{context.program} new gate AREA.SLUG --kind K --milestone N, and gates/MILESTONE"
        return Line("registry", WARN, "no folder gates, so no gate", todo)
    areas = {gate.area for gate in registry.gates}
    counts = f"{len(registry.active())} active, {len(registry.pending())} pending"
    found = f"{many(len(registry.gates), 'gate')} in {many(len(areas), 'area')}"
    return Line("registry", GOOD, f"{found}; milestone {registry.milestone}: {counts}")


def _suite(definitions: Definitions) -> Line:
    suite = definitions.suite
    found = f"{many(len(suite.cases), 'case')}, {many(suite.fixtures, 'fixture')}"
    corpora = len(definitions.corpora)
    return Line("suite", GOOD, f"{found}, {corpora} {'corpus' if corpora == 1 else 'corpora'}")


def _definitions(definitions: Definitions, context: Context) -> Line:
    count = len(definitions.problems)
    if not count:
        return Line("definitions", GOOD, "sound")
    return Line("definitions", MISSING, many(count, "problem"), f"{context.program} lint")


def _schemas(tree: Tree, context: Context) -> Line:
    """Schemas for editors are kept by whoever wants them; kept ones have to be fresh."""
    if not tree.exists(SCHEMAS):
        return Line("schemas", GOOD, f"none kept in {SCHEMAS}")
    from hardgate.cases import schemas as suite
    from hardgate.registry import schemas as registry

    stale = [*suite.stale(tree), *registry.stale(tree)]
    if not stale:
        return Line("schemas", GOOD, f"fresh, in {SCHEMAS}")
    found = f"stale: {', '.join(one.path for one in stale)}"
    return Line("schemas", MISSING, found, f"{context.program} schemas")


def _subject(context: Context) -> Line:
    if context.subject is None:
        found = "none is mounted, so only cases of an agent that is a process can run here"
        todo = f"`{context.program} run --agent PATH`, or a runtime's command, such as `agent eval`"
        return Line("subject", WARN, found, todo)
    return Line("subject", GOOD, f"{context.subject.name} {context.subject.version}")


def _launcher(root: Path) -> Iterator[Line]:
    """What the workspace's own Bazel launcher says of itself."""
    program = root / LAUNCHER
    if not (program.is_file() and os.access(program, os.X_OK)):
        yield Line("bazel", WARN, f"no ./{LAUNCHER} here; not examined", "bazel info")
        return
    try:
        done = subprocess.run(
            [str(program), "doctor", "--json"],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LAUNCHER_SECONDS,
            check=False,
        )
        yield from _launcher_lines(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        yield _no_answer(f"gave no answer within {LAUNCHER_SECONDS} seconds")
    except (OSError, ValueError, KeyError, TypeError):
        yield _no_answer("gave no answer that can be read")


def _launcher_lines(answer: Any) -> list[Line]:
    """Raises KeyError and TypeError for an answer of another form."""
    lines = [Line(*(str(one[key]) for key in Line._fields)) for one in answer["checks"]]
    if not lines or any(line.state not in COLOURS for line in lines):
        raise KeyError("state")
    return lines


def _no_answer(found: str) -> Line:
    command = f"./{LAUNCHER} doctor"
    return Line("bazel", MISSING, f"`{command} --json` {found}", command)
