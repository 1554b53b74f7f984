"""Modules that a rule leaves free; one that does not need it is a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardgate.structural_checks.modules import matches
from hardgate.verdicts.verdict import Finding


class AllowedIn:
    """The patterns of an `allowed_in`, and which of them were needed."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._needed: set[str] = set()

    def frees(self, module: str, *, needed: bool) -> bool:
        """Whether a pattern stands for the module; `needed` says that it would break the rule."""
        found = [pattern for pattern in self._patterns if matches(module, (pattern,))]
        if needed:
            self._needed.update(found)
        return bool(found)

    def unused(self, place: tuple[str, int]) -> Iterator[Finding]:
        """A finding at `place` for each pattern that no module needed."""
        for pattern in self._patterns:
            if pattern not in self._needed:
                message = f"allowed_in names {pattern}, and nothing there needs it; remove it"
                yield Finding(*place, "unused_exception", message)
