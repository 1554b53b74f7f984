"""From a loaded document to a model, with every complaint at its line and in plain words.

Values are checked by the rules of JSON: a text is never taken for a number, and lists become
tuples, texts become enum members. Models forbid unknown keys
(`ConfigDict(extra="forbid", frozen=True, strict=True)`). A validator inside a model refuses a
value with `refused(rule, message)`, and both appear unchanged in the Problem.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from hardgate.documents.complaints import Complaint

T = TypeVar("T")

_DISABLE_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


def refused(rule: str, message: str) -> PydanticCustomError:
    """The exception a validator raises: a stable rule name and `found ...; allowed: ...`."""
    return PydanticCustomError(rule, "{message}", {"message": message})


def validate(document: Document, model: type[T], at: Keys = ()) -> T:
    """Returns the value under `at` (by default all of the document) as an instance of `model`.

    `model` is a pydantic model or any type pydantic knows. Raises DefinitionError with a Problem
    for each complaint.
    """
    value = _value_at(document.value, at)
    try:
        instance: T = _adapter(model).validate_json(_as_json(value))  # type: ignore[arg-type]
    except ValidationError as error:
        raise DefinitionError(_problems(document, at, value, model, error)) from None
    return instance


def validate_without_nulls(
    document: Document, model: type[T], *, free_keys: Collection[str] = ()
) -> T:
    """As `validate`, for a document in which a key that is null would be taken for one not there.

    Below `free_keys` stand values of other programs, in which null is a value like any other.
    """
    nulls = list(_nulls(document, (), document.value, free_keys))
    try:
        instance = validate(document, model)
    except DefinitionError as error:
        places = {(problem.line, problem.column) for problem in error.problems}
        others = [problem for problem in nulls if (problem.line, problem.column) not in places]
        raise DefinitionError([*others, *error.problems]) from None
    if nulls:
        raise DefinitionError(nulls)
    return instance


def _nulls(
    document: Document, at: Keys, value: Any, free_keys: Collection[str]
) -> Iterator[Problem]:
    if value is None:
        yield document.problem(at, "schema.type", "found null; allowed: a value, or no such key")
    elif isinstance(value, dict):
        for key, below in value.items():
            if key not in free_keys:
                yield from _nulls(document, (*at, key), below, free_keys)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _nulls(document, (*at, index), item, free_keys)


def validate_list(document: Document, model: type[T]) -> tuple[dict[int, T], list[Problem]]:
    """Validates each item of a document that is a list, so that one bad item hides no other.

    Returns the valid instances by index, and the problems of all the others.
    """
    items = document.value
    if not isinstance(items, list):
        message = f"found {shown(items)}; allowed: a list"
        return {}, [document.problem((), "schema.type", message)]
    list_of_model = list[model]  # type: ignore[valid-type]
    try:
        return dict(enumerate(_adapter(list_of_model).validate_json(_as_json(items)))), []
    except ValidationError as error:
        problems = _problems(document, (), items, list_of_model, error)
        refused_items = {details["loc"][0] for details in error.errors(include_url=False)}
    one = _adapter(model)  # type: ignore[arg-type]
    good = (index for index in range(len(items)) if index not in refused_items)
    return {index: one.validate_json(_as_json(items[index])) for index in good}, problems


@lru_cache(maxsize=64)
def _adapter(model: Any) -> TypeAdapter[Any]:
    """What validates a type, built without the plugins of pydantic that happen to be installed.

    None may change what a file means, and looking for some costs as much as reading a case.
    """
    before = os.environ.get(_DISABLE_PLUGINS)
    os.environ[_DISABLE_PLUGINS] = "__all__"
    try:
        adapter = TypeAdapter(model)
        adapter.rebuild()
        return adapter
    finally:
        del os.environ[_DISABLE_PLUGINS]
        if before is not None:
            os.environ[_DISABLE_PLUGINS] = before


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value_at(value: Any, keys: Keys) -> Any:
    for key in keys:
        value = value[key]
    return value


def _problems(
    document: Document, at: Keys, value: Any, model: Any, error: ValidationError
) -> list[Problem]:
    # Only a bad file pays for what words a complaint: a case is read in a process of its own.
    from hardgate.documents.complaints import merge_union_branches

    complaints = merge_union_branches(
        [
            _complaint(value, model, details)
            for details in error.errors(include_url=False)
            if not _counts_refused_items(details)
        ]
    )
    return [
        document.problem((*at, *one.keys), one.rule, one.message(), at_key=one.at_key)
        for one in complaints
    ]


def _counts_refused_items(details: ErrorDetails) -> bool:
    """Whether a list is called too short only because its bad items were not counted."""
    if details["type"] != "too_short":
        return False
    return len(details["input"]) >= int(details["ctx"]["min_length"])


def _complaint(value: Any, model: Any, details: ErrorDetails) -> Complaint:
    """One pydantic error, with its location found again in the document."""
    from hardgate.documents.complaints import complain
    from hardgate.documents.model_keys import known_keys

    location = details["loc"]
    names_a_missing_key = details["type"] == "missing"
    about_key = bool(location) and location[-1] == "[key]"
    sought = location[:-1] if names_a_missing_key or about_key else location
    keys = locate(value, sought)
    known: tuple[str, ...] = ()
    if details["type"] == "extra_forbidden":
        known = known_keys(model, location[:-1])
    complaint = complain(details, keys, known)
    complaint.in_union = len(keys) < len(sought)
    complaint.at_key = complaint.at_key or about_key
    return complaint


def locate(value: Any, location: tuple[str | int, ...]) -> Keys:
    """The keys in the document for a pydantic location.

    A location also holds labels of union branches, which are no keys. Of all ways to read it, that
    one is taken which leaves out the fewest elements, and rather another one than the last.
    """
    return _locate(value, location)[1]


def _locate(value: Any, location: tuple[str | int, ...]) -> tuple[int, Keys]:
    """The cost of what was left out, and the keys."""
    if not location:
        return 0, ()
    first, rest = location[0], location[1:]
    readings: list[tuple[int, Keys]] = []
    if _has(value, first):
        cost, keys = _locate(value[first], rest)
        readings.append((cost, (first, *keys)))
    if not readings or readings[0][0]:
        cost, keys = _locate(value, rest)
        readings.append((cost + (2 if rest else 3), keys))
    return min(readings, key=lambda reading: reading[0])


def _has(value: Any, key: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(key, int) and 0 <= key < len(value)
    return isinstance(value, dict) and key in value
