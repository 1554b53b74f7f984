"""Runs a corpus gate: one procedure over each member of a checked-in set.

`python -m hardgate.kinds.corpus --entry ENTRY.json --manifest MANIFEST --repeat COMMAND
[--counterexample NAME]`

A check is a function `check(context: CorpusContext) -> None` that calls `context.for_each` with the
procedure. Each member has a result of its own; a corpus that is too small, or that holds the same
member twice in other words, fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from hardgate.documents.tree import Tree
from hardgate.fixtures.corpus import Member, load_corpus, near_duplicates
from hardgate.kinds.checking import Violation
from hardgate.kinds.entry import GateEntry, load_check
from hardgate.kinds.in_process import Options, run_process
from hardgate.verdicts.verdict import CheckResult, Finding, Verdict, conclude

TOO_FEW_MEMBERS = "too_few_members"
NEAR_DUPLICATE = "near_duplicate"
NO_PROCEDURE = "no_procedure"


@dataclass
class CorpusContext:
    """What a check is given: the members, sorted by id, and the tree they were read from."""

    gate: GateEntry
    tree: Tree
    members: tuple[Member, ...]
    results: list[CheckResult] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def for_each(self, procedure: Callable[[Member], None]) -> None:
        """Runs `procedure(member)` for every member; it says `require(...)` for each clause.

        A member that breaks a clause does not keep the others from running. Any exception but a
        Violation is a crash of the check and is raised on.
        """
        for member in self.members:
            try:
                procedure(member)
            except Violation as violation:
                found = Finding(member.path, member.body_line, violation.rule, str(violation))
                self.findings.append(found)
                self.results.append(
                    CheckResult(member.id, "fail", member.expect, str(violation), violation.rule)
                )
            else:
                self.results.append(CheckResult(member.id, "pass", member.expect, member.expect))


def run_corpus(entry: GateEntry, tree: Tree, options: Options) -> Verdict:
    """Loads the corpus, runs the check over it and concludes.

    Raises DefinitionError for members that are malformed, MissingCodeError, and whatever the check
    raises.
    """
    members = load_corpus(tree, entry.corpus or "")
    context = CorpusContext(entry, tree, members)
    context.findings += _size_findings(entry, members)
    context.findings += [
        Finding(later.path, later.body_line, NEAR_DUPLICATE, f"says what {earlier.path} says")
        for earlier, later in near_duplicates(members)
    ]
    load_check(entry)(context)
    if not context.results:
        message = "the check ran no procedure over the members"
        context.findings.append(Finding(entry.path, entry.line, NO_PROCEDURE, message))
    return conclude(
        id=entry.id,
        kind=entry.kind,
        milestone=entry.milestone,
        checks=tuple(context.results),
        findings=tuple(context.findings),
        examined=len(members),
        unit="members",
    )


def _size_findings(entry: GateEntry, members: tuple[Member, ...]) -> list[Finding]:
    wanted = entry.minimum_members or 1
    if len(members) >= wanted:
        return []
    message = f"{entry.corpus} holds {len(members)} members; at least {wanted} are required"
    return [Finding(entry.path, entry.line, TOO_FEW_MEMBERS, message)]


if __name__ == "__main__":
    sys.exit(run_process("corpus", run_corpus))
