"""What concerns several keys of an entry, several entries, or the repository's milestone."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from hardgate.documents.confusable import skeleton
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.validation import validate
from hardgate.documents.wording import choices, did_you_mean, quoted
from hardgate.registry.check_options import OPTIONS_OF, PREFIX, ready_check
from hardgate.registry.models import (
    KEYS_OF_KIND,
    KEYS_OF_SOME_KIND,
    REQUIRED_KEYS,
    Counterexample,
    Gate,
    Kind,
)


@dataclass(frozen=True)
class Entry:
    """A valid entry and where it stands."""

    gate: Gate
    document: Document
    index: int

    def problem(self, keys: Keys, rule: str, message: str) -> Problem:
        """A Problem at the entry, or at a value in it."""
        return self.document.problem((self.index, *keys), rule, message)


@dataclass(frozen=True)
class Identity:
    """The id of an entry, be the rest of the entry valid or not."""

    gate_id: str
    document: Document
    index: int

    @property
    def place(self) -> str:
        """`path:line:column` of the id."""
        line, column = self.document.position((self.index, "id"))
        return f"{self.document.path}:{line}:{column}"

    def problem(self, rule: str, message: str) -> Problem:
        """A Problem at the id."""
        return self.document.problem((self.index, "id"), rule, message)


def identities(document: Document) -> list[Identity]:
    """The ids of a file's entries, as far as they are texts."""
    items = document.value if isinstance(document.value, list) else []
    return [
        Identity(item["id"], document, index)
        for index, item in enumerate(items)
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    ]


def look(gate_id: str) -> str:
    """An id as a hurried reader sees it; ids of the same look are refused as confusable."""
    seen = skeleton(gate_id).lower().replace("_", "")
    return seen.replace("rn", "m").replace("0", "o").replace("1", "l")


def identity_problems(registered: list[Identity], retired: list[Identity]) -> Iterator[Problem]:
    """Ids that stand twice, look alike, stand in another area's file, or were retired."""
    yield from _repeated(registered)
    yield from _repeated(retired)
    retired_at = {identity.gate_id: identity.place for identity in retired}
    for identity in registered:
        area = posixpath.basename(identity.document.path).rsplit(".", 1)[0]
        if not identity.gate_id.startswith(f"gate.{area}.") and identity.gate_id.count(".") == 2:
            message = f"found '{identity.gate_id}' in {identity.document.path}"
            allowed = f"allowed: gate.{area}.<slug>, the area being the stem of the file"
            yield identity.problem("id_area_mismatch", f"{message}; {allowed}")
        if identity.gate_id in retired_at:
            message = f"found '{identity.gate_id}', retired at {retired_at[identity.gate_id]}"
            yield identity.problem("id_retired", f"{message}; allowed: an id never used before")


def _repeated(listed: list[Identity]) -> Iterator[Problem]:
    first_by_look: dict[str, Identity] = {}
    for identity in listed:
        first = first_by_look.setdefault(look(identity.gate_id), identity)
        if first is identity:
            continue
        if first.gate_id == identity.gate_id:
            message = f"found '{identity.gate_id}' again, first at {first.place}"
            yield identity.problem("id_duplicate", f"{message}; allowed: each id once")
        else:
            message = f"found '{identity.gate_id}', easily taken for '{first.gate_id}'"
            message = f"{message} at {first.place}"
            yield identity.problem(
                "id_confusable", f"{message}; allowed: ids that read differently"
            )


def entry_problems(entry: Entry, milestone: int) -> Iterator[Problem]:
    """What is wrong with one entry beyond its single values, at the repository's milestone."""
    yield from _kind_problems(entry)
    yield from _check_problems(entry)
    yield from _options_problems(entry)
    yield from _counterexample_problems(entry)
    if entry.gate.milestone <= milestone:
        yield from _active_problems(entry, milestone)


def _kind_problems(entry: Entry) -> Iterator[Problem]:
    """Keys that the kind needs, and keys that belong to another kind."""
    gate = entry.gate
    for key in KEYS_OF_SOME_KIND:
        if key in gate.model_fields_set and key not in KEYS_OF_KIND[gate.kind]:
            kinds = " or ".join(kind for kind, keys in KEYS_OF_KIND.items() if key in keys)
            message = f"found '{key}' on a gate of kind {gate.kind}"
            message = f"{message}; allowed: with kind {kinds} only"
            yield entry.problem((key,), "kind_key_unexpected", message)
    for key in REQUIRED_KEYS[gate.kind]:
        if getattr(gate, key) is None:
            message = f"found a gate of kind {gate.kind} without '{key}'; allowed: one that has it"
            yield entry.problem((), "kind_key_missing", message)
    for index, label in enumerate(gate.sources):
        if label in gate.sources[:index]:
            message = f"found '{label}' again; allowed: each label once"
            yield entry.problem(("sources", index), "source_duplicate", message)


def _check_problems(entry: Entry) -> Iterator[Problem]:
    """The check has the form of the gate's kind and is in the area's module."""
    gate = entry.gate
    if gate.check is None:
        return
    if gate.kind == Kind.CASE:
        allowed, fits = "case:<case name>", gate.check.startswith("case:")
    else:
        module = f"gates/checks/{gate.area}.py::"
        allowed, fits = f"{module}<function>", gate.check.startswith(module)
        if gate.kind == Kind.STRUCTURAL:
            allowed = f"{allowed} or {PREFIX}<name>"
            fits = fits or gate.check.startswith(PREFIX)
    if not fits:
        message = f"found '{gate.check}' on a gate of kind {gate.kind} and area {gate.area}"
        yield entry.problem(("check",), "check_mismatch", f"{message}; allowed: {allowed}")


def _options_problems(entry: Entry) -> Iterator[Problem]:
    """The ready check exists and is given the options that it needs; no other check has any."""
    name, options = ready_check(entry.gate.check), entry.gate.options
    if name is None:
        if options is not None:
            message = f"found options without a ready check; allowed: with check: {PREFIX}<name>"
            yield entry.problem(("options",), "options_unexpected", message)
        return
    model = OPTIONS_OF.get(name)
    if model is None:
        message = f"found no ready check {quoted(name)}; allowed: {choices(OPTIONS_OF)}"
        message = f"{message}{did_you_mean(name, OPTIONS_OF)}"
        yield entry.problem(("check",), "check_unknown", message)
        return
    if options is None:
        needed = [key for key, field in model.model_fields.items() if field.is_required()]
        if needed:
            message = f"found {PREFIX}{name} without 'options'; allowed: {', '.join(needed)} in it"
            yield entry.problem((), "options_missing", message)
        return
    try:
        validate(entry.document, model, (entry.index, "options"))
    except DefinitionError as error:
        yield from error.problems


def _counterexample_problems(entry: Entry) -> Iterator[Problem]:
    area = entry.gate.area
    names: set[str] = set()
    for index, counterexample in enumerate(entry.gate.counterexamples):
        name, tree = counterexample.name, counterexample.tree
        if name in names:
            message = f"found the counterexample '{name}' again; allowed: each name once in a gate"
            yield entry.problem(
                ("counterexamples", index, "name"), "counterexample_duplicate", message
            )
        names.add(name)
        folder = f"gates/defects/{area}/{name}"
        if tree is not None and tree != folder:
            message = f"found '{tree}'; allowed: {folder}, after the area and the name"
            yield entry.problem(("counterexamples", index, "tree"), "tree_mismatch", message)
        yield from _edit_problems(entry, index, counterexample)
        yield from _agent_problems(entry, index, counterexample)


def _agent_problems(entry: Entry, index: int, counterexample: Counterexample) -> Iterator[Problem]:
    """An agent stands alone, and only a case starts one."""
    here = ("counterexamples", index, "agent")
    if counterexample.agent is None:
        return
    if entry.gate.kind != Kind.CASE:
        message = f"found 'agent' on a gate of kind {entry.gate.kind}; allowed: with kind case only"
        yield entry.problem(here, "agent_unexpected", message)
    for key in ("tree", "edit"):
        if getattr(counterexample, key) is not None:
            message = f"found 'agent' beside '{key}'; allowed: one of them"
            yield entry.problem(here, "agent_unexpected", message)


def _edit_problems(entry: Entry, index: int, counterexample: Counterexample) -> Iterator[Problem]:
    """An edit stands alone, and edits one thing: a file, or a function where a process runs it."""
    edit, here = counterexample.edit, ("counterexamples", index, "edit")
    if edit is None:
        return
    if counterexample.tree is not None:
        message = "found 'edit' beside 'tree'; allowed: one of them"
        yield entry.problem(here, "edit_beside_tree", message)
    if (edit.path is None) == (edit.function is None):
        found = "neither 'path' nor 'function'" if edit.path is None else "'path' and 'function'"
        yield entry.problem(here, "edit_target", f"found {found}; allowed: one of them")
    elif edit.function is not None and entry.gate.kind == Kind.STRUCTURAL:
        message = "found 'function' on a gate of kind structural, whose check reads files"
        yield entry.problem((*here, "function"), "edit_target", f"{message}; allowed: 'path'")
    if edit.old == edit.new:
        message = "found the same text in 'old' and 'new'; allowed: a new text that differs"
        yield entry.problem((*here, "new"), "edit_same", message)


def _active_problems(entry: Entry, milestone: int) -> Iterator[Problem]:
    """What a gate must have once the repository has reached its milestone."""
    gate = entry.gate
    state = f"found the gate {gate.id}, active at milestone {milestone}, without"
    if gate.check is None:
        yield entry.problem((), "check_missing", f"{state} 'check'; allowed: one that has it")
    if not gate.counterexamples:
        message = f"{state} 'counterexamples'; allowed: at least one defect that it rejects"
        yield entry.problem((), "counterexample_missing", message)
    if gate.kind == Kind.STRUCTURAL and not gate.sources:
        message = f"{state} 'sources'; allowed: the Bazel labels of the files it reads"
        yield entry.problem((), "sources_missing", message)
