"""The one YAML loader of the project: a small, unambiguous part of YAML, with positions.

What is accepted is what reads the same for a person, for YAML 1.1 and for YAML 1.2: maps with
text keys, lists, quoted and block texts, `true`, `false`, `null` (or `~`), decimal integers and
decimal fractions. Everything else that is plain stays text (`yes`, `0o17`, `12:30`, a date).
Anchors, aliases, tags, merge keys, directives, tabs, duplicate or look-alike keys and keys without
a value are refused, and so is a file beyond the limits. All problems found are raised together.

Imports the standard library and PyYAML only and runs on Python 3.9, because the rule that
generates the Bazel targets loads it with the machine's own interpreter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, Union

import yaml

from hardgate.documents.confusable import first_not_ascii, skeleton
from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.raw_text import decode
from hardgate.documents.wording import quoted

# How to reach a value from the top: map keys and list indexes. (Python 3.9 has no `str | int`.)
Keys = tuple[Union[str, int], ...]  # noqa: UP007
Position = tuple[int, int]  # line and column, both counted from 1, columns in characters


class Limits(NamedTuple):
    """What one file may hold; beyond any of these it is refused."""

    file_bytes: int = 1024 * 1024
    scalar_characters: int = 64 * 1024
    depth: int = 32
    nodes: int = 50_000
    integer_digits: int = 300


LIMITS = Limits()


class Document(NamedTuple):
    """A loaded file: plain Python values, and where in the file each of them stands."""

    path: str
    value: Any
    positions: Mapping[Keys, Position]
    key_positions: Mapping[Keys, Position]

    def position(self, keys: Keys = ()) -> Position:
        """Where the value under `keys` starts, or the nearest value around it that exists."""
        while keys and keys not in self.positions:
            keys = keys[:-1]
        return self.positions[keys]

    def key_position(self, keys: Keys) -> Position:
        """Where the last key of `keys` stands; as `position` when it is no key of a map."""
        return self.key_positions.get(keys) or self.position(keys)

    def problem(self, keys: Keys, rule: str, message: str, *, at_key: bool = False) -> Problem:
        """A Problem at the value under `keys`, or at its key."""
        line, column = self.key_position(keys) if at_key else self.position(keys)
        return Problem(self.path, line, column, rule, message)


def load(path: str, data: bytes, limits: Limits = LIMITS) -> Document:
    """Parses the bytes of the file `path` (used in messages only; nothing is opened).

    Raises DefinitionError with every problem that can be found. A problem of the bytes, a syntax
    error or a limit ends the search, since nothing after it can be trusted.
    """
    reader = _Reader(path, limits)
    if len(data) > limits.file_bytes:
        message = f"found a file of {len(data)} bytes; allowed: at most {limits.file_bytes}"
        raise DefinitionError([Problem(path, 1, 1, "yaml.file_too_large", message)])
    text = decode(path, data)
    try:
        reader.read(text)
    except _Stop:
        pass
    except yaml.YAMLError as error:
        reader.problems.append(_syntax_problem(path, error))
    if reader.problems:
        raise DefinitionError(reader.problems)
    return Document(path, reader.value, reader.positions, reader.key_positions)


class _Stop(Exception):
    """Ends the reading after a problem that makes the rest meaningless."""


class _Frame:
    """One map or list that is being filled."""

    __slots__ = ("container", "discard", "is_map", "key", "keys", "skeletons")

    def __init__(self, container: Any, keys: Keys, is_map: bool) -> None:
        self.container = container
        self.keys = keys
        self.is_map = is_map
        self.key: str | None = None  # the key whose value comes next
        self.discard = False  # the value belongs to a key that was refused
        self.skeletons: dict[str, str] = {}


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS = {"true": True, "false": False, "null": None, "~": None}
_NUMBER_START = frozenset("-.0123456789INn")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"-?(?:\.(?:inf|Inf|INF|nan|NaN|NAN)|NaN|nan|Infinity)")


class _Reader:
    """Turns the parser's events into values and positions and gathers problems."""

    def __init__(self, path: str, limits: Limits) -> None:
        self.path = path
        self.limits = limits
        self.problems: list[Problem] = []
        self.positions: dict[Keys, Position] = {}
        self.key_positions: dict[Keys, Position] = {}
        self.value: Any = None
        self.stack: list[_Frame] = []
        self.nodes = 0
        self.documents = 0

    def read(self, text: str) -> None:
        """Reads one document; raises _Stop or yaml.YAMLError where reading cannot go on."""
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.ScalarEvent):
                frame = self.stack[-1] if self.stack else None
                if frame is not None and frame.is_map and frame.key is None:
                    self.take_key(frame, event)
                else:
                    self.put(event, self.scalar(event))
            elif isinstance(event, yaml.CollectionStartEvent):
                self.open(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self.stack.pop()
            elif isinstance(event, yaml.AliasEvent):
                self.alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                self.start_document(event)
        if self.documents == 0:
            what = "only comments or blank lines" if text.strip() else "an empty file"
            problem = Problem(self.path, 1, 1, "yaml.empty_file", f"found {what}; allowed: a value")
            self.problems.append(problem)

    def report(self, event: yaml.Event, rule: str, message: str) -> None:
        """Records a problem at the start of an event."""
        mark = event.start_mark
        self.problems.append(Problem(self.path, mark.line + 1, mark.column + 1, rule, message))

    def stop(self, event: yaml.Event, rule: str, message: str) -> NoReturn:
        """Records a problem after which nothing more can be read."""
        self.report(event, rule, message)
        raise _Stop

    def start_document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            message = "found a second document after '---'; allowed: one document in a file"
            self.stop(event, "yaml.second_document", message)
        if event.version or event.tags:
            message = "found a directive (a line that starts with '%'); allowed: none"
            self.report(event, "yaml.directive", message)

    def node(self, event: yaml.NodeEvent) -> None:
        """What holds for each value and key: no anchor, no tag, not too many of them."""
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            message = f"found more than {self.limits.nodes} keys and values; allowed: at most that"
            self.stop(event, "yaml.too_many_nodes", message)
        if event.anchor is not None:
            message = f"found the anchor '&{event.anchor}'; allowed: the value itself, written out"
            self.report(event, "yaml.anchor", message)
        if event.tag is not None:
            message = f"found the tag {quoted(event.tag)}; allowed: values without a tag"
            self.report(event, "yaml.tag", message)

    def open(self, event: yaml.CollectionStartEvent) -> None:
        """Starts a map or a list."""
        self.node(event)
        parent = self.stack[-1] if self.stack else None
        if parent is not None and parent.is_map and parent.key is None:
            self.stop(event, "yaml.key_type", "found a map or a list as a key; allowed: a text")
        if len(self.stack) >= self.limits.depth:
            message = f"found maps and lists nested deeper than {self.limits.depth}"
            self.stop(event, "yaml.too_deep", f"{message}; allowed: at most that")
        is_map = isinstance(event, yaml.MappingStartEvent)
        container: Any = {} if is_map else []
        keys = self.put(event, container)
        self.stack.append(_Frame(container, keys, is_map))

    def alias(self, event: yaml.AliasEvent) -> None:
        message = f"found the alias '*{event.anchor}'; allowed: the value itself, written out"
        self.report(event, "yaml.alias", message)
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.is_map and frame.key is None:
            frame.key, frame.discard = f"*{event.anchor}", True
        else:
            self.put(event, None)

    def put(self, event: yaml.Event, value: Any) -> Keys:
        """Stores a value where it belongs and returns the keys that lead to it."""
        mark = event.start_mark
        position = (mark.line + 1, mark.column + 1)
        if not self.stack:
            self.value = value
            self.positions[()] = position
            return ()
        frame = self.stack[-1]
        if frame.is_map:
            key = frame.key
            assert key is not None, "the parser gives a key before each value"
            keys = (*frame.keys, key)
            frame.key = None
            if frame.discard:
                frame.discard = False
                return keys
            frame.container[key] = value
        else:
            keys = (*frame.keys, len(frame.container))
            frame.container.append(value)
        self.positions[keys] = position
        return keys

    def take_key(self, frame: _Frame, event: yaml.ScalarEvent) -> None:
        """Reads a key of a map and refuses one that is no text, or not unique in its map."""
        self.node(event)
        key = event.value
        frame.key = key
        if event.implicit[0]:
            self.check_plain_key(key, event)
        likeness = key if key.isascii() else skeleton(key)
        first = frame.skeletons.setdefault(likeness, key)
        if key in frame.container:
            line, column = self.key_positions[(*frame.keys, key)]
            message = f"found the key {quoted(key)} again (first at {line}:{column})"
            self.report(event, "yaml.duplicate_key", f"{message}; allowed: each key once")
            frame.discard = True
            return
        if first != key:
            which = first_not_ascii(key) or first_not_ascii(first)
            message = f"found the key {quoted(key)}, which reads like {quoted(first)} ({which})"
            self.report(event, "yaml.confusable_key", f"{message}; allowed: each key once")
        mark = event.start_mark
        self.key_positions[(*frame.keys, key)] = (mark.line + 1, mark.column + 1)

    def check_plain_key(self, key: str, event: yaml.ScalarEvent) -> None:
        """Records why an unquoted key is not a text, if it is none."""
        if key == "<<":
            message = "found the merge key '<<'; allowed: the keys themselves, written out"
            self.report(event, "yaml.merge_key", message)
        elif key == "":
            self.report(event, "yaml.key_type", "found an empty key; allowed: a text")
        elif not isinstance(self.plain(key, event), str):
            message = f"found the key {key}, which is not a text"
            self.report(event, "yaml.key_type", f"{message}; allowed: a text, '{key}' in quotes")

    def scalar(self, event: yaml.ScalarEvent) -> Any:
        """The value of a scalar that is not a key."""
        self.node(event)
        text = event.value
        if len(text) > self.limits.scalar_characters:
            message = f"found a text of {len(text)} characters"
            allowed = f"allowed: at most {self.limits.scalar_characters}"
            self.report(event, "yaml.scalar_too_long", f"{message}; {allowed}")
            return None
        if not event.implicit[0] or event.tag is not None:
            return text
        if text == "":
            message = "found a key or list item without a value; allowed: a value, or no key"
            self.report(event, "yaml.empty_value", message)
            return None
        return self.plain(text, event)

    def plain(self, text: str, event: yaml.ScalarEvent) -> Any:
        """What an unquoted, non-empty scalar stands for."""
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text[0] not in _NUMBER_START:
            return text
        if _INTEGER.fullmatch(text):
            if len(text) <= self.limits.integer_digits:
                return int(text)
            message = f"found a number of {len(text)} digits"
            allowed = f"allowed: at most {self.limits.integer_digits}, or a text in quotes"
            self.report(event, "yaml.number_too_large", f"{message}; {allowed}")
            return None
        if _FRACTION.fullmatch(text):
            number = float(text)
            if math.isfinite(number):
                return number
        elif not _NOT_FINITE.fullmatch(text):
            return text
        message = f"found {quoted(text)}, which is no finite number"
        allowed = "allowed: a finite number, or a text in quotes"
        self.report(event, "yaml.not_finite", f"{message}; {allowed}")
        return None


_REMEDIES = (
    ("mapping values are not allowed", "keys of one map aligned, a text that holds ': ' in quotes"),
    ("cannot start any token", "a text that starts with this character in quotes"),
    ("could not find expected ':'", "'key: value' on each line of a map"),
    ("unexpected end of stream", "a quote that is closed"),
    ("did not find expected key", "keys of one map aligned, quotes closed"),
    ("expected <block end>", "keys of one map aligned, quotes closed"),
    ("'-' indicator", "items of one list aligned, each after '- '"),
    ("block sequence entries are not allowed", "a list that starts on its own line"),
    ("',' or '}'", "a closing '}', and a comma between the keys"),
    ("',' or ']'", "a closing ']', and a comma between the items"),
)


def _syntax_problem(path: str, error: yaml.YAMLError) -> Problem:
    """The parser's own complaint as a Problem, with the usual remedy."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    parts = (getattr(error, "context", None), getattr(error, "problem", None) or str(error))
    said = " ".join(" ".join(str(part).split()) for part in parts if part)
    remedy = next((allowed for words, allowed in _REMEDIES if words in said), "well-formed YAML")
    message = f"found what is not YAML ({said}); allowed: {remedy}"
    return Problem(path, line, column, "yaml.syntax", message)
