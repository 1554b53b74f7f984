"""A YAML file as plain values with their places; whatever has two readings is refused.

The values are maps with text keys, lists, texts, whole numbers and the two booleans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, TypeAlias

import yaml

from agent_core.domain.deployment import ConfigurationProblem, ConfigurationRefused

Keys: TypeAlias = tuple[str | int, ...]

MAXIMUM_BYTES = 64 * 1024
MAXIMUM_DEPTH = 8

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_BOOLEANS = {"true": True, "false": False}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# With the line ends that not every editor takes for one.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\r(?!\n)")


class Document(NamedTuple):
    """A file's value. `places` and `key_places`: line and column of each value and each key."""

    path: str
    value: Any
    places: dict[Keys, tuple[int, int]]
    key_places: dict[Keys, tuple[int, int]]

    def problem(
        self, keys: Keys, rule: str, message: str, *, at_key: bool = False
    ) -> ConfigurationProblem:
        """A problem at the value that `keys` lead to, or at its key."""
        line, column = self.key_places[keys] if at_key else self.places[keys]
        return ConfigurationProblem(self.path, line, column, rule, message)


def read_document(path: str, data: bytes) -> Document:
    """The document that `data` is. Raises `ConfigurationRefused` with every problem found.

    Refused are anchors, aliases, tags, directives, merge keys, doubled and empty keys, keys that
    are no texts, keys without a value, a second document, text that is not UTF-8, a byte order
    mark, control characters, and whatever is larger or deeper than the limits.
    """
    reader = _Reader(path)
    value = None
    try:
        value = reader.document(yaml.parse(reader.decode(data), Loader=_LOADER))
    except _Stop:
        pass
    except yaml.YAMLError as error:
        reader.report_syntax(error)
    if reader.problems:
        raise ConfigurationRefused(reader.problems)
    return Document(path, value, reader.places, reader.key_places)


class _Stop(Exception):
    """Reading ends at a problem that is reported already."""


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[ConfigurationProblem] = []
        self.places: dict[Keys, tuple[int, int]] = {}
        self.key_places: dict[Keys, tuple[int, int]] = {}

    def decode(self, data: bytes) -> str:
        """The text of the file, unless it is none that can be read."""
        if len(data) > MAXIMUM_BYTES:
            self._stop(1, 1, "file_too_large", f"found more than {MAXIMUM_BYTES} bytes")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = _place(data[: error.start].decode("utf-8"))
            self._stop(*place, "not_utf8", "found bytes that are not UTF-8")
        if control := _CONTROL.search(text):
            place = _place(text[: control.start()])
            message = f"found the character U+{ord(control[0]):04X}; allowed: text"
            self._stop(*place, "control_character", message)
        return text

    def document(self, events: Iterator[Any]) -> Any:
        next(events)  # the start of the stream
        start = next(events)
        if isinstance(start, yaml.StreamEndEvent):
            self._add(1, 1, "empty_file", "found nothing; allowed: a map")
            return None
        if start.version or start.tags:
            self._report(start, "directive", "found a directive (a line with %); allowed: none")
        value = self._value(events, next(events), ())
        next(events)  # the end of the document
        following = next(events)
        if not isinstance(following, yaml.StreamEndEvent):
            self._report(following, "second_document", "found a second document; allowed: one")
        return value

    def _value(self, events: Iterator[Any], event: Any, keys: Keys) -> Any:
        self.places[keys] = _start(event)
        self._check_bare(event)
        if isinstance(event, yaml.AliasEvent):
            return None
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if len(keys) >= MAXIMUM_DEPTH:
            message = f"found maps and lists deeper than {MAXIMUM_DEPTH}; allowed: at most that"
            self._stop(*_start(event), "too_deep", message)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(events, keys)
        return self._map(events, keys)

    def _check_bare(self, event: Any) -> None:
        """Values and keys are written out: no anchor, no alias, no tag."""
        if isinstance(event, yaml.AliasEvent):
            self._report(event, "alias", f"found the alias *{event.anchor}; allowed: the value")
            return
        if event.anchor is not None:
            self._report(event, "anchor", f"found the anchor &{event.anchor}; allowed: the value")
        if event.tag is not None:
            self._report(event, "tag", f"found the tag {event.tag!r}; allowed: values without one")

    def _list(self, events: Iterator[Any], keys: Keys) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._value(events, event, (*keys, len(items))))
        return items

    def _map(self, events: Iterator[Any], keys: Keys) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(event)
            line, column = self.key_places.setdefault((*keys, key), _start(event))
            if key in members:
                message = f"found the key {key!r} again (first at {line}:{column}); allowed: once"
                self._report(event, "duplicate_key", message)
            members[key] = self._value(events, next(events), (*keys, key))
        return members

    def _key(self, event: Any) -> str:
        self._check_bare(event)
        if isinstance(event, yaml.AliasEvent):
            return f"*{event.anchor}"
        if not isinstance(event, yaml.ScalarEvent):
            message = "found a map or a list as a key; allowed: a text"
            self._stop(*_start(event), "key_type", message)
        text: str = event.value
        if event.implicit[0] and text == "<<":
            self._report(event, "merge_key", "found the merge key <<; allowed: the keys themselves")
        elif not isinstance(_meaning(event), str):
            self._report(event, "key_type", f"found the key {text!r}; allowed: a text")
        return text

    def _scalar(self, event: Any) -> str | int | bool | None:
        value = _meaning(event)
        if value is None:
            self._report(event, "no_value", "found a key or an item without a value; allowed: one")
        return value

    def report_syntax(self, error: yaml.YAMLError) -> None:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        said = getattr(error, "problem", None) or "unreadable"
        self._add(line, column, "syntax", f"found what is not YAML ({said})")

    def _report(self, event: Any, rule: str, message: str) -> None:
        self._add(*_start(event), rule, message)

    def _add(self, line: int, column: int, rule: str, message: str) -> None:
        self.problems.append(ConfigurationProblem(self.path, line, column, f"yaml.{rule}", message))

    def _stop(self, line: int, column: int, rule: str, message: str) -> NoReturn:
        self._add(line, column, rule, message)
        raise _Stop


def _meaning(event: Any) -> str | int | bool | None:
    """What a scalar stands for; one in quotes or in a block is a text."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return int(text) if _INTEGER.fullmatch(text) else text


def _start(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _place(before: str) -> tuple[int, int]:
    """Line and column of what follows the text `before`."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
