"""`hardgate:committed_secrets`: no file of the sources holds a secret.

Five families of secrets are looked for in every line of every file. A line in which something may
be found all the same is allowed by its digest, in a file of allowances. No finding shows the text
that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hardgate.documents.tree import Tree
from hardgate.kinds.context import Examination, StructuralContext
from hardgate.registry.allowances import Allowance, read_allowances
from hardgate.registry.check_options import CommittedSecretsOptions
from hardgate.structural_checks.secret_lines import MEANING, secrets_in_line
from hardgate.verdicts.verdict import Finding

LARGEST_FILE_BYTES = 4 * 1024 * 1024
_REASON = "allowance_reason"


@dataclass(frozen=True)
class FoundSecret:
    """What one rule found in one line; `values` is for comparing and never for showing."""

    path: str
    line: int
    rule: str
    values: frozenset[str] = field(repr=False)


def check(context: StructuralContext) -> Examination:
    """Scans every line of every file of the tree; counts the files."""
    options = context.options(CommittedSecretsOptions)
    allowances, problems = read_allowances(context.tree, options.allowances)
    findings = [
        Finding(one.path, one.line, _REASON, one.message)
        if one.rule == _REASON
        else Finding(one.path, one.line, "allowance_malformed", f"{one.rule}: {one.message}")
        for one in problems
    ]
    used: set[Allowance] = set()
    examined = 0
    for path in context.tree.paths():
        examined += 1
        for found, line in _found(context.tree, path, findings):
            allowed = [one for one in allowances if one.allows(path, found.rule, line)]
            used.update(allowed)
            if not allowed:
                findings.append(_without_secret(found, secret_finding(found)))
    for one, place in allowances.items():
        if one not in used:
            message = f"{one.rule} finds nothing in such a line of {one.path}; remove this entry"
            findings.append(Finding(options.allowances, place, "unused_allowance", message))
    return Examination(findings, examined, "files")


def _found(tree: Tree, path: str, findings: list[Finding]) -> Sequence[tuple[FoundSecret, str]]:
    """What is found in a file, each with its line; a file that is too large is a finding."""
    data = tree.read(path)
    if len(data) > LARGEST_FILE_BYTES:
        message = f"has {len(data)} bytes; at most {LARGEST_FILE_BYTES} are scanned"
        findings.append(Finding(path, 1, "file_too_large", message))
        return ()
    return [
        (FoundSecret(path, number, rule, frozenset(values)), line)
        for number, line in enumerate(_lines(data), start=1)
        for rule, values in secrets_in_line(path, line).items()
    ]


def secret_finding(found: FoundSecret) -> Finding:
    """What is said about a found secret: where it is and what it looks like."""
    message = f"{MEANING[found.rule]}; take it out and revoke it, or allow the line by its digest"
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
