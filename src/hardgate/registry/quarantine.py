"""Tests that failed and then passed unchanged, twice: evals/quarantine.yaml.

An entry holds for 14 days from its date. A gate is refused there, and so is a case behind one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, Keys, load
from hardgate.documents.tree import Tree
from hardgate.documents.validation import refused, validate_list
from hardgate.documents.wording import quoted
from hardgate.registry.grammar import Label, Name, Reason, matching
from hardgate.registry.loader import Registry

QUARANTINE = "evals/quarantine.yaml"
GATE_QUARANTINED = "gate_quarantined"
_CASE = "case:"
_DATE = r"^\d{4}-\d{2}-\d{2}$"


def _real(text: str) -> str:
    """A check that there is such a day."""
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        message = f"found {quoted(text)}; allowed: a day of the calendar, such as 2026-01-31"
        raise refused("date_malformed", message) from None
    return text


Day = Annotated[
    str,
    AfterValidator(_real),
    AfterValidator(matching(_DATE, "date_malformed", "a date such as 2026-01-31", 10)),
    Field(json_schema_extra={"pattern": _DATE, "maxLength": 10}),
]


class Quarantined(BaseModel):
    """A test or a case that does not block for a while."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra={"oneOf": [{"required": ["test"]}, {"required": ["case"]}]},
    )

    test: Label | None = Field(default=None, description="The Bazel label of a test.")
    case: Name | None = Field(default=None, description="Instead of test: the name of a case.")
    since: Day = Field(description="The day it was put here; it blocks again 14 days later.")
    reason: Reason = Field(description="What was seen, and who looks into it.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Quarantined:
        if (self.test is None) == (self.case is None):
            found = "neither 'test' nor 'case'" if self.test is None else "'test' and 'case'"
            raise refused("quarantine_subject", f"found {found}; allowed: one of the two")
        return self


def quarantine_problems(tree: Tree, registry: Registry | None) -> list[Problem]:
    """What is wrong with the quarantine of a tree; without the file nothing is."""
    if not tree.exists(QUARANTINE):
        return []
    try:
        document = load(QUARANTINE, tree.read(QUARANTINE))
    except DefinitionError as error:
        return list(error.problems)
    gates = list(gates_in_quarantine(document, registry))
    known = {(one.line, one.column) for one in gates}
    _, problems = validate_list(document, Quarantined)
    return gates + [one for one in problems if (one.line, one.column) not in known]


def gates_in_quarantine(document: Document, registry: Registry | None) -> Iterator[Problem]:
    """Gates, and cases that back an active one, wherever the document names them."""
    backing = _backed_gates(registry)
    for keys in document.positions:
        value = document.value
        for key in keys:
            value = value[key]
        texts: tuple[tuple[object, bool], ...] = (
            (value, False),
            *((key, True) for key in keys[-1:]),
        )
        for text, at_key in texts:
            if isinstance(text, str):
                yield from _quarantined(document, keys, text, backing, at_key=at_key)


def _quarantined(
    document: Document, keys: Keys, text: str, backing: dict[str, str], *, at_key: bool
) -> Iterator[Problem]:
    gate = text if text.startswith(("gate.", "//gates")) else backing.get(text)
    if gate is not None:
        what = text if text == gate else f"{text}, which backs {gate}"
        message = f"found {what}; allowed: tests that back no active gate"
        yield document.problem(keys, GATE_QUARANTINED, message, at_key=at_key)


def _backed_gates(registry: Registry | None) -> dict[str, str]:
    """The active gate behind each case that backs one, by every name that the case has."""
    names: dict[str, str] = {}
    for gate in () if registry is None else registry.active():
        if gate.check is not None and gate.check.startswith(_CASE):
            case = gate.check.removeprefix(_CASE)
            names |= dict.fromkeys((case, gate.check, f"//evals:cases/{case}"), gate.id)
    return names
