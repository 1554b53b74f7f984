"""Takes a document apart by a closed schema and gathers every complaint at its place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from agent_core.adapters.configuration.yaml_reader import Document, Keys
from agent_core.domain.deployment import ConfigurationProblem, ConfigurationRefused

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

SCHEMA_VERSION = 1
LONGEST_TEXT = 253
_ABSENT = object()
_SHOWN_CHARACTERS = 60


class Form(NamedTuple):
    """What a text looks like: the pattern of the whole text, and how to say it."""

    pattern: re.Pattern[str]
    allowed: str


NAME = Form(
    re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*"),
    "a name such as team.reader (a-z, 0-9, _ and .)",
)


class Checker:
    """Reads values by their keys. What is refused gives a stand-in, so that reading goes on; then
    `finish` raises, and nothing that was read may be used."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._problems: list[ConfigurationProblem] = []

    def finish(self) -> None:
        """Raises `ConfigurationRefused` with every complaint so far, if there is one."""
        if self._problems:
            raise ConfigurationRefused(self._problems)

    def complain(self, keys: Keys, rule: str, message: str, *, at_key: bool = False) -> None:
        self._problems.append(self._document.problem(keys, rule, message, at_key=at_key))

    def keys(
        self, at: Keys, required: Collection[str], optional: Collection[str] = ()
    ) -> frozenset[str]:
        """The keys of a map that has all `required` keys and no other than these two kinds."""
        value = self._members(at)
        if value is None:
            return frozenset()
        known = (*required, *optional)
        for key in value:
            if key not in known:
                self.complain((*at, key), "schema.unknown_key", one_of(key, known), at_key=True)
        for key in required:
            if key not in value:
                message = f"found no key {shown(key)}, which is required"
                self.complain(at, "schema.missing_key", message)
        return frozenset(value).intersection(known)

    def names(self, at: Keys) -> list[str]:
        """The keys of a map that holds at least one, each of them a name."""
        value = self._members(at)
        if value == {}:
            self.complain(at, "schema.empty", "found nothing; allowed: at least one name")
        for key in value or ():
            self._check_form((*at, key), key, NAME, at_key=True)
        return list(value or ())

    def schema_version(self) -> None:
        value = self._value(("schema_version",))
        if value is not _ABSENT and (isinstance(value, bool) or value != SCHEMA_VERSION):
            message = f"found {shown(value)}; allowed: {SCHEMA_VERSION}"
            self.complain(("schema_version",), "schema.version", message)

    def text(self, at: Keys, form: Form) -> str:
        value = self._value(at)
        if isinstance(value, str):
            self._check_form(at, value, form)
            return value
        return self._wrong_type(at, "a text", "")

    def choice(self, at: Keys, choices: type[E], among: Collection[E] = ()) -> E:
        """One of `choices`, or of those that are `among`, if there are any."""
        value = self._value(at)
        allowed = among or list(choices)
        if isinstance(value, str) and value not in allowed:
            self.complain(at, "schema.unknown_value", one_of(value, allowed))
        elif isinstance(value, str):
            return choices(value)
        else:
            names = ", ".join(allowed)
            self._wrong_type(at, names, None)
        return next(iter(choices))

    def each(self, at: Keys, read: Callable[[Keys], T]) -> frozenset[T]:
        """The items of a list, in which each stands once, as `read` takes them from their keys."""
        value = self._value(at)
        if not isinstance(value, list):
            return self._wrong_type(at, "a list", frozenset())
        items = [read((*at, index)) for index in range(len(value))]
        for index, item in enumerate(value):
            if item in value[:index]:
                message = f"found {shown(item)} again; allowed: each item once"
                self.complain((*at, index), "schema.repeated", message)
        return frozenset(items)

    def _value(self, at: Keys) -> Any:
        value: Any = self._document.value
        for key in at:
            if isinstance(value, dict):
                value = value.get(key, _ABSENT)
            elif isinstance(value, list) and isinstance(key, int):
                value = value[key]
            else:
                return _ABSENT
        return value

    def _members(self, at: Keys) -> dict[str, Any] | None:
        value = self._value(at)
        return value if isinstance(value, dict) else self._wrong_type(at, "a map", None)

    def _wrong_type(self, at: Keys, allowed: str, stand_in: T) -> T:
        """Complains, unless the value is not there at all: then its map was complained about."""
        value = self._value(at)
        if value is not _ABSENT:
            self.complain(at, "schema.type", f"found {shown(value)}; allowed: {allowed}")
        return stand_in

    def _check_form(self, at: Keys, text: str, form: Form, *, at_key: bool = False) -> None:
        if len(text) > LONGEST_TEXT or not form.pattern.fullmatch(text):
            message = f"found {shown(text)}; allowed: {form.allowed}"
            self.complain(at, "schema.form", message, at_key=at_key)


def one_of(name: str, known: Iterable[str]) -> str:
    """`found name; allowed: ...`, with the nearest known name."""
    ordered = [str(one) for one in known]
    near = difflib.get_close_matches(name, ordered, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"found {shown(name)}; allowed: {', '.join(ordered)}{hint}"


def shown(value: object) -> str:
    """A value on one line: texts quoted and cut, maps and lists by their kind."""
    if isinstance(value, str):
        return repr(str(value[:_SHOWN_CHARACTERS])) + (
            "..." if len(value) > _SHOWN_CHARACTERS else ""
        )
    if isinstance(value, dict | list):
        return "a map" if isinstance(value, dict) else "a list"
    return str(value).lower()
