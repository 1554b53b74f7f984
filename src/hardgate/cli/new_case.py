"""`hardgate new case`: a case file and its model script."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from string import ascii_lowercase

from hardgate.cases.rules import FILE_NAME
from hardgate.cases.values import LONGEST_NAME
from hardgate.cli.app import Context
from hardgate.cli.editor_line import editor_line
from hardgate.cli.exits import OK, REFUSED, USAGE, UsageError
from hardgate.cli.parser import CommandParser, unknown_name, whole_number
from hardgate.cli.suite import CASES, SCRIPTS, Suite, read_suite
from hardgate.cli.workspace import find_workspace
from hardgate.cli.writing import write_all
from hardgate.documents.texts import NAME_PATTERN
from hardgate.documents.tree import Tree
from hardgate.documents.wording import quoted
from hardgate.registry.loader import load_registry
from hardgate.registry.models import LARGEST_MILESTONE

DESCRIPTION = """\
Writes evals/cases/NN_NAME.yaml with the next number, and the script that its model plays. The case
is refused, and its target fails, until `expected` says how a correct run ends."""

CASE = """\
# Say in one line what this case proves that no other does.
name: {name}
milestone: {milestone}
input:
  text: Say hello.
model_fixture: {stem}
{subject}# Write what a correct run looks like; while this is empty the case is refused. For example
#   terminal_status: completed
#   final_text_contains: [hello]
#   no_tools: true
expected: {{}}
"""
# The start of a case whose agent is a process, with what one changes first.
SUBJECT = """\
subject:
  command: ["{agent}"]
  prompt: stdin
"""
SCRIPT = """\
# What the model answers, one turn for each request; a turn that is left over fails the case.
turns:
  - kind: final
    text: Hello.
"""


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _options(arguments, context)
    workspace = find_workspace(options.workspace)
    tree = workspace.tree()
    suite = read_suite(tree)
    name = _checked_name(options.name, suite)
    milestone = options.milestone
    if milestone is None:
        milestone = load_registry(tree).milestone if tree.exists("gates") else 0
    stem = name if options.model_fixture is None else _existing(options.model_fixture, tree)
    path = f"{CASES}/{_next_number(tree):02}_{name}.yaml"
    subject = SUBJECT if options.command else ""
    case = CASE.format(name=name, milestone=milestone, stem=stem, subject=subject)
    files = {path: editor_line(tree, path, "case") + case}
    if options.model_fixture is None:
        script = f"{SCRIPTS}/{stem}.yaml"
        files[script] = editor_line(tree, script, "model_script") + SCRIPT
    write_all(workspace.root, files, new=True)
    _say_what_next(path, name, list(files), options, context)
    return OK


def _options(arguments: Sequence[str], context: Context) -> argparse.Namespace:
    parser = CommandParser(
        context.name,
        "NAME [--command] [--milestone N] [--model-fixture STEM] [--workspace DIR]\n"
        "       [--json]",
        DESCRIPTION,
        "refund_is_denied --milestone 1",
        (OK, USAGE, REFUSED),
    )
    add = parser.add_argument
    add("name", metavar="NAME", help="a-z, 0-9 and _, a letter first")
    add("--command", action="store_true", help="a case that starts an agent as a process")
    milestone = whole_number(0, LARGEST_MILESTONE)
    add("--milestone", type=milestone, metavar="N", help="default: the repository's")
    add("--model-fixture", metavar="STEM", help="a script that is there, instead of a new one")
    return parser.parse(arguments)


def _checked_name(name: str, suite: Suite) -> str:
    """Raises UsageError for a name that no case may have, and for one that is taken."""
    if not re.fullmatch(NAME_PATTERN[1:-1], name, re.ASCII) or len(name) > LONGEST_NAME:
        allowed = f"a name such as refund_is_denied (a-z, 0-9 and _, at most {LONGEST_NAME})"
        raise UsageError(f"found {quoted(name)}; allowed: {allowed}")
    for path, taken in suite.names.items():
        if taken == name:
            raise UsageError(f"found {quoted(name)}, the name of {path}; allowed: another name")
    return name


def _existing(stem: str, tree: Tree) -> str:
    """Raises UsageError for a script that is not there."""
    prefix, suffix = f"{SCRIPTS}/", ".yaml"
    stems = [path[len(prefix) : -len(suffix)] for path in tree.glob(f"{prefix}*{suffix}")]
    if stem not in stems:
        raise UsageError(f"--model-fixture: {unknown_name('script', stem, stems)}")
    return stem


def _next_number(tree: Tree) -> int:
    """One more than the largest; a number is never used again, even where there are gaps."""
    matches = [FILE_NAME.fullmatch(path) for path in tree.glob(f"{CASES}/*")]
    return 1 + max((int(match[1].rstrip(ascii_lowercase)) for match in matches if match), default=0)


def _say_what_next(
    path: str, name: str, files: list[str], options: argparse.Namespace, context: Context
) -> None:
    program = context.program
    commands = [f"{program} lint {path}", f"{program} explain {name}", _target(name)]
    if options.json:
        plain = {"schema_version": 1, "ok": True, "written": files, "next": commands}
        context.console.json(plain)
        return
    lines = [f"wrote {file}" for file in files]
    lines += [f"now write `expected` in {path}, then", *(f"  {command}" for command in commands)]
    context.console.result("\n".join(lines))


def _target(name: str) -> str:
    return f"bazel test //evals:cases/{name}"
