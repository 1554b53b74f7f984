"""`hardgate new gate`: an entry of the registry, a check and a counterexample to be written."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NamedTuple

from hardgate.cli.app import Context
from hardgate.cli.exits import OK, REFUSED, USAGE, RefusedError, UsageError
from hardgate.cli.gate_scaffold import GateScaffold, scaffold_files, spec_item
from hardgate.cli.parser import CommandParser, one_of, unknown_name, whole_number
from hardgate.cli.workspace import find_workspace
from hardgate.cli.writing import write_all
from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import OverlayTree, Tree
from hardgate.documents.wording import quoted
from hardgate.registry.check_options import OPTIONS_OF, PREFIX, ready_check
from hardgate.registry.grammar import GATE_ID_PATTERN
from hardgate.registry.loader import Registry, load_registry, read_registry
from hardgate.registry.models import LARGEST_COUNT, LARGEST_MILESTONE, Kind
from hardgate.registry.specs import spec_paths

DESCRIPTION = """\
Appends an entry to gates/AREA.yaml, a check to gates/checks/AREA.py (none for the kind case and
for a ready check) and a counterexample to gates/defects/AREA.py, and prints the item for the spec.
Both functions raise NotImplementedError, and the options of a ready check name modules that are not
there, so the gate's targets fail until all is written; without --statement the entry itself is
refused until it has one."""

PLACEHOLDER = "<say in one sentence what has to hold, as one can check it>"
PAGE = "docs/reference/structural-checks.md of Hardgate"
DEFAULT_TRIALS, DEFAULT_MEMBERS = 200, 10
# The options that belong to one kind.
OF_KIND = {
    "trials": Kind.PROPERTY,
    "corpus": Kind.CORPUS,
    "minimum_members": Kind.CORPUS,
    "source": Kind.STRUCTURAL,
    "check": Kind.STRUCTURAL,
    "case": Kind.CASE,
}


class _Id(NamedTuple):
    area: str
    slug: str


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _options(arguments, context)
    workspace = find_workspace(options.workspace)
    tree = workspace.tree()
    registry = load_registry(tree)
    scaffold = _scaffold(options, tree, registry)
    files = scaffold_files(scaffold, tree)
    _refuse_faults(scaffold, tree, files)
    write_all(workspace.root, files)
    _say_what_next(scaffold, list(files), options, context)
    return OK


def _options(arguments: Sequence[str], context: Context) -> argparse.Namespace:
    parser = CommandParser(
        context.name,
        "AREA.SLUG --kind K --milestone N [--statement TEXT] [--spec FILE]\n"
        "       [--case NAME | --trials N | --corpus DIR --minimum-members N |\n"
        "        --source LABEL... [--check hardgate:NAME]]\n"
        "       [--workspace DIR] [--json]",
        DESCRIPTION,
        "tool.no_shadowing --kind property --milestone 1",
        (OK, USAGE, REFUSED),
    )
    add = parser.add_argument
    add("id", metavar="AREA.SLUG", help="its area and its name there, both of a-z, 0-9 and _")
    kinds = [str(kind) for kind in Kind]
    kind_help = f"one of {', '.join(kinds)}"
    add("--kind", required=True, type=one_of(kinds), metavar="K", help=kind_help)
    milestone = whole_number(0, LARGEST_MILESTONE)
    add("--milestone", required=True, type=milestone, metavar="N", help="when it has to hold")
    add("--statement", metavar="TEXT", help="what has to hold; the spec says the same")
    add("--spec", metavar="FILE", help="default: the spec that declares the area's other gates")
    add("--case", metavar="NAME", help="case: the case that decides (default: SLUG)")
    count = whole_number(1, LARGEST_COUNT)
    add("--trials", type=count, metavar="N", help=f"property: default {DEFAULT_TRIALS}")
    add("--corpus", metavar="DIR", help="corpus: default evals/corpora/SLUG")
    add("--minimum-members", type=count, metavar="N", help=f"corpus: default {DEFAULT_MEMBERS}")
    add(
        "--source",
        action="append",
        metavar="LABEL",
        help="structural, required: a Bazel label of files that the check reads; repeat",
    )
    ready = [f"{PREFIX}{name}" for name in OPTIONS_OF]
    check_help = f"structural: a ready check instead of code: {', '.join(ready)}"
    add("--check", type=one_of(ready), metavar="hardgate:NAME", help=check_help)
    options = parser.parse(arguments)
    for name, kind in OF_KIND.items():
        if getattr(options, name) is not None and options.kind != kind:
            option = f"--{name.replace('_', '-')}"
            parser.error(f"{option} belongs to the kind {kind}, found the kind {options.kind}")
    if options.kind == Kind.STRUCTURAL and not options.source:
        parser.error("the kind structural needs --source, such as --source //src:sources")
    return options


def _scaffold(options: argparse.Namespace, tree: Tree, registry: Registry) -> GateScaffold:
    area, slug = _id(options.id)
    kind = Kind(options.kind)
    return GateScaffold(
        area=area,
        slug=slug,
        milestone=options.milestone,
        kind=kind,
        spec=_spec(options.spec, area, tree, registry),
        statement=_statement(options.statement),
        case=(options.case or slug) if kind is Kind.CASE else None,
        trials=(options.trials or DEFAULT_TRIALS) if kind is Kind.PROPERTY else None,
        corpus=(options.corpus or f"evals/corpora/{slug}") if kind is Kind.CORPUS else None,
        minimum_members=(
            (options.minimum_members or DEFAULT_MEMBERS) if kind is Kind.CORPUS else None
        ),
        sources=tuple(options.source or ()),
        ready=ready_check(options.check),
    )


def _statement(text: str | None) -> str:
    """On one line; whether it says enough is for the loader to judge."""
    statement = PLACEHOLDER if text is None else " ".join(text.split())
    if not statement.isprintable():
        raise UsageError(f"--statement: found {quoted(statement)}; allowed: text that prints")
    return statement


def _id(text: str) -> _Id:
    gate_id = text if text.startswith("gate.") else f"gate.{text}"
    if not re.fullmatch(GATE_ID_PATTERN[1:-1], gate_id, re.ASCII):
        allowed = "AREA.SLUG, each of a-z, 0-9 and _, such as tool.no_shadowing"
        raise UsageError(f"found {quoted(text)}; allowed: {allowed}")
    return _Id(*gate_id.split(".")[1:])


def _spec(named: str | None, area: str, tree: Tree, registry: Registry) -> str:
    """The spec that will declare the gate. Raises UsageError where there is none to be found."""
    specs = spec_paths(tree)
    if named is not None:
        if named not in specs:
            raise UsageError(f"--spec: {unknown_name('spec', named, specs)}")
        return named
    declaring = [gate.spec.split("#")[0] for gate in registry.gates if gate.area == area]
    usual = max(sorted(set(declaring)), key=declaring.count, default=f"docs/specs/{area}.md")
    if usual not in specs:
        raise UsageError(f"found no {usual}; name the spec with --spec: {', '.join(specs)}")
    return usual


def _refuse_faults(scaffold: GateScaffold, tree: Tree, files: dict[str, str]) -> None:
    """Looks at the registry as it would be. Raises DefinitionError for what would be wrong with it
    besides the placeholder, and RefusedError for a file that can't be appended to."""
    path = scaffold.registry_path
    if not _ends_with(scaffold.id, path, files[path]):
        message = f"found {path}, to which `- id: ...` can't be appended; add the entry by hand"
        raise RefusedError(f"{message}:\n{scaffold.entry()}")
    after = OverlayTree(tree)
    for path, text in files.items():
        after.write(path, text)
    faults = [
        problem
        for problem in read_registry(after)[1]
        if not (scaffold.statement == PLACEHOLDER and problem.rule == "statement_placeholder")
    ]
    if faults:
        raise DefinitionError(faults)


def _ends_with(gate_id: str, path: str, text: str) -> bool:
    """Whether the last entry of a registry file is that of a gate."""
    try:
        value = load(path, text.encode()).value
    except DefinitionError:
        return False
    return isinstance(value, list) and isinstance(value[-1], dict) and value[-1]["id"] == gate_id


def _say_what_next(
    scaffold: GateScaffold, files: list[str], options: argparse.Namespace, context: Context
) -> None:
    commands = [f"{context.program} lint", f"bazel test //gates:{scaffold.area}/{scaffold.slug}"]
    if scaffold.case is not None:
        commands.insert(0, f"{context.program} new case {scaffold.case}")
    item = spec_item(scaffold)
    if options.json:
        plain = {"schema_version": 1, "ok": True, "written": files, "next": commands}
        context.console.json({**plain, "spec": scaffold.spec, "spec_item": item})
        return
    lines = [f"wrote {path}" for path in files]
    lines += [f"add to {scaffold.spec}, as the next item of `## Hard gates`:", "", item, ""]
    if scaffold.ready is not None:
        lines += [f"fill in the options in {scaffold.registry_path}: see {PAGE}"]
    lines += ["write what the functions say that they are missing, then"]
    lines += [f"  {command}" for command in commands]
    context.console.result("\n".join(lines))
