"""The process of a gate of the kind case: the run of a case, judged as the gate.

`--entry ENTRY.json --manifest MANIFEST --case-name NAME --repeat COMMAND [--counterexample NAME]`

The case and its fixtures come from the manifest, so that a defect can also be a change of these
files. The verdict is the gate's; the reasons for which it can reject a defect are the names of the
case's failed checks, and the rules for which a file of it is refused.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hardgate.cases.rules import FILE_NAME
from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import Tree
from hardgate.kinds.case_run import (
    CaseResult,
    Identity,
    event_excerpt,
    run_case,
    temporary_workspace,
)
from hardgate.kinds.entry import GateEntry, MissingCodeError
from hardgate.kinds.in_process import Options, run_process
from hardgate.subjects import collection
from hardgate.subjects.port import Subject
from hardgate.verdicts.network import prove
from hardgate.verdicts.verdict import Finding, Verdict, conclude


class BrokenRunError(Exception):
    """What runs broke by itself: that its case fails shows nothing about a defect."""


def main(argv: Sequence[str], subject: Subject) -> int:
    """Run the case behind a gate, or behind one of its counterexamples; returns the exit code."""
    parser = argparse.ArgumentParser(prog="case", allow_abbrev=False, add_help=False)
    parser.add_argument("--case-name", required=True)
    own, others = parser.parse_known_args(argv)
    excerpts: list[str] = []

    def run(entry: GateEntry, tree: Tree, options: Options) -> Verdict:
        return _run(own.case_name, subject, entry, tree, options, excerpts)

    return run_process("case", run, others, excerpt=lambda: "\n".join(excerpts))


def _run(
    name: str,
    subject: Subject,
    entry: GateEntry,
    tree: Tree,
    options: Options,
    excerpts: list[str],
) -> Verdict:
    """The verdict of one run; raises DefinitionError where no defect is in place, and whatever the
    subject raises beyond SubjectError: a crash is not a rejection. In a twin, BrokenRunError."""
    try:
        path = _case_path(tree, name)
        loaded = collection.load(tree, path)
        fixtures = f"{path.rsplit('/', 2)[0]}/fixtures"
        runnable = collection.collect(tree, loaded, fixtures, subject)
    except DefinitionError as error:
        if options.counterexample is None:
            raise
        return _refused(entry, error)
    needs_proof = any(run.planned.expected.verify for run in runnable.runs)
    with temporary_workspace() as workspace:
        result = run_case(
            runnable,
            subject,
            workspace,
            prove() if needs_proof else None,
            Identity(entry.id, entry.kind, entry.milestone),
            crash_is_finding=False,
        )
    if options.counterexample is None:
        excerpts.append(event_excerpt(result))
    else:
        _refuse_broken(result)
    return result.verdict


def _refuse_broken(result: CaseResult) -> None:
    """Raises BrokenRunError where the provider broke, or an agent failed before it asked for
    anything: what it lacks, a library perhaps, would make nearly every check fail."""
    from hardgate.cases import outside  # a gate itself does not need it

    asking = (outside.MODEL_REQUEST, outside.REQUEST_REFUSED, outside.MCP_CALLED)
    for record in (one.record for one in result.runs if one.record is not None):
        faults = [fault.name for fault in record.faults or ()]
        if outside.PROVIDER_BROKE in faults:
            raise BrokenRunError("the scripted provider broke; its traceback is on stderr")
        asked = any(event.type in asking for event in record.events)
        asked = asked or any(name.startswith("mcp.") for name in faults)
        if record.failure_reason in outside.EXPECTABLE_REASONS and not asked:
            message = f"the agent failed ({record.failure_reason}) before its first request"
            raise BrokenRunError(message)


def _case_path(tree: Tree, name: str) -> str:
    """The file of a case: `<folder of the suite>/cases/NN_<name>.yaml`. Raises MissingCodeError."""
    for path in tree.paths():
        match = FILE_NAME.fullmatch(path)
        if match and match[2] == name and path.rsplit("/", 2)[-2:-1] == ["cases"]:
            return path
    raise MissingCodeError(f"the gate's files hold no case {name!r} (cases/NN_{name}.yaml)")


def _refused(entry: GateEntry, error: DefinitionError) -> Verdict:
    """The verdict of a case with a defect in its files for which they are refused."""
    return conclude(
        id=entry.id,
        kind=entry.kind,
        milestone=entry.milestone,
        findings=tuple(
            Finding(problem.path, problem.line, problem.rule, problem.message)
            for problem in error.problems
        ),
        examined=1,
        unit="cases",
    )
