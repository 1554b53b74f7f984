"""Definition errors: what is wrong with a file of the workspace, and where.

A definition error (a malformed registry, case, fixture or document) is not a gate failure: it has
its own type and its own exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Problem(NamedTuple):
    """One thing that is wrong at one place; sorts by path, line, column.

    `path` is relative to the workspace root; `line` and `column` count from 1, columns in
    characters. `rule` is a stable name such as `yaml.duplicate_key`. `message` is one line.
    """

    path: str
    line: int
    column: int
    rule: str
    message: str

    def render(self) -> str:
        """The form editors and CI systems turn into a link: `path:line:column: rule: message`."""
        return f"{self.path}:{self.line}:{self.column}: {self.rule}: {self.message}"


class DefinitionError(Exception):
    """Raised with every problem found, not only the first; `problems` is sorted and unique."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Raises ValueError without a problem: an error that names nothing helps nobody."""
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        if not self.problems:
            raise ValueError("a DefinitionError needs at least one problem")
        super().__init__("\n".join(problem.render() for problem in self.problems))
