"""The texts of a new gate: its entry, the item of its spec, its check and its counterexample."""

from __future__ import annotations

import json
import textwrap
from typing import NamedTuple

from hardgate.cli.editor_line import editor_line
from hardgate.cli.exits import RefusedError
from hardgate.cli.ready_checks import BEGINNINGS
from hardgate.documents.tree import Tree
from hardgate.registry.check_options import PREFIX
from hardgate.registry.models import Kind
from hardgate.registry.resolve import Modules

COLUMNS = 100
NEW_AREA = "# Gates of the area {area}. See {spec}.\n"
NEW_CHECKS = '"""The checks of the area {area}; {spec} declares the gates."""\n'
NEW_DEFECTS = '"""The counterexamples of the area {area}."""\n'
# What a check is given and what it has to do, by kind.
GIVEN = {
    Kind.PROPERTY: (
        "hardgate.kinds.property.PropertyContext",
        "call context.for_all(holds, name=strategy) with a property that says require(...) of "
        "hardgate.kinds.checking for each clause of the statement",
    ),
    Kind.CORPUS: (
        "hardgate.kinds.corpus.CorpusContext",
        "call context.for_each(procedure) with a procedure that drives one member and says "
        "require(...) of hardgate.kinds.checking for each clause of the statement",
    ),
    Kind.STRUCTURAL: (
        "hardgate.kinds.context.StructuralContext",
        "read context.tree and return hardgate.kinds.context.Examination(findings, examined, unit)",
    ),
}
CHECK = '''

def {slug}(context):
    """{id}; `context` is a {given}."""
    raise NotImplementedError(
        {message}
    )
'''
DEFECT = '''

def {name}(bench):
    """Say which wrongness this is; `bench` is a hardgate.kinds.bench.Bench."""
    raise NotImplementedError(
        {message}
    )
'''


class GateScaffold(NamedTuple):
    """What is known of the new gate; the fields are those of its entry."""

    area: str
    slug: str
    milestone: int
    kind: Kind
    spec: str
    statement: str
    case: str | None
    trials: int | None
    corpus: str | None
    minimum_members: int | None
    sources: tuple[str, ...]
    ready: str | None = None

    @property
    def id(self) -> str:
        return f"gate.{self.area}.{self.slug}"

    @property
    def registry_path(self) -> str:
        return f"gates/{self.area}.yaml"

    @property
    def check(self) -> str:
        if self.case is not None:
            return f"case:{self.case}"
        if self.ready is not None:
            return f"{PREFIX}{self.ready}"
        return f"gates/checks/{self.area}.py::{self.slug}"

    @property
    def defect(self) -> str:
        """The name of the counterexample, until it gets a better one."""
        return f"{self.slug}_broken"

    def entry(self) -> str:
        """The entry as YAML."""
        lines = [f"- id: {self.id}", f"  milestone: {self.milestone}", f"  kind: {self.kind}"]
        lines += [f"  spec: {self.spec}#hard-gates", "  statement: >-"]
        lines += _wrapped(self.statement, "    ")
        lines += [f"  check: {self.check}"]
        if self.ready is not None:
            lines += ["  options:", *(f"    {line}" for line in BEGINNINGS[self.ready].options)]
        for key in ("trials", "corpus", "minimum_members"):
            value = getattr(self, key)
            lines += [] if value is None else [f"  {key}: {value}"]
        if self.sources:
            lines += ["  sources:", *(f"    - {json.dumps(label)}" for label in self.sources)]
        reason = self.slug if self.ready is None else BEGINNINGS[self.ready].reason
        lines += ["  counterexamples:", f"    - name: {self.defect}", f"      reason: {reason}"]
        return "\n".join(lines) + "\n"


def spec_item(scaffold: GateScaffold) -> str:
    """The item that declares the gate, for the section Hard gates of its spec."""
    text = f"N. **`{scaffold.id}`** — {scaffold.statement} **M{scaffold.milestone}.**"
    first, *rest = _wrapped(text, "   ")
    return "\n".join([first[3:], *rest])


def scaffold_files(scaffold: GateScaffold, tree: Tree) -> dict[str, str]:
    """Each file that changes or is new, with its whole text.

    Raises RefusedError where a function of one of the names is there already.
    """
    area = scaffold.area
    head = {"area": area, "spec": scaffold.spec}
    path = scaffold.registry_path
    new_area = editor_line(tree, path, "gates") + NEW_AREA.format(**head)
    files = {path: _appended(tree, path, new_area, "\n" + scaffold.entry())}
    if scaffold.kind in GIVEN and scaffold.ready is None:
        given, todo = GIVEN[scaffold.kind]
        path = f"gates/checks/{area}.py"
        message = _literal(f"{path}::{scaffold.slug} is not written: {todo}")
        stub = CHECK.format(slug=scaffold.slug, id=scaffold.id, given=given, message=message)
        files[path] = _with_function(tree, path, scaffold.slug, NEW_CHECKS.format(**head), stub)
    path = f"gates/defects/{area}.py"
    todo = "change one behaviour with bench.replace or bench.tree, and set the reason in the entry"
    message = _literal(f"{path}::{scaffold.defect} is not written: {todo}")
    stub = DEFECT.format(name=scaffold.defect, message=message)
    files[path] = _with_function(tree, path, scaffold.defect, NEW_DEFECTS.format(**head), stub)
    return files


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _literal(text: str) -> str:
    """A text as adjacent string literals, one a line."""
    lines = textwrap.wrap(text, COLUMNS - 12, break_long_words=False, drop_whitespace=False)
    return "\n        ".join(json.dumps(line) for line in lines)


def _with_function(tree: Tree, path: str, name: str, head: str, stub: str) -> str:
    if tree.exists(path):
        try:
            present = name in Modules(tree).names(path)
        except SyntaxError as error:
            message = f"found {path}, of which line {error.lineno or 1} is no Python"
            raise RefusedError(f"{message} ({error.msg}); allowed: a module that parses") from None
        if present:
            message = f"found a function {name} in {path}, which is not replaced"
            raise RefusedError(f"{message}; allowed: another slug")
    return _appended(tree, path, head, stub)


def _appended(tree: Tree, path: str, head: str, addition: str) -> str:
    """The text of a file, or the head of a new one, and the addition after it."""
    text = tree.read(path).decode("utf-8") if tree.exists(path) else head
    return text.rstrip("\n") + "\n" + addition
