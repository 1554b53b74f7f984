"""What a structural check is given and what it gives back.

A check is a function `check(context: StructuralContext) -> Examination`. It reads nothing but
`context.tree`, so that its result depends on the declared sources only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.tree import Tree
from hardgate.kinds.entry import GateEntry
from hardgate.verdicts.verdict import Finding

if TYPE_CHECKING:
    from hardgate.registry.loader import Registry

Model = TypeVar("Model")


@dataclass(frozen=True)
class Examination:
    """What a check found. `examined` counts what it looked at, in units of `unit` ("modules").

    A check that examined nothing fails, whatever it found.
    """

    findings: Sequence[Finding]
    examined: int
    unit: str


class OptionsError(Exception):
    """The options of a ready check are not what it takes; `problems` say why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


class StructuralContext:
    """The sources of one gate, and what a check may want to know about the repository."""

    def __init__(self, tree: Tree, gate: GateEntry) -> None:
        self.tree = tree
        self.gate = gate
        self._registry: Registry | None = None

    def options(self, model: type[Model]) -> Model:
        """The options of the gate's entry, none being an empty map. Raises OptionsError."""
        # Loaded here, as the registry below: a workspace's own checks have no options.
        from hardgate.documents.strict_yaml import Document
        from hardgate.documents.validation import validate

        given = {} if self.gate.options is None else self.gate.options
        document = Document(self.gate.path, given, {(): (self.gate.line, 1)}, {})
        try:
            return validate(document, model)
        except DefinitionError as error:
            raise OptionsError(error.problems) from None

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
