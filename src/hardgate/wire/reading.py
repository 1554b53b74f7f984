"""Reading values out of a request whose shape nobody vouches for."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hardgate.documents.wording import choices, did_you_mean, quoted
from hardgate.wire.json_body import type_name

_MOST_NOTES = 20
_LONGEST_PATH = 200


class Notes:
    """What is remarkable about one request.

    `malformed` is what the provider would refuse, `unsupported` what it would take and a script
    cannot play; both are sentences. `unknown` are the paths of undocumented fields, such as
    `messages[].mood`.
    """

    def __init__(self) -> None:
        self.malformed: list[str] = []
        self.unsupported: list[str] = []
        self._unknown: set[str] = set()

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(sorted(self._unknown))

    def wrong(self, path: str, expected: str, value: Any) -> None:
        """Note that the field at `path` is not of the type that was expected."""
        self.refuse(f"{path}: expected {expected}, received {type_name(value)}")

    def refuse(self, sentence: str) -> None:
        """Note what the provider would refuse."""
        if len(self.malformed) < _MOST_NOTES:
            self.malformed.append(sentence)

    def cannot_play(self, sentence: str) -> None:
        """Note what a script cannot play."""
        if len(self.unsupported) < _MOST_NOTES:
            self.unsupported.append(sentence)

    def unknown_field(self, path: str) -> None:
        """Note a field that the provider does not document."""
        if len(self._unknown) < _MOST_NOTES:
            self._unknown.add(path[:_LONGEST_PATH])


class Fields:
    """The fields of one JSON object of a request. A null counts as absent.

    `path` says where the object stands, as `messages[2].content`; the empty path is the request.
    """

    def __init__(
        self, value: Mapping[str, Any], path: str, notes: Notes, known: Collection[str]
    ) -> None:
        self._value = value
        self.path = path
        self.notes = notes
        for name in value:
            if name not in known:
                notes.unknown_field(_without_numbers(self.at(name)))

    def at(self, key: str) -> str:
        """The path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def raw(self, key: str) -> Any:
        """The value as it was sent, None where it is absent."""
        return self._value.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; without a default it has to be there, and the empty text stands for it."""
        value = self._value.get(key)
        if isinstance(value, str):
            return value
        if value is None and default is not None:
            return default
        self.notes.wrong(self.at(key), "a text", value)
        return default or ""

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._value.get(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.notes.wrong(self.at(key), "true or false", value)
        return default

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        """One of some texts; the empty text where it is none of them."""
        value = self.text(key, default)
        if value in allowed:
            return value
        if isinstance(self._value.get(key), str):
            self.notes.refuse(
                f"{self.at(key)}: received {quoted(value)}; allowed: {choices(sorted(allowed))}"
                f"{did_you_mean(value[:_LONGEST_PATH], allowed)}"
            )
        return ""

    def count(self, key: str, minimum: int, *, required: bool = False) -> int | None:
        """A whole number of at least `minimum`."""
        value = self._value.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            if value < minimum:
                self.notes.refuse(f"{self.at(key)}: expected at least {minimum}, received less")
            return value
        if value is not None or required:
            self.notes.wrong(self.at(key), "a whole number", value)
        return None

    def entries(self, key: str, *, required: bool = False) -> list[tuple[Any, str]]:
        """The items of a list, each with its path; no item where the field is absent."""
        value = self._value.get(key)
        if isinstance(value, list):
            if required and not value:
                self.notes.refuse(f"{self.at(key)}: expected at least one item, received none")
            return [(item, f"{self.at(key)}[{index}]") for index, item in enumerate(value)]
        if value is not None or required:
            self.notes.wrong(self.at(key), "a list", value)
        return []

    def objects(
        self, key: str, known: Collection[str], *, required: bool = False
    ) -> Iterator["Fields"]:
        """The items of a list of objects."""
        for item, path in self.entries(key, required=required):
            if isinstance(item, dict):
                yield Fields(item, path, self.notes, known)
            else:
                self.notes.wrong(path, "an object", item)

    def inside(
        self, key: str, known: Collection[str], *, required: bool = False
    ) -> "Fields | None":
        """The object that a field holds."""
        value = self._value.get(key)
        if isinstance(value, dict):
            return Fields(value, self.at(key), self.notes, known)
        if value is not None or required:
            self.notes.wrong(self.at(key), "an object", value)
        return None

    def free_map(self, key: str, *, required: bool = False) -> None:
        """An object of any fields, such as a JSON Schema: only that it is one is checked."""
        value = self._value.get(key)
        if not isinstance(value, dict) and (value is not None or required):
            self.notes.wrong(self.at(key), "an object", value)

    def texts(self, key: str) -> tuple[str, ...]:
        """The items of a list of texts."""
        found: list[str] = []
        for item, path in self.entries(key):
            if isinstance(item, str):
                found.append(item)
            else:
                self.notes.wrong(path, "a text", item)
        return tuple(found)


def _without_numbers(path: str) -> str:
    """`messages[12].mood` as `messages[].mood`."""
    return re.sub(r"\[\d+\]", "[]", path)
