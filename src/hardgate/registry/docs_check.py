"""Compares what the specs declare with what is registered, both ways, and follows every name.

Ids are compared as sets and an id can stand only once on either side, so the counts agree whenever
no problem is found; numbers in prose are compared in `hardgate.registry.derived`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from hardgate.documents.problems import Problem
from hardgate.documents.tree import Tree
from hardgate.documents.wording import LIKE_PATHS, choices, did_you_mean, quoted
from hardgate.registry.derived import derived_problems
from hardgate.registry.loader import Registry
from hardgate.registry.markdown import Markdown
from hardgate.registry.resolve import check_problems, counterexample_problems
from hardgate.registry.specs import SECTION_ANCHOR, DeclaredGate, read_specs, spec_paths

_LINKS_FROM = "docs/**/*.md"
_LINKS_INTO = ("docs/", "gates/")


def check_docs(tree: Tree, registry: Registry) -> list[Problem]:
    """Everything that is wrong between the docs and the registry, sorted.

    `tree` needs docs/, gates/ and evals/. The registry itself is valid, or the loader would have
    raised.
    """
    declared, problems = read_specs(tree)
    problems.extend(declaration_problems(registry, declared))
    problems.extend(anchor_problems(tree, registry, declared))
    problems.extend(link_problems(tree))
    problems.extend(check_problems(tree, registry))
    problems.extend(counterexample_problems(tree, registry))
    problems.extend(derived_problems(tree, registry, declared))
    return sorted(set(problems))


def declaration_problems(registry: Registry, declared: Sequence[DeclaredGate]) -> Iterator[Problem]:
    """Gates that only one side knows, or that the two sides describe differently."""
    owners: dict[str, DeclaredGate] = {}
    for one in declared:
        first = owners.get(one.id)
        if one.alias:
            continue
        if first is not None:
            message = f"found {one.id} declared again, first at {first.place}"
            allowed = "allowed: one owner; elsewhere 'alias, owned by [<spec>](<spec>.md).'"
            yield one.problem("gate_declared_twice", f"{message}; {allowed}")
            continue
        owners[one.id] = one
    yield from _alias_problems(owners, declared)
    for one in declared:
        gate = registry.by_id.get(one.id)
        if gate is None and not one.alias:
            message = f"found {one.id} declared and not registered; allowed: an entry in gates/"
            message = f"{message}{did_you_mean(one.id, registry.by_id, LIKE_PATHS)}"
            yield one.problem("gate_unregistered", message)
        elif gate is not None and gate.milestone != one.milestone:
            path, line, column = registry.place(gate.id, "milestone")
            message = f"found M{one.milestone} for {one.id}; allowed: M{gate.milestone}"
            yield one.problem("milestone_mismatch", f"{message}, as at {path}:{line}:{column}")
    for gate in registry.gates:
        owner = owners.get(gate.id)
        if owner is None:
            message = (
                f"found {gate.id} registered and not declared; allowed: an item in {gate.spec}"
            )
            message = f"{message}{did_you_mean(gate.id, owners, LIKE_PATHS)}"
            yield registry.problem(gate.id, ("id",), "gate_undeclared", message)
        elif " ".join(gate.statement.split()) != owner.statement:
            message = f"found another statement than the spec's at {owner.place}"
            message = f"{message} ({_difference(gate.statement, owner.statement)})"
            allowed = "allowed: the same words in both"
            yield registry.problem(
                gate.id, ("statement",), "statement_mismatch", f"{message}; {allowed}"
            )


def _difference(registered: str, declared: str) -> str:
    """The first words in which two statements differ."""
    here, there = registered.split(), declared.split()
    same = 0
    while here[same : same + 1] == there[same : same + 1]:
        same += 1
    ours, theirs = " ".join(here[same : same + 4]), " ".join(there[same : same + 4])
    return f"here {quoted(ours)}, there {quoted(theirs)}"


def _alias_problems(
    owners: dict[str, DeclaredGate], declared: Sequence[DeclaredGate]
) -> Iterator[Problem]:
    """Aliases that lead to no owner, or stand beside it or twice in a spec."""
    seen: set[tuple[str, str]] = {(one.path, one.id) for one in owners.values()}
    for one in declared:
        if not one.alias:
            continue
        owner = owners.get(one.id)
        if owner is None or owner.path != one.owner:
            message = f"found an alias of {one.id}, said to be owned by {one.owner}"
            allowed = owner.path if owner else "a spec that declares the gate"
            yield one.problem("alias_owner", f"{message}; allowed: {allowed}")
        if (one.path, one.id) in seen:
            message = f"found {one.id} twice in {one.path}; allowed: once in a spec"
            yield one.problem("gate_declared_twice", message)
        seen.add((one.path, one.id))


def anchor_problems(
    tree: Tree, registry: Registry, declared: Sequence[DeclaredGate]
) -> Iterator[Problem]:
    """Entries whose `spec` leads to no file, to no heading, or to one that declares other gates."""
    anchors = {path: _anchors(tree, path) for path in spec_paths(tree)}
    owners: dict[str, list[str]] = {}
    for one in declared:
        if not one.alias:
            owners.setdefault(one.id, []).append(one.path)
    for gate in registry.gates:
        path, anchor = gate.spec.split("#")
        declaring = owners.get(gate.id, [])
        if path not in anchors:
            rule, message = "spec_missing", f"found no spec {path}; allowed: {choices(anchors)}"
            message = f"{message}{did_you_mean(path, anchors, LIKE_PATHS)}"
        elif anchor not in anchors[path]:
            known = anchors[path]
            rule, message = "anchor_missing", f"found no heading for #{anchor} in {path}"
            message = f"{message}; allowed: {choices(known)}{did_you_mean(anchor, known)}"
        elif declaring and not (path in declaring and anchor == SECTION_ANCHOR):
            rule, message = (
                "anchor_elsewhere",
                f"found {gate.spec}, which does not declare {gate.id}",
            )
            message = f"{message}; allowed: {declaring[0]}#{SECTION_ANCHOR}"
        else:
            continue
        yield registry.problem(gate.id, ("spec",), rule, message)


def link_problems(tree: Tree) -> Iterator[Problem]:
    """Links of the docs into docs/ or gates/ that lead to no file or to no heading."""
    for path in tree.glob(_LINKS_FROM):
        for link in Markdown(_text(tree, path)).links:
            if "://" in link.target or link.target.startswith(("mailto:", "/")):
                continue
            file, _, anchor = link.target.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
            target = target if file else path
            if not target.startswith(_LINKS_INTO):
                continue
            if not tree.exists(target):
                known = tree.glob(f"{posixpath.dirname(target)}/*")
                message = f"found a link to {target}, which does not exist; allowed: a file"
                message = f"{message}{did_you_mean(target, known, LIKE_PATHS)}"
            elif anchor and anchor not in (known := _anchors(tree, target)):
                message = f"found a link to #{anchor}, no heading of {target}"
                message = f"{message}; allowed: {choices(known)}{did_you_mean(anchor, known)}"
            else:
                continue
            yield Problem(path, link.line, link.column, "link_broken", message)


def _anchors(tree: Tree, path: str) -> tuple[str, ...]:
    return Markdown(_text(tree, path)).anchors if path.endswith(".md") else ()


def _text(tree: Tree, path: str) -> str:
    return tree.read(path).decode("utf-8", "replace")
