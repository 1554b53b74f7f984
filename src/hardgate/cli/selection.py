"""Which cases and gates a command is about, from names, tags, a kind and a milestone."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import NamedTuple

from hardgate.cli.exits import UsageError
from hardgate.cli.parser import unknown_name
from hardgate.cli.suite import Suite
from hardgate.documents.problems import DefinitionError
from hardgate.registry.loader import Registry
from hardgate.registry.models import Kind

# The kinds that run in this process. A structural gate is judged over the exact files that its
# entry declares, which only the build knows.
RUNNABLE = (Kind.CASE, Kind.PROPERTY, Kind.CORPUS)
_CASE = "case:"


class Wanted(NamedTuple):
    """What the command line asks for; None and empty mean that it does not say."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kind: str | None = None
    milestone: int | None = None


class Item(NamedTuple):
    """Something to run: a case (`path` is its file) or a gate (`name` is its id)."""

    kind: str
    name: str
    milestone: int
    path: str = ""
    tags: tuple[str, ...] = ()


class Selected(NamedTuple):
    """What is to run, and what would be, were its milestone reached. Sorted by milestone."""

    items: tuple[Item, ...]
    pending: tuple[Item, ...]


def select(wanted: Wanted, suite: Suite, registry: Registry | None) -> Selected:
    """The selected items.

    Without a kind and without names, cases are meant. `milestone` selects what belongs to it, also
    where the repository has not reached it. Raises UsageError for a name, tag or milestone that
    nothing has, DefinitionError for the problems of cases that are or may be meant.
    """
    known = [*_cases(suite), *_gates(registry)]
    chosen = _named(wanted, known, suite, registry) if wanted.names else known
    kind = wanted.kind or (None if wanted.names else Kind.CASE)
    if not wanted.names and kind == Kind.CASE and suite.problems:
        raise DefinitionError(suite.problems)
    if kind is not None:
        chosen = [item for item in chosen if item.kind == kind]
    for tag in wanted.tags:
        tags = sorted({tag for item in known for tag in item.tags})
        if tag not in tags:
            raise UsageError(f"--tag: {unknown_name('tag', tag, tags)}")
        chosen = [item for item in chosen if tag in item.tags]
    if wanted.milestone is not None:
        chosen = [item for item in chosen if item.milestone == wanted.milestone]
    if not chosen:
        raise UsageError(_nothing(wanted, known))
    reached = wanted.milestone
    if reached is None:
        reached = registry.milestone if registry is not None else _latest(chosen)
    items = sorted(dict.fromkeys(chosen), key=lambda item: (item.milestone, item.path, item.name))
    return Selected(
        tuple(item for item in items if item.milestone <= reached),
        tuple(item for item in items if item.milestone > reached),
    )


def case_item(word: str, suite: Suite) -> Item:
    """The case of a name or file. Raises UsageError, and DefinitionError for its problems."""
    for path, name in suite.names.items():
        if word in (name, path, posixpath.basename(path), posixpath.basename(path)[:-5]):
            problems = suite.problems_of(path)
            if problems:
                raise DefinitionError(problems)
            return _case(path, suite)
    raise UsageError(unknown_name("case", word, sorted(suite.names.values())))


def _cases(suite: Suite) -> list[Item]:
    return [_case(path, suite) for path in suite.cases]


def _case(path: str, suite: Suite) -> Item:
    case = suite.cases[path].case
    return Item(Kind.CASE, case.name, case.milestone, path, case.tags)


def _gates(registry: Registry | None) -> list[Item]:
    """The gates with a check of their own that runs in a process."""
    gates = () if registry is None else registry.gates
    return [
        Item(gate.kind, gate.id, gate.milestone)
        for gate in gates
        if gate.kind in RUNNABLE and gate.kind != Kind.CASE and gate.check is not None
    ]


def _named(
    wanted: Wanted, known: Sequence[Item], suite: Suite, registry: Registry | None
) -> list[Item]:
    """The items of the given names; a gate of the kind case stands for its case."""
    gates = {} if registry is None else registry.by_id
    found: list[Item] = []
    for name in wanted.names:
        item = next((one for one in known if one.name == name and one.kind != Kind.CASE), None)
        gate = gates.get(name)
        if item is not None:
            found.append(item)
        elif gate is not None and gate.check is not None and gate.check.startswith(_CASE):
            found.append(case_item(gate.check[len(_CASE) :], suite))
        elif gate is not None:
            raise UsageError(_not_here(name, gate.kind, gate.area, gate.slug, gate.check is None))
        elif name.startswith("gate."):
            raise UsageError(unknown_name("gate", name, sorted(gates)))
        else:
            found.append(case_item(name, suite))
    return found


def _not_here(name: str, kind: str, area: str, slug: str, unwritten: bool) -> str:
    """Why a registered gate does not run in this process."""
    if unwritten:
        return f"{name} has no check yet; its entry in gates/{area}.yaml needs one"
    target = f"bazel test //gates:{area}/{slug}"
    return f"{name} is of the kind {kind}, which only the build can judge; try: {target}"


def _latest(items: Sequence[Item]) -> int:
    """In a workspace without gates there is no milestone, so nothing is pending."""
    return max(item.milestone for item in items)


def _nothing(wanted: Wanted, known: Sequence[Item]) -> str:
    asked = [f"the tag {tag}" for tag in wanted.tags]
    asked += [f"the kind {wanted.kind}"] if wanted.kind else []
    asked += [f"the milestone {wanted.milestone}"] if wanted.milestone is not None else []
    there = sorted({(str(item.kind), item.milestone) for item in known})
    found = ", ".join(f"{kind} of milestone {milestone}" for kind, milestone in there)
    what = f"nothing of {' and '.join(asked)}" if asked else "nothing that runs here"
    return f"found {what}; there is: {found or 'no case at all'}"
