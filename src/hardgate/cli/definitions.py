"""Everything that a workspace defines, read strictly: gates, docs, cases, fixtures, corpora."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from hardgate.cli.exits import RefusedError
from hardgate.cli.suite import CASES, Suite, read_suite
from hardgate.cli.yaml_files import other_yaml_problems
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.tree import Tree
from hardgate.fixtures.corpus import load_corpus
from hardgate.registry.derived import derived_problems
from hardgate.registry.docs_check import anchor_problems, declaration_problems, link_problems
from hardgate.registry.loader import Registry, read_registry
from hardgate.registry.resolve import check_problems, counterexample_problems
from hardgate.registry.specs import read_specs

if TYPE_CHECKING:
    from hardgate.subjects.port import Subject

CORPORA = "evals/corpora"
# Rules that judge by what they do not find: meaningless beside an entry that could not be read.
_BY_ABSENCE = ("defect_unused",)


class Definitions(NamedTuple):
    """What was read, and every problem of it, sorted. `registry` is None in a workspace without
    gates; `notes` say what could not be looked at."""

    registry: Registry | None
    suite: Suite
    corpora: tuple[str, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def read_definitions(tree: Tree, subject: Subject | None = None) -> Definitions:
    """Reads all of a workspace; with a subject, cases may only name what it knows.

    Raises RefusedError for a workspace that defines nothing: that nothing is wrong with it says
    nothing.
    """
    if not tree.exists("gates") and not tree.exists(CASES):
        raise RefusedError(f"found neither gates nor {CASES}; allowed: at least one of the two")
    notes: list[str] = []
    problems: list[Problem] = []
    registry = None
    complete = True
    if tree.exists("gates"):
        registry, found = read_registry(tree)
        complete = not found
        problems += found
        problems += _docs_problems(tree, registry, complete=complete, notes=notes)
    suite = read_suite(tree, subject, None if registry is None else registry.milestone)
    in_process = any(one.case.subject is None for one in suite.cases.values())
    if in_process and subject is None:
        notes.append("names of tools, events and reason codes were not compared with a subject")
    problems += suite.problems
    corpora = _corpora(tree)
    # A gate that could not be read may name any corpus.
    problems += _corpus_problems(tree, corpora, registry if complete else None)
    problems += other_yaml_problems(tree, registry, {problem.path for problem in problems})
    return Definitions(registry, suite, corpora, tuple(sorted(set(problems))), tuple(notes))


def _docs_problems(
    tree: Tree, registry: Registry, *, complete: bool, notes: list[str]
) -> Iterable[Problem]:
    """What is wrong between the docs and the registry, as far as both could be read."""
    declared, malformed = read_specs(tree)
    named = [*check_problems(tree, registry), *counterexample_problems(tree, registry)]
    problems = [*malformed, *link_problems(tree)]
    if complete and not malformed:
        problems += named
        problems += declaration_problems(registry, declared)
        problems += anchor_problems(tree, registry, declared)
        problems += derived_problems(tree, registry, declared)
        return problems
    notes.append("the docs were not compared with the registry: first mend what is named above")
    return problems + [problem for problem in named if problem.rule not in _BY_ABSENCE]


def _corpora(tree: Tree) -> tuple[str, ...]:
    """The folders right below evals/corpora."""
    prefix = f"{CORPORA}/"
    paths = tree.glob(f"{prefix}*/**")
    return tuple(sorted({prefix + path[len(prefix) :].split("/")[0] for path in paths}))


def _corpus_problems(
    tree: Tree, corpora: Iterable[str], registry: Registry | None
) -> Iterable[Problem]:
    """What is wrong with members, and corpora that no gate of a registry names; None is no registry
    that could be asked."""
    gates = () if registry is None else registry.gates
    named = [gate.corpus for gate in gates if gate.corpus is not None]
    for folder in corpora:
        try:
            members = load_corpus(tree, folder)
        except DefinitionError as error:
            yield from error.problems
            continue
        if not members:
            message = "found a corpus without a member; allowed: files of the name <id>.txt"
            yield Problem(folder, 1, 1, "corpus.empty", message)
        used = registry is None or any(f"{name}/".startswith(f"{folder}/") for name in named)
        if not used:
            message = f"found a corpus that no gate names; allowed: one with corpus: {folder}"
            yield Problem(folder, 1, 1, "corpus.unused", message)
