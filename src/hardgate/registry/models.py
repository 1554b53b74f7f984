"""The registry's entries as they stand in gates/<area>.yaml and gates/retired.yaml.

A model checks one value at a time. What concerns several keys, several entries or the
repository's milestone is checked in `hardgate.registry.rules`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from hardgate.registry import grammar
from hardgate.registry.check_options import editor_rules

LARGEST_MILESTONE = 99
LARGEST_COUNT = 1_000_000


class Kind(StrEnum):
    """How a gate is checked; docs/kinds/ has a page about each."""

    CASE = "case"
    PROPERTY = "property"
    CORPUS = "corpus"
    STRUCTURAL = "structural"


KEYS_OF_KIND: dict[Kind, tuple[str, ...]] = {
    Kind.CASE: (),
    Kind.PROPERTY: ("trials", "sources"),
    Kind.CORPUS: ("corpus", "minimum_members", "sources"),
    Kind.STRUCTURAL: ("sources", "options"),
}
KEYS_OF_SOME_KIND = tuple(dict.fromkeys(key for keys in KEYS_OF_KIND.values() for key in keys))
REQUIRED_KEYS: dict[Kind, tuple[str, ...]] = {
    Kind.CASE: (),
    Kind.PROPERTY: ("trials",),
    Kind.CORPUS: ("corpus", "minimum_members"),
    Kind.STRUCTURAL: (),  # `sources` once the gate is active
}


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Edit(_Entry):
    """A defect that is one edit: a text that occurs once is replaced by another one."""

    path: grammar.EditedFile | None = Field(
        default=None, description="The file that is edited, as the check reads it."
    )
    function: grammar.FunctionName | None = Field(
        default=None,
        description="Instead of a file: the function or method that is edited in the process that "
        "runs the check, as its dotted import path.",
    )
    old: grammar.EditedText = Field(description="What is replaced; it occurs exactly once.")
    new: grammar.NewText = Field(description="What stands there instead.")


class Counterexample(_Entry):
    """A seeded defect that the gate must reject."""

    name: grammar.Name = Field(
        description="The function of this name in gates/defects/<area>.py, the last folder of "
        "`tree`, or a name of its own with `edit`. Unique within the gate."
    )
    reason: grammar.RuleName = Field(
        description="The rule of the finding, or the name of the failed check, that has to reject "
        "the defect."
    )
    tree: grammar.DefectFolder | None = Field(
        default=None,
        description="A folder of files laid over the workspace, instead of a function: "
        "gates/defects/<area>/<name>.",
    )
    edit: Edit | None = Field(
        default=None, description="One edit of a file or of a function, instead of a function."
    )
    agent: grammar.Name | None = Field(
        default=None,
        description="Kind case, instead of a function: the agent that the case starts, by its name "
        "in broken_agents of hardgate_gates.",
    )


def _with_keys_of_kinds(schema: dict[str, Any]) -> None:
    """Adds to the JSON Schema which keys go with which kind, for editors."""
    schema["allOf"] = [
        {
            "if": {"properties": {"kind": {"const": kind}}},
            "then": {
                "required": sorted(REQUIRED_KEYS[kind]),
                "properties": {
                    key: False for key in KEYS_OF_SOME_KIND if key not in KEYS_OF_KIND[kind]
                },
            },
        }
        for kind in KEYS_OF_KIND
    ] + editor_rules()


class Gate(_Entry):
    """One gate: a named, executable condition that blocks a milestone."""

    model_config = ConfigDict(json_schema_extra=_with_keys_of_kinds)

    id: grammar.GateId = Field(
        description="gate.<area>.<slug>; the area is the stem of the file the entry stands in."
    )
    milestone: Annotated[int, Field(ge=0, le=LARGEST_MILESTONE)] = Field(
        description="The first milestone at which the gate has to hold; until then it is pending."
    )
    kind: Kind = Field(description="How the gate is checked.")
    spec: grammar.SpecAnchor = Field(
        description="The heading under which a spec declares the gate: "
        "docs/specs/<spec>.md#hard-gates."
    )
    statement: grammar.Statement = Field(description="What has to hold, as one can check it.")
    check: grammar.Check | None = Field(
        default=None,
        description="gates/checks/<area>.py::<function>, case:<case name> for the kind case, or "
        "hardgate:<name> for a ready structural check. Required once the gate is active.",
    )
    options: dict[str, Any] | None = Field(
        default=None,
        description="With check: hardgate:<name>: what docs/reference/structural-checks.md says.",
    )
    trials: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None = Field(
        default=None, description="Kind property: the least number of generated examples."
    )
    corpus: grammar.CorpusFolder | None = Field(
        default=None, description="Kind corpus: the folder of the members, below evals/corpora."
    )
    minimum_members: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None = Field(
        default=None, description="Kind corpus: the least number of members."
    )
    sources: tuple[grammar.Label, ...] = Field(
        default=(),
        description="Bazel labels of the files the check reads; not for the kind case. Kind "
        "structural: required once the gate is active.",
    )
    counterexamples: tuple[Counterexample, ...] = Field(
        default=(),
        description="The seeded defects the gate must reject. At least one once it is active.",
    )
    lowered: grammar.Reason | None = Field(
        default=None,
        description="Why a number of this entry is smaller, or its milestone later, than in the "
        "revision before. A reason excuses one lowering: the next needs a new text.",
    )

    @property
    def area(self) -> str:
        """The second part of the id."""
        return self.id.split(".")[1]

    @property
    def slug(self) -> str:
        """The last part of the id."""
        return self.id.split(".")[2]


class RetiredGate(_Entry):
    """A gate that was removed on purpose. Its id is never used again."""

    id: grammar.GateId = Field(description="The id the gate was registered with.")
    reason: grammar.Reason = Field(description="Why its promise no longer holds.")
