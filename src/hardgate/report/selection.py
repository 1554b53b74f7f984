"""Which gates a report is about: all of them, or those of a milestone, an area and a kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardgate.documents.wording import choices, did_you_mean, quoted

if TYPE_CHECKING:
    from hardgate.registry.models import Gate

GATE_TAG, INVALID_TAG = "gate", "invalid"


@dataclass(frozen=True)
class Selection:
    """The gates that have every value that is given; nothing given is the complete report."""

    milestone: int | None = None
    area: str | None = None
    kind: str | None = None

    def plain(self) -> dict[str, str]:
        """The given values by name, as in a target's tags."""
        values = {"milestone": self.milestone, "area": self.area, "kind": self.kind}
        return {key: str(value) for key, value in values.items() if value is not None}

    def words(self) -> str:
        """`area tool, kind case`; empty for the complete report."""
        return ", ".join(f"{key} {value}" for key, value in self.plain().items())

    def has(self, gate: Gate) -> bool:
        """Whether the report has a row for this gate."""
        values = _values(gate)
        return all(values[key] == value for key, value in self.plain().items())

    def has_tags(self, tags: frozenset[str]) -> bool:
        """Whether a target with these tags belongs to the report. A target of an entry that can't
        be read always does: nobody knows which gate it would be."""
        wanted = {f"{key}:{value}" for key, value in self.plain().items()}
        return INVALID_TAG in tags or wanted <= tags

    def tag_filter(self, gates: Iterable[Gate]) -> str:
        """The value of --test_tag_filters that makes Bazel run exactly the selected targets.

        Bazel joins the wanted tags by OR and takes away what has an unwanted one. So the first
        value is wanted, and of each further key every other value is unwanted.
        """
        plain = self.plain()
        if not plain:
            return GATE_TAG
        first, *further = plain
        other: set[str] = set()
        for gate in gates:
            values = _values(gate)
            other.update(f"-{key}:{values[key]}" for key in further if values[key] != plain[key])
        return ",".join([f"{first}:{plain[first]}", INVALID_TAG, *sorted(other)])

    def why_empty(self, gates: Iterable[Gate]) -> str:
        """What to say when no gate is selected: the value that no gate has, and the known ones."""
        known: dict[str, set[str]] = {"milestone": set(), "area": set(), "kind": set()}
        for gate in gates:
            for key, value in _values(gate).items():
                known[key].add(value)
        for key, value in self.plain().items():
            if value not in known[key]:
                names = sorted(known[key], key=lambda name: (len(name), name))
                names = names if key == "milestone" else sorted(names)
                hint = did_you_mean(value, names)
                return f"--{key}: found {quoted(value)}{hint}; gates have {choices(names)}"
        return f"no gate has {self.words() or 'been registered'}"


def _values(gate: Gate) -> dict[str, str]:
    return {"milestone": str(gate.milestone), "area": gate.area, "kind": str(gate.kind)}
