"""What a structural check is given and what it gives back.

A check is a function `check(context: StructuralContext) -> Examination`. It reads nothing but
`context.tree`, so that its result depends on the declared sources only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardgate.documents.tree import Tree
from hardgate.kinds.entry import GateEntry
from hardgate.verdicts.verdict import Finding

if TYPE_CHECKING:
    from hardgate.registry.loader import Registry


@dataclass(frozen=True)
class Examination:
    """What a check found. `examined` counts what it looked at, in units of `unit` ("modules").

    A check that examined nothing fails, whatever it found.
    """

    findings: Sequence[Finding]
    examined: int
    unit: str


class StructuralContext:
    """The sources of one gate, and what a check may want to know about the repository."""

    def __init__(self, tree: Tree, gate: GateEntry) -> None:
        self.tree = tree
        self.gate = gate
        self._registry: Registry | None = None

    @property
    def milestone(self) -> int:
        """The repository's milestone. Raises DefinitionError as `registry` does."""
        return self.registry().milestone

    def registry(self) -> Registry:
        """The registry in `tree`, loaded once. Raises DefinitionError with all its problems."""
        if self._registry is None:
            # Loaded here and not at the top: most checks never look at the registry, and its
            # models are the most expensive import of the process.
            from hardgate.registry.loader import load_registry

            self._registry = load_registry(self.tree)
        return self._registry
