"""Loads a case file, with every problem of it at once."""

from typing import NamedTuple

from hardgate.cases.expected import ALIASES
from hardgate.cases.model import Case
from hardgate.cases.planned import PlannedRun, planned_runs
from hardgate.cases.rules import own_problems
from hardgate.documents.aliases import with_field_names
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, Keys, load
from hardgate.documents.validation import validate_without_nulls

# Where arguments of tools are compared, null is a value like any other.
_FREE_KEYS = ("arguments_subset", "equals", "subset")


class LoadedCase(NamedTuple):
    """A case and the document it was read from, which knows where each key stands."""

    case: Case
    document: Document

    @property
    def path(self) -> str:
        return self.document.path

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs that the case asks for, at least one."""
        return planned_runs(self.case)

    def line(self, keys: Keys) -> int:
        """The line of the value under `keys`, or of the nearest one around it that is written."""
        return self.document.position(keys)[0]


def load_case(path: str, data: bytes) -> LoadedCase:
    """The case in the bytes of the file `path`. Raises DefinitionError.

    Neither the names of a subject's tools, events and so on nor the fixtures are looked at: see
    `names`, `needs` and `hardgate.subjects.collection`.
    """
    document, problems = _with_field_names(load(path, data))
    try:
        case = validate_without_nulls(document, Case, free_keys=_FREE_KEYS)
    except DefinitionError as error:
        raise DefinitionError([*problems, *error.problems]) from None
    problems += own_problems(case, document)
    if problems:
        raise DefinitionError(problems)
    return LoadedCase(case, document)


def _with_field_names(document: Document) -> tuple[Document, list[Problem]]:
    """The document with one name for each key of every `expected`."""
    places: list[Keys] = [("expected",)]
    if isinstance(document.value, dict) and isinstance(document.value.get("arms"), list):
        places += [("arms", index, "expected") for index in range(len(document.value["arms"]))]
    problems: list[Problem] = []
    for at in places:
        document, found = with_field_names(document, at, ALIASES)
        problems += found
    return document, problems
