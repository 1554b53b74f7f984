"""Loads a case file, with every problem of it at once."""

from typing import NamedTuple

from hardgate.cases.model import Case
from hardgate.cases.rules import own_problems
from hardgate.documents.problems import DefinitionError
from hardgate.documents.shapes import read
from hardgate.documents.strict_yaml import Document, Keys, load


class LoadedCase(NamedTuple):
    """A case and the document it was read from, which knows where each key stands."""

    case: Case
    document: Document

    @property
    def path(self) -> str:
        return self.document.path

    def line(self, keys: Keys) -> int:
        """The line of the value under `keys`, or of the nearest one around it that is written."""
        return self.document.position(keys)[0]


def load_case(path: str, data: bytes) -> LoadedCase:
    """The case in the bytes of the file `path`. Raises DefinitionError.

    The names of a subject's tools, events and so on are not looked at: see `rules.name_problems`.
    """
    document = load(path, data)
    case = read(document, Case)
    problems = own_problems(case, document)
    if problems:
        raise DefinitionError(problems)
    return LoadedCase(case, document)
