"""`hardgate run`: cases and gates in this process, for a quick look while developing."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hardgate.cli.app import Context
from hardgate.cli.console import GREEN, RED
from hardgate.cli.exits import FAILED, OK, REFUSED, USAGE, UsageError
from hardgate.cli.parser import CommandParser, one_of, whole_number
from hardgate.cli.running import Ran, import_from, run_case_item, run_gate_item
from hardgate.cli.selection import RUNNABLE, Item, Selected, Wanted, select
from hardgate.cli.subjects import Subjects, add_agent_option, subjects_of
from hardgate.cli.suite import Suite, read_suite
from hardgate.cli.workspace import Workspace, find_workspace
from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import CaseResult, event_excerpt
from hardgate.registry.loader import Registry, load_registry
from hardgate.registry.models import LARGEST_MILESTONE, Kind
from hardgate.verdicts.network import NetworkProof, prove
from hardgate.verdicts.output import junit_xml, render

MOST_RUNS = 1000
LARGEST_SEED = 2**32 - 1
DESCRIPTION = """\
Runs cases against the mounted subject or the agents that they start, and gates of the kinds
property and corpus in this process.
Without NAMEs and --kind, all cases run; a NAME is a case, its file, or the id of a gate. What
belongs to a milestone that the repository has not reached is pending: --milestone N selects what
belongs to it and runs it.

This is a development run, not a gate result: there is no sandbox around it, and the network is
whatever it is here. So the exit code judges the checks alone; the verdicts in --json carry the
proof about the network, and with the network on they fail. Gates are run by `bazel test`."""


class _Job(NamedTuple):
    """What the command is to do, and where."""

    options: argparse.Namespace
    context: Context
    workspace: Workspace
    registry: Registry | None
    network: NetworkProof
    subjects: Subjects


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _options(arguments, context)
    workspace = find_workspace(options.workspace)
    tree = workspace.tree()
    registry = load_registry(tree) if tree.exists("gates") else None
    subjects = subjects_of(context.subject, options.agent, workspace.here)
    job = _Job(options, context, workspace, registry, prove(), subjects)
    wanted = Wanted(tuple(options.names), tuple(options.tag), options.kind, options.milestone)
    ran: list[Ran] = []
    with workspace.entered():
        suite = read_suite(tree, subjects.default, _reached(options, registry))
        selected = select(wanted, suite, registry)
        if options.names and selected.pending:
            raise UsageError(_pending(selected, job))
        for number, item in enumerate(selected.items, start=1):
            context.console.progress(f"[{number}/{len(selected.items)}] {item.name}")
            ran.append(_run(item, job, suite))
            if not options.json:
                context.console.result(_shown(ran[-1], job))
    _report(ran, selected, job)
    if options.junit is not None:
        _write_junit(workspace.here / options.junit, ran, job)
    return OK if _ok(ran) else FAILED


def _options(arguments: Sequence[str], context: Context) -> argparse.Namespace:
    parser = CommandParser(
        context.name,
        "[NAME...] [--agent PATH] [--tag T] [--kind K] [--milestone N]\n"
        "       [--repeat N | --seed S] [--junit FILE] [--workspace DIR] [--json]",
        DESCRIPTION,
        "--tag smoke --milestone 1",
        (OK, FAILED, USAGE, REFUSED),
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="a case or a gate")
    add_agent_option(parser)
    add("--tag", action="append", default=[], metavar="T", help="only cases with this tag; repeat")
    kinds = [str(kind) for kind in RUNNABLE]
    add("--kind", type=one_of(kinds), metavar="K", help=f"only this kind: {', '.join(kinds)}")
    milestone = whole_number(0, LARGEST_MILESTONE)
    add("--milestone", type=milestone, metavar="N", help="only what belongs to this milestone")
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--repeat",
        type=whole_number(1, MOST_RUNS),
        default=1,
        metavar="N",
        help="run each N times and fail where anything differs",
    )
    again.add_argument(
        "--seed",
        type=whole_number(0, LARGEST_SEED),
        metavar="S",
        help="for gates of the kind property, instead of their own seed",
    )
    add("--junit", metavar="FILE", help="write a JUnit file, too")
    return parser.parse(arguments)


def _reached(options: argparse.Namespace, registry: Registry | None) -> int | None:
    """The milestone up to which everything has to be able to run; None where there is none."""
    if options.milestone is not None:
        milestone: int = options.milestone
        return milestone
    return None if registry is None else registry.milestone


def _run(item: Item, job: _Job, suite: Suite) -> Ran:
    options = job.options
    if options.seed is not None and item.kind != Kind.PROPERTY:
        message = f"{item.name} is of the kind {item.kind}"
        raise UsageError(f"--seed is for gates of the kind property; {message}")
    if item.kind == Kind.CASE:
        subject = job.subjects.of(suite.cases[item.path].case)
        tree = job.workspace.tree()
        return run_case_item(item, suite, tree, subject, job.network, times=options.repeat)
    assert job.registry is not None  # the item came from there
    root = job.workspace.root
    import_from(root)
    tree = DirectoryTree(root)
    return run_gate_item(
        item, job.registry, tree, job.network, times=options.repeat, seed=options.seed
    )


def _pending(selected: Selected, job: _Job) -> str:
    names = ", ".join(f"{item.name} (milestone {item.milestone})" for item in selected.pending)
    reached = 0 if job.registry is None else job.registry.milestone
    first = selected.pending[0].milestone
    return f"pending at milestone {reached}: {names}; --milestone {first} looks ahead"


def _ok(ran: Sequence[Ran]) -> bool:
    return bool(ran) and all(one.verdict.passed for one in ran)


def _shown(one: Ran, job: _Job) -> str:
    """One item as its test target would show it."""
    text = render(one.verdict, repeat=_again(one, job), excerpt=_excerpt(one)).rstrip("\n")
    colour = GREEN if one.verdict.passed else RED
    return job.context.console.paint(text[:4], colour) + text[4:]


def _again(one: Ran, job: _Job) -> str:
    """The command that runs one item again."""
    words = [one.item.name]
    for agent in job.options.agent if one.item.kind == Kind.CASE else ():
        words += ["--agent", agent]
    for option in ("milestone", "seed", "workspace"):
        value = getattr(job.options, option)
        words += [f"--{option}", str(value)] if value is not None else []
    return f"{job.context.name} {shlex.join(words)}"


def _excerpt(one: Ran) -> str:
    """The events around the divergence of a failing case; empty for everything else."""
    if one.verdict.passed or not one.runs:
        return ""
    return event_excerpt(CaseResult(one.verdict, one.runs))


def _report(ran: Sequence[Ran], selected: Selected, job: _Job) -> None:
    """The end of the output: counts, and what this run is not."""
    notes = list(_notes(ran, selected, job))
    console = job.context.console
    if job.options.json:
        console.json(
            {
                "schema_version": 1,
                "ok": _ok(ran),
                "network_off": job.network.off,
                "results": [_plain(one) for one in ran],
                "pending": [item.name for item in selected.pending],
                "notes": notes,
            }
        )
        return
    for note in notes:
        console.note(note)
    passed = sum(one.verdict.passed for one in ran)
    counts = f"{passed} pass, {len(ran) - passed} fail, {len(selected.pending)} pending"
    console.result(f"{'OK' if _ok(ran) else 'NOT OK'}: {counts}")


def _notes(ran: Sequence[Ran], selected: Selected, job: _Job) -> Iterator[str]:
    if not ran:
        yield f"nothing ran, which proves nothing; {_pending(selected, job)}"
    state = "the network is off" if job.network.off else job.network.message
    yield f"a development run, not a gate result: no sandbox around it; {state}"


def _plain(one: Ran) -> dict[str, Any]:
    return {
        "name": one.item.name,
        "kind": str(one.item.kind),
        "milestone": one.item.milestone,
        "passed": one.verdict.passed,
        "times": one.times,
        "seconds": round(one.seconds, 6),
        "verdict": json.loads(one.published.to_json()),
    }


def _write_junit(path: Path, ran: Sequence[Ran], job: _Job) -> None:
    """One file with a suite for each item; whole or not at all. Raises OSError."""
    suites: list[str] = []
    for one in ran:
        text = render(one.verdict, repeat=_again(one, job), excerpt=_excerpt(one))
        document = junit_xml(one.verdict, text, one.seconds)
        suites.append(document.partition("<testsuites>\n")[2].removesuffix("</testsuites>\n"))
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(f"{head}{''.join(suites)}</testsuites>\n", encoding="utf-8", newline="\n")
    partial.replace(path)
