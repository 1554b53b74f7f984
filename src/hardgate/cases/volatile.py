"""The list of what may differ between two runs of one case: evals/volatile_fields.yaml.

The list is checked in and read by people, so an entry says why its field cannot be pinned.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hardgate.cases.expected import Entry
from hardgate.cases.values import DottedName
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, load
from hardgate.documents.texts import matching
from hardgate.documents.validation import validate_list
from hardgate.documents.wording import choices, did_you_mean, quoted

EVERY_EVENT = "*"
FIELD_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
FEWEST_WORDS = 3

FieldPath = Annotated[
    str,
    Field(min_length=1, max_length=200, json_schema_extra={"pattern": FIELD_PATTERN}),
    AfterValidator(
        matching(
            FIELD_PATTERN, "volatile.field", "keys of the payload, such as duration_ms or limit.at"
        )
    ),
]


class VolatileField(Entry):
    """One field of the event log that no comparison of two runs looks at."""

    event: DottedName | Literal["*"] = Field(
        description="The type of the events that have the field, or * for every type."
    )
    field: FieldPath = Field(
        description="The keys in the payload that lead to it, joined by dots; the items of a list "
        "are looked into one by one."
    )
    reason: Annotated[str, Field(min_length=1, max_length=500)] = Field(
        description="Why it cannot be pinned."
    )


VolatileFields = tuple[VolatileField, ...]


def load_volatile_fields(
    path: str, data: bytes, event_types: Iterable[str] | None = None
) -> VolatileFields:
    """The list in the bytes of the file `path`. Raises DefinitionError with every problem.

    With `event_types`, a type that is none of them is one.
    """
    document = load(path, data)
    found, problems = validate_list(document, VolatileField)
    problems += _own_problems(found, document)
    if event_types is not None:
        problems += _unknown_events(found, document, sorted(event_types))
    if problems:
        raise DefinitionError(problems)
    return tuple(found.values())


def _own_problems(found: dict[int, VolatileField], document: Document) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[tuple[str, str], int] = {}
    for index, one in found.items():
        earlier = first.setdefault((one.event, one.field), index)
        if earlier != index:
            line, column = document.position((earlier,))
            message = (
                f"found {quoted(one.field)} of {one.event} again (first at {line}:{column}); "
                "allowed: each field once"
            )
            problems.append(document.problem((index,), "volatile.duplicate", message))
        if len(one.reason.split()) < FEWEST_WORDS:
            message = f"found {quoted(one.reason)}; allowed: a reason of at least three words"
            problems.append(document.problem((index, "reason"), "volatile.reason", message))
    return problems


def _unknown_events(
    found: dict[int, VolatileField], document: Document, known: list[str]
) -> list[Problem]:
    return [
        document.problem(
            (index, "event"),
            "volatile.unknown_event_type",
            f"found {quoted(one.event)}; allowed: *, {choices(known)}"
            f"{did_you_mean(one.event, known)}",
        )
        for index, one in found.items()
        if one.event not in (EVERY_EVENT, *known)
    ]
