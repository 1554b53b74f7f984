"""The checks of the area structure; docs/specs/structure.md declares the gates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import Document, load
from hardgate.documents.tree import Tree
from hardgate.kinds.context import Examination, StructuralContext
from hardgate.kinds.python_source import parse_files
from hardgate.verdicts.verdict import Finding

ALLOWANCES = "gates/allowances/secrets.yaml"
_ALLOWANCE_KEYS = ("path", "rule", "line_sha256", "reason")
_FEWEST_REASON_WORDS = 3
_LARGEST_FILE_BYTES = 4 * 1024 * 1024


def import_boundary(context: StructuralContext) -> Examination:
    """Judges every import of the judged packages by the table in structure_rules.py."""
    # grimp is imported by this check only: the other one must not pay for it.
    from gates.checks.structure_imports import ImportJudge, build_graph, split_judged

    paths = [*context.tree.glob("src/**/*.py"), *context.tree.glob("tests/contract/**/*.py")]
    parsed, findings = parse_files(context.tree, paths)
    files, outside = split_judged(parsed)
    findings += outside
    if not files:
        return Examination(findings, 0, "imports")
    graph = build_graph(files, {file.path: context.tree.read(file.path) for file in files})
    examined = graph.count_imports()
    findings += ImportJudge(graph, files).findings()
    return Examination(findings, examined, "imports")


@dataclass(frozen=True)
class FoundSecret:
    """What one rule found in one line; `values` is for comparing and never for showing."""

    path: str
    line: int
    rule: str
    values: frozenset[str] = field(repr=False)


def no_committed_secrets(context: StructuralContext) -> Examination:
    """Scans every line of every file of the tree for the five families of secrets."""
    # detect-secrets is imported by this check only: the other one must not pay for it.
    from gates.checks.structure_secrets import secrets_in_line

    allowances, findings = read_allowances(context.tree)
    used: set[Allowance] = set()
    examined = 0
    for path in context.tree.paths():
        data = context.tree.read(path)
        examined += 1
        if len(data) > _LARGEST_FILE_BYTES:
            message = f"has {len(data)} bytes; at most {_LARGEST_FILE_BYTES} are scanned"
            findings.append(Finding(path, 1, "file_too_large", message))
            continue
        for number, line in enumerate(_lines(data), start=1):
            for rule, values in secrets_in_line(path, line).items():
                allowed = [one for one in allowances if one.allows(path, rule, line)]
                used.update(allowed)
                if not allowed:
                    found = FoundSecret(path, number, rule, frozenset(values))
                    findings.append(_without_secret(found, secret_finding(found)))
    findings += [one.unused() for one in allowances if one not in used]
    return Examination(findings, examined, "files")


def secret_finding(found: FoundSecret) -> Finding:
    """What is said about a found secret: where it is and what it looks like."""
    from gates.checks.structure_secrets import MEANING

    message = f"{MEANING[found.rule]}; take it out and revoke it, or allow the line in {ALLOWANCES}"
    return Finding(found.path, found.line, found.rule, message)


def _without_secret(found: FoundSecret, finding: Finding) -> Finding:
    """The finding, or one that says that it would have shown what was found."""
    if not any(value in finding.message for value in found.values):
        return finding
    message = f"the message of a finding of {found.rule} held what was found; it is left out"
    return Finding(found.path, found.line, "secret_shown", message)


def _lines(data: bytes) -> Sequence[str]:
    """The lines of a text, or the printable part of what is none: a binary may hold a key too."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return [line.rstrip("\r") for line in data.decode(encoding, "replace").split("\n")]


@dataclass(frozen=True)
class Allowance:
    """One line of one file in which one rule may find something, and where that is allowed."""

    path: str
    rule: str
    line_sha256: str
    place: int

    def allows(self, path: str, rule: str, line: str) -> bool:
        """Whether this is the line. It is known by its digest, so it may move but not change."""
        return (path, rule) == (self.path, self.rule) and self.line_sha256 == line_digest(line)

    def unused(self) -> Finding:
        """The finding that says that there is nothing left to allow."""
        message = f"{self.rule} finds nothing in such a line of {self.path}; remove this entry"
        return Finding(ALLOWANCES, self.place, "unused_allowance", message)


def line_digest(line: str) -> str:
    """The SHA-256 of a line without its end, in hexadecimal digits."""
    return hashlib.sha256(line.encode("utf-8")).hexdigest()


def read_allowances(tree: Tree) -> tuple[list[Allowance], list[Finding]]:
    """The allowances of the tree, and what is wrong with them. Without a file there are none."""
    if not tree.exists(ALLOWANCES):
        return [], []
    try:
        document = load(ALLOWANCES, tree.read(ALLOWANCES))
    except DefinitionError as error:
        return [], [_malformed(one.line, f"{one.rule}: {one.message}") for one in error.problems]
    if not isinstance(document.value, list):
        return [], [_malformed(1, "expected a list of entries")]
    allowances: list[Allowance] = []
    findings: list[Finding] = []
    for index, entry in enumerate(document.value):
        problems = list(_entry_problems(document, index, entry))
        findings += problems
        if not problems:
            values = (entry["path"], entry["rule"], entry["line_sha256"])
            allowances.append(Allowance(*values, document.position((index,))[0]))
    return allowances, findings


def _entry_problems(document: Document, index: int, entry: object) -> Iterator[Finding]:
    line = document.position((index,))[0]
    if not isinstance(entry, dict):
        yield _malformed(line, f"expected the keys {', '.join(_ALLOWANCE_KEYS)}")
        return
    unknown = sorted(set(entry) - set(_ALLOWANCE_KEYS))
    if unknown:
        yield _malformed(line, f"unknown key {unknown[0]!r}; allowed: {', '.join(_ALLOWANCE_KEYS)}")
    for key in _ALLOWANCE_KEYS[:-1]:
        if not isinstance(entry.get(key), str) or not entry[key]:
            yield _malformed(line, f"the key {key!r} needs a text")
    reason = entry.get("reason")
    if not isinstance(reason, str) or len(reason.split()) < _FEWEST_REASON_WORDS:
        message = "an allowance says in a sentence why the line is no secret; this one does not"
        yield Finding(ALLOWANCES, line, "allowance_reason", message)


def _malformed(line: int, message: str) -> Finding:
    return Finding(ALLOWANCES, line, "allowance_malformed", message)
