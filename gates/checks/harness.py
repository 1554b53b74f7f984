"""The checks of the area harness; docs/specs/evaluation_harness.md declares the gates.

Most of them turn what the registry's own loader and docs check report into findings. Each problem
belongs to one gate, by the name of its rule, so that one mistake turns one gate red.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gates.checks.harness_build import build_findings, build_paths
from gates.checks.harness_contracts import contract_findings
from gates.checks.harness_isolation import RUNTIME, isolation_findings
from gates.checks.harness_skips import hidden, skips, uncollected
from hardgate.documents.confusable import first_not_ascii
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import Tree
from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import inside, parse_files
from hardgate.verdicts.verdict import Finding

if TYPE_CHECKING:
    from hardgate.kinds.property import PropertyContext

QUARANTINE = "evals/quarantine.yaml"
_ID_RULES = "id_"
_UNUSED = "defect_unused"
_MENTION = re.compile(r"`(gate\.[^`\s<>*{}]*)`")


def registry_complete(context: StructuralContext) -> Examination:
    """Compares specs and registry both ways and resolves what active gates name."""
    from hardgate.registry.derived import derived_problems
    from hardgate.registry.docs_check import declaration_problems
    from hardgate.registry.loader import read_registry
    from hardgate.registry.resolve import check_problems, counterexample_problems
    from hardgate.registry.specs import read_specs

    registry, problems = read_registry(context.tree)
    declared, malformed = read_specs(context.tree)
    problems += malformed
    named = [
        *check_problems(context.tree, registry),
        *counterexample_problems(context.tree, registry),
    ]
    if problems:
        # What belongs to an entry or item that cannot be read is neither missing nor unused.
        problems += [problem for problem in named if problem.rule != _UNUSED]
    else:
        problems += named
        problems += declaration_problems(registry, declared)
        problems += derived_problems(context.tree, registry, declared)
    own = [problem for problem in problems if not problem.rule.startswith(_ID_RULES)]
    return Examination(_findings(own), len(registry.gates) + len(declared), "entries and items")


def id_grammar(context: StructuralContext) -> Examination:
    """Looks at every id: in the registry, in the specs, and wherever the docs mention one."""
    from hardgate.registry.grammar import GATE_ID_PATTERN
    from hardgate.registry.loader import read_registry
    from hardgate.registry.specs import read_specs

    registry, problems = read_registry(context.tree)
    _, malformed = read_specs(context.tree)
    problems = [one for one in (*problems, *malformed) if one.rule.startswith(_ID_RULES)]
    mentions = list(_mentions(context.tree))
    grammar = re.compile(GATE_ID_PATTERN)
    reported = {(problem.path, problem.line) for problem in problems}
    for path, line, column, name in mentions:
        if not grammar.fullmatch(name) and (path, line) not in reported:
            strange = first_not_ascii(name)
            remark = f" ({strange})" if strange else ""
            message = f"found {name!r}{remark}; allowed: gate.<area>.<slug>, each of a-z, 0-9 and _"
            problems.append(Problem(path, line, column, "id_malformed", message))
    return Examination(_findings(problems), len(registry.gates) + len(mentions), "ids")


def _mentions(tree: Tree) -> Iterator[tuple[str, int, int, str]]:
    """Path, line, column and text of everything in the docs that is written like a gate's id."""
    for path in tree.glob("docs/**/*.md"):
        for number, line in enumerate(tree.read(path).decode("utf-8", "replace").split("\n"), 1):
            for match in _MENTION.finditer(line):
                yield path, number, match.start(1) + 1, match.group(1)


def anchor_resolves(context: StructuralContext) -> Examination:
    """Follows the `spec` of every entry and every link between the docs."""
    from hardgate.registry.docs_check import anchor_problems, link_problems
    from hardgate.registry.loader import read_registry
    from hardgate.registry.markdown import Markdown
    from hardgate.registry.specs import read_specs

    registry, _ = read_registry(context.tree)
    declared, _ = read_specs(context.tree)
    problems = [
        *anchor_problems(context.tree, registry, declared),
        *link_problems(context.tree),
    ]
    texts = (context.tree.read(path) for path in context.tree.glob("docs/**/*.md"))
    links = sum(len(Markdown(text.decode("utf-8", "replace")).links) for text in texts)
    return Examination(_findings(problems), len(registry.gates) + links, "anchors and links")


def no_stale_skip(context: StructuralContext) -> Examination:
    """Looks for everything that lets a test behind a gate end without a pass or a failure."""
    tree = context.tree
    folders = ("gates/checks/**/*.py", "gates/defects/*.py", "evals/**/*.py")
    backing = [path for pattern in folders for path in tree.glob(pattern)]
    tests = [path for path in tree.glob("tests/**/*.py") if not path.startswith("tests/live/")]
    code, findings = parse_files(tree, backing)
    test_files, unreadable = parse_files(tree, tests)
    findings += unreadable
    for file in (*code, *test_files):
        findings += skips(file)
    findings += uncollected(test_files)
    for file in test_files:
        findings += hidden(file)
    build = build_paths(tree)
    for path in build:
        findings += build_findings(tree, path)
    findings += _quarantined(tree)
    examined = len(code) + len(test_files) + len(build)
    return Examination(findings, examined if code and test_files else 0, "files")


def _quarantined(tree: Tree) -> list[Finding]:
    """Entries of the quarantine that name a gate, or a case that backs an active gate."""
    if not tree.exists(QUARANTINE):
        return []
    # The models of the registry are worth the time only here.
    from hardgate.registry.loader import read_registry
    from hardgate.registry.quarantine import gates_in_quarantine

    try:
        document = load(QUARANTINE, tree.read(QUARANTINE))
    except DefinitionError as error:
        return _findings(error.problems)
    return _findings(gates_in_quarantine(document, read_registry(tree)[0]))


def contract_coverage(context: StructuralContext) -> Examination:
    """Compares the ports, their contract modules, and the classes that implement them."""
    files, findings = parse_files(context.tree, context.tree.glob("src/agent_core/**/*.py"))
    tests, unreadable = parse_files(context.tree, context.tree.glob("tests/contract/**/*.py"))
    compared, ports = contract_findings(files, tests)
    return Examination([*findings, *unreadable, *compared], ports, "ports")


def evals_isolation(context: StructuralContext) -> Examination:
    """Follows every import of the runtime, static or not, to its evals package or the harness."""
    files, findings = parse_files(context.tree, context.tree.glob("src/**/*.py"))
    guarded = sum(inside(file.module, (RUNTIME,)) for file in files)
    return Examination([*findings, *isolation_findings(files)], guarded, "modules")


def _findings(problems: Iterable[Problem]) -> list[Finding]:
    return [Finding(one.path, one.line, one.rule, one.message) for one in problems]


def case_schema(context: StructuralContext) -> Examination:
    """Reads every case with all that it names, and runs none."""
    # The runtime is imported by the checks that need its names: the others must not pay for it.
    from gates.checks.harness_suite import Suite, subject_of

    with subject_of(context.tree) as subject:
        suite = Suite(context.tree, subject, context.gate.milestone)
    return Examination(suite.findings, len(suite.paths), "cases")


def reason_code_table(context: StructuralContext) -> Examination:
    """Looks up every code that the suite produces, and every way to a message."""
    from gates.checks.harness_reasons import reason_findings
    from gates.checks.harness_suite import Suite, subject_of

    with subject_of(context.tree) as subject:
        suite = Suite(context.tree, subject, context.gate.milestone)
        findings, examined = reason_findings(context.tree, suite, subject)
    return Examination(findings, examined, "reason codes")


def no_egress(context: PropertyContext) -> None:
    """Runs the suite's programs in generated states of the network."""
    from gates.checks import harness_egress

    harness_egress.check(context)


def no_eval_in_prod(context: PropertyContext) -> None:
    """Starts generated deployments, and the suite's own identity, in every mode."""
    from gates.checks import harness_identity

    harness_identity.check(context)
