"""The registry may only get stricter: trials, members, counterexamples and the set of gates grow.

An entry that lowers something carries `lowered: <why>`, a gate that goes is listed with a reason
in gates/retired.yaml. A reason excuses one change: the one that stood there before does not count.
`python -m hardgate.registry.ratchet` compares the working tree with the revision before it.
"""

from __future__ import annotations

import argparse
import posixpath
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.tree import DirectoryTree, Tree
from hardgate.registry.git_tree import GitError
from hardgate.registry.loader import MILESTONE_PATH, Registry, load_registry, read_registry
from hardgate.registry.models import Gate
from hardgate.registry.previous import WATCHED, Revision, Unavailable, Why, previous_revision


@dataclass(frozen=True)
class Snapshot:
    """A registry at one time, with the number of members of each corpus folder it names."""

    registry: Registry
    members: Mapping[str, int] = field(default_factory=dict)
    name: str = "the revision before"


def snapshot(tree: Tree, registry: Registry, name: str = "the working tree") -> Snapshot:
    """A registry together with the sizes of its corpora in `tree`; a README is no member."""
    folders = {gate.corpus for gate in registry.gates if gate.corpus is not None}
    members = {
        folder: sum(posixpath.basename(path) != "README.md" for path in tree.glob(f"{folder}/**"))
        for folder in folders
    }
    return Snapshot(registry, members, name)


def compare(previous: Snapshot, current: Snapshot) -> list[Problem]:
    """Everything in which `current` asks for less than `previous`, without a new reason."""
    now, before = current.registry, previous.registry
    problems = []
    if now.milestone < before.milestone:
        message = f"found milestone {now.milestone}, {before.milestone} in {previous.name}"
        message = f"{message}; allowed: at least {before.milestone}"
        problems.append(Problem(MILESTONE_PATH, 1, 1, "ratchet_repository_milestone", message))
    retired = {gate.id for gate in now.retired}
    for old in before.gates:
        new = now.by_id.get(old.id)
        if new is not None:
            problems.extend(_lowered(previous, current, old, new))
        elif old.id not in retired:
            message = f"found no {old.id}, which {previous.name} has; allowed: the gate,"
            message = f"{message} or an entry with a reason in gates/retired.yaml"
            path = f"gates/{old.area}.yaml"
            problems.append(Problem(path, 1, 1, "ratchet_gate_removed", message))
    return sorted(problems)


def _lowered(previous: Snapshot, current: Snapshot, old: Gate, new: Gate) -> Iterator[Problem]:
    """What one entry asks less of than before."""
    if new.lowered is not None and new.lowered != old.lowered:
        return
    reason = "or a new reason in 'lowered'"
    for key, counted, before, now in _numbers(previous, current, old, new):
        if now < before:
            message = f"found {now} {counted} for {new.id}, {before} in"
            message = f"{message} {previous.name}; allowed: at least {before}, {reason}"
            keys = (key,) if key in new.model_fields_set else ()
            yield current.registry.problem(new.id, keys, f"ratchet_{key}", message)
    was_active = old.milestone <= previous.registry.milestone
    if was_active and new.milestone > old.milestone:
        message = f"found milestone {new.milestone} for {new.id}, active since {old.milestone} in"
        message = f"{message} {previous.name}; allowed: at most {old.milestone}, {reason}"
        yield current.registry.problem(new.id, ("milestone",), "ratchet_milestone", message)


def _numbers(
    previous: Snapshot, current: Snapshot, old: Gate, new: Gate
) -> Iterator[tuple[str, str, int, int]]:
    """Key, what is counted, number before and number now of what may only grow."""
    yield "trials", "trials", old.trials or 0, new.trials or 0
    before, now = old.minimum_members or 0, new.minimum_members or 0
    yield "minimum_members", "members as minimum", before, now
    before, now = (
        one.members.get(gate.corpus or "", 0) for one, gate in ((previous, old), (current, new))
    )
    yield "corpus", "members in the corpus", before, now
    yield "counterexamples", "counterexamples", len(old.counterexamples), len(new.counterexamples)


@dataclass(frozen=True)
class Outcome:
    """What the comparison of a working tree with the revision before it gave.

    `problems` fail. `notes` are about what could not be read of the older revision.
    """

    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    compared_with: str | None = None
    unavailable: Unavailable | None = None


def check_ratchet(
    root: str | Path, tree: Tree, registry: Registry, base: str | None = None
) -> Outcome:
    """Compares `registry`, read from `tree`, with the revision before it in the checkout `root`.

    `tree` holds the folders in `previous.WATCHED`. What is wrong with the older revision by today's
    rules is noted; entries of it that no longer load are left out of the comparison.
    """
    revision = previous_revision(root, base)
    if isinstance(revision, Unavailable):
        return Outcome(unavailable=revision)
    try:
        before, problems = read_registry(revision.tree)
        old = snapshot(revision.tree, before, revision.name)
    except GitError as error:
        return Outcome(unavailable=Unavailable(Why.GIT_FAILED, str(error)))
    notes = tuple(sorted(_in_revision(problem, revision) for problem in problems))
    found = tuple(compare(old, snapshot(tree, registry)))
    return Outcome(found, notes, compared_with=revision.name)


def _in_revision(problem: Problem, revision: Revision) -> Problem:
    path = f"{problem.path}@{revision.name}"
    return Problem(path, problem.line, problem.column, problem.rule, problem.message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, 1 if the registry got laxer (in CI also without history), 4 for a bad file."""
    parser = argparse.ArgumentParser(prog="python -m hardgate.registry.ratchet")
    parser.add_argument("--root", default=".", help="the workspace (default: this folder)")
    parser.add_argument("--base", help="the branch the work goes into, e.g. origin/main")
    parser.add_argument("--ci", action="store_true", help="fail when the history is not available")
    options = parser.parse_args(arguments)
    tree = DirectoryTree(options.root, WATCHED)
    try:
        registry = load_registry(tree)
    except DefinitionError as error:
        print(error, file=sys.stderr)
        return 4
    outcome = check_ratchet(options.root, tree, registry, options.base)
    for note in outcome.notes:
        print(f"note: in the older revision: {note.render()}", file=sys.stderr)
    for problem in outcome.problems:
        print(problem.render(), file=sys.stderr)
    missing = outcome.unavailable
    if missing is not None:
        print(f"ratchet: nothing to compare with ({missing.why}): {missing.reason}")
        return 1 if options.ci and missing.why != Why.FIRST_REVISION else 0
    print(f"ratchet: compared with {outcome.compared_with}: {len(outcome.problems)} problems")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
