"""Pydantic's error types in the words of this project: `found X; allowed: Y`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import ErrorDetails

from hardgate.documents.confusable import first_not_ascii
from hardgate.documents.strict_yaml import Keys
from hardgate.documents.wording import choices, did_you_mean, quoted, shown


@dataclass
class Complaint:
    """One thing wrong with a value, before it is bound to a line."""

    keys: Keys
    rule: str
    found: str
    allowed: str
    suggestion: str = ""
    at_key: bool = False
    in_union: bool = False

    def message(self) -> str:
        """`found ...; allowed: ...`, then the nearest known name; `allowed` may be empty."""
        allowed = f"; allowed: {self.allowed}" if self.allowed else ""
        return f"{self.found}{allowed}{self.suggestion}"


Context = Mapping[str, Any]
Allowed = Callable[[Context], str]


def _says(text: str) -> Allowed:
    """The allowed values, from a template over the error's context."""
    return text.format_map


def _counted(bound: str, count: str, noun: str) -> Allowed:
    """A number of things, from the key `count` of the error's context."""
    return lambda context: f"{bound} {context[count]} {noun}{'s' * (context[count] != 1)}"


_TYPES = {
    "a map": "model_type model_attributes_type dataclass_type dataclass_exact_type dict_type "
    "frozen_dict_type ordered_dict_type mapping_type",
    "a list": "list_type tuple_type set_type frozen_set_type deque_type iterable_type",
    "a text": "string_type string_unicode",
    "true or false": "bool_type bool_parsing",
    "a whole number": "int_type int_parsing int_from_float int_parsing_size",
    "a number": "float_type float_parsing",
    "a finite number": "finite_number",
    "null": "none_required",
    "a text of ASCII characters": "string_not_ascii",
    "a text as a key": "invalid_key",
}

_VALUES: dict[str, tuple[str, Allowed]] = {
    "greater_than": ("schema.range", _says("more than {gt}")),
    "greater_than_equal": ("schema.range", _says("at least {ge}")),
    "less_than": ("schema.range", _says("less than {lt}")),
    "less_than_equal": ("schema.range", _says("at most {le}")),
    "multiple_of": ("schema.range", _says("a multiple of {multiple_of}")),
    "too_short": ("schema.length", _counted("at least", "min_length", "item")),
    "too_long": ("schema.length", _counted("at most", "max_length", "item")),
    "string_too_short": ("schema.length", _counted("at least", "min_length", "character")),
    "string_too_long": ("schema.length", _counted("at most", "max_length", "character")),
    "string_pattern_mismatch": ("schema.pattern", _says("a text that matches {pattern}")),
    **{
        name: ("schema.type", lambda context, allowed=allowed: allowed)  # type: ignore[misc]
        for allowed, names in _TYPES.items()
        for name in names.split()
    },
}

_LEADS = re.compile(
    r"^(Input|Value error|Assertion failed|Datetimes provided to dates)?[,:]? ?"
    r"(should be|should have)? ?"
)
_QUOTED_NAME = re.compile(r"'([^']*)'")
_WITHOUT_QUOTES = {"True": "true", "False": "false", "None": "null"}


def complain(details: ErrorDetails, keys: Keys, known: tuple[str, ...]) -> Complaint:
    """The complaint for one pydantic error at `keys`; `known` are the keys of an unknown one's map.

    A type that is not pydantic's own is a rule of the model (see `validation.refused`).
    """
    kind = details["type"]
    context = details.get("ctx", {})
    if kind in _SPECIAL:
        return _SPECIAL[kind](details, keys, known)
    found = f"found {shown(details['input'])}"
    if kind in _VALUES:
        rule, allowed = _VALUES[kind]
        return Complaint(keys, rule, found, allowed(context))
    if "message" in context:
        return Complaint(keys, kind, str(context["message"]), "")
    return Complaint(keys, "schema.value", found, _LEADS.sub("", details["msg"]).rstrip(": ,"))


def _missing(details: ErrorDetails, keys: Keys, known: tuple[str, ...]) -> Complaint:
    name = quoted(str(details["loc"][-1]))
    return Complaint(keys, "schema.missing_key", f"found a map without {name}", "one that has it")


def _unknown(details: ErrorDetails, keys: Keys, known: tuple[str, ...]) -> Complaint:
    name = str(details["loc"][-1])
    strange = first_not_ascii(name)
    found = f"found the unknown key {quoted(name)}" + (f" ({strange})" if strange else "")
    suggestion = did_you_mean(name, known)
    return Complaint(keys, "schema.unknown_key", found, choices(known), suggestion, at_key=True)


def _not_a_choice(details: ErrorDetails, keys: Keys, known: tuple[str, ...]) -> Complaint:
    expected = str(details["ctx"]["expected"])
    return _choice(keys, details["input"], expected)


def _wrong_tag(details: ErrorDetails, keys: Keys, known: tuple[str, ...]) -> Complaint:
    """The value of the key that tells which kind of map this is."""
    key = str(details["ctx"]["discriminator"]).strip("'")
    return _choice((*keys, key), details["ctx"]["tag"], str(details["ctx"]["expected_tags"]))


def _no_tag(details: ErrorDetails, keys: Keys, known: tuple[str, ...]) -> Complaint:
    name = details["ctx"]["discriminator"]
    return Complaint(keys, "schema.missing_key", f"found a map without {name}", "one that has it")


def _choice(keys: Keys, value: Any, expected: str) -> Complaint:
    names = _QUOTED_NAME.findall(expected)
    suggestion = did_you_mean(value, names) if isinstance(value, str) else ""
    allowed = choices(names) if names else _WITHOUT_QUOTES.get(expected, expected)
    return Complaint(keys, "schema.value", f"found {shown(value)}", allowed, suggestion)


_SPECIAL: dict[str, Callable[[ErrorDetails, Keys, tuple[str, ...]], Complaint]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "enum": _not_a_choice,
    "literal_error": _not_a_choice,
    "union_tag_invalid": _wrong_tag,
    "union_tag_not_found": _no_tag,
}


def merge_union_branches(complaints: list[Complaint]) -> list[Complaint]:
    """Makes one complaint of those that the branches of a union raise about one value.

    A branch of another type says nothing when a fitting branch complains about the value's inside.
    """
    kept: list[Complaint] = []
    first_at: dict[Keys, Complaint] = {}
    for one in complaints:
        if not one.in_union:
            kept.append(one)
        elif one.rule == "schema.type" and _complaint_inside(one.keys, complaints):
            continue
        elif one.keys in first_at and not one.at_key:
            first = first_at[one.keys]
            if one.allowed not in first.allowed.split(" or "):
                first.allowed = f"{first.allowed} or {one.allowed}"
        else:
            first_at.setdefault(one.keys, one)
            kept.append(one)
    return kept


def _complaint_inside(keys: Keys, complaints: list[Complaint]) -> bool:
    """Whether a branch accepted the type under `keys` and complains about more than that."""
    return any(
        other.in_union
        and other.keys[: len(keys)] == keys
        and (
            len(other.keys) > len(keys)
            or other.rule in ("schema.missing_key", "schema.unknown_key")
        )
        for other in complaints
    )
