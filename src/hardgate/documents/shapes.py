"""Closed schemas for files that are read on the hot path, without pydantic.

A case runs in a process of its own, and importing pydantic and building its models would cost more
than everything else that process does. So cases and model scripts are `Entry` classes whose keys
carry a *shape*: what a value may be. `read` turns a loaded document into an instance and gathers
every complaint at its line, in the words and with the rule names of `validation`. `json_schema`
makes the schema for editors from the same keys.

    class Input(Entry):
        text: str = key(Text(minimum=1, maximum=100), "The user's message.")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, dataclass_transform

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.strict_yaml import Document, Keys
from hardgate.documents.wording import choices, did_you_mean, quoted, shown

# The default of a key that has to be there.
REQUIRED: Any = object()


class Refused(Exception):
    """A value that a shape does not allow: a stable rule name and `found ...; allowed: ...`."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class Place:
    """Where a value stands in its document, and the problems found so far."""

    __slots__ = ("document", "keys", "problems")

    def __init__(self, document: Document, keys: Keys, problems: list[Problem]) -> None:
        self.document = document
        self.keys = keys
        self.problems = problems

    def below(self, key: str | int) -> Place:
        return Place(self.document, (*self.keys, key), self.problems)

    def complain(self, rule: str, message: str, *, at_key: bool = False) -> None:
        self.problems.append(self.document.problem(self.keys, rule, message, at_key=at_key))


class Shape(Protocol):
    """What a value may be."""

    def read(self, value: Any, place: Place) -> Any:
        """The value as the program uses it. A refused value adds a complaint and gives None."""

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """The JSON Schema of the value; shapes of whole maps are added to `definitions`."""


class Key:
    """One key of a map: its shape, what it means, and its default, if it may be left out."""

    __slots__ = ("default", "description", "shape")

    def __init__(self, shape: Shape, description: str, default: Any) -> None:
        self.shape = shape
        self.description = description
        self.default = default


def key(shape: Shape, description: str, *, default: Any = REQUIRED) -> Any:
    """A key of an Entry; without `default` it is required."""
    return Key(shape, description, default)


@dataclass_transform(
    eq_default=True, kw_only_default=True, frozen_default=True, field_specifiers=(key,)
)
class Entry:
    """A map with known keys, each declared as `name: type = key(...)`; instances do not change.

    Not a dataclass: making one costs a process a millisecond, and the case schema has fourteen.
    """

    keys: ClassVar[Mapping[str, Key]] = {}

    def __init_subclass__(cls) -> None:
        declared = {name: value for name, value in vars(cls).items() if isinstance(value, Key)}
        for name in declared:
            delattr(cls, name)
        cls.keys = declared

    def __init__(self, **values: Any) -> None:
        """Raises TypeError for a name that is no key and for a required key without a value."""
        for name, one in self.keys.items():
            value = values.pop(name, one.default)
            if value is REQUIRED:
                raise TypeError(f"{type(self).__name__} needs {name}")
            self.__dict__[name] = value
        if values:
            raise TypeError(f"{type(self).__name__} has no key {', '.join(values)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # equal by value, and values may be maps

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({values})"


E = TypeVar("E", bound=Entry)


def read(document: Document, model: type[E]) -> E:
    """All of the document as an instance of `model`. Raises DefinitionError with every problem."""
    problems: list[Problem] = []
    value: E = Part(model).read(document.value, Place(document, (), problems))
    if problems:
        raise DefinitionError(problems)
    return value


def _wrong_type(value: Any, allowed: str, place: Place) -> None:
    place.complain("schema.type", f"found {shown(value)}; allowed: {allowed}")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Text:
    """A text of `minimum` to `maximum` characters that passes `check`, if there is one.

    `check` raises Refused. `pattern` is what the check amounts to, for the JSON Schema.
    """

    def __init__(
        self,
        *,
        minimum: int = 0,
        maximum: int,
        check: Callable[[str], object] | None = None,
        pattern: str | None = None,
    ) -> None:
        self.minimum = minimum
        self.maximum = maximum
        self.check = check
        self.pattern = pattern

    def read(self, value: Any, place: Place) -> str | None:
        if not isinstance(value, str):
            _wrong_type(value, "a text", place)
            return None
        if not self.minimum <= len(value) <= self.maximum:
            found = "an empty text" if not value else f"a text of {len(value)} characters"
            bound = f"at least {_counted(self.minimum, 'character')}"
            if len(value) > self.maximum:
                bound = f"at most {_counted(self.maximum, 'character')}"
            place.complain("schema.length", f"found {found}; allowed: {bound}")
            return None
        if self.check is not None:
            try:
                self.check(value)
            except Refused as refused:
                place.complain(refused.rule, str(refused))
                return None
        return value

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "maxLength": self.maximum}
        if self.minimum:
            schema["minLength"] = self.minimum
        if self.pattern:
            schema["pattern"] = self.pattern
        return schema


def matching(pattern: str, rule: str, allowed: str) -> Callable[[str], None]:
    """A check that a whole text matches `pattern`, which reads `^...$`."""

    def check(text: str) -> None:
        if re.fullmatch(pattern[1:-1], text, re.ASCII):
            return
        remark = ""
        if not text.isascii():
            from hardgate.documents.confusable import first_not_ascii

            remark = f" ({first_not_ascii(text)})"
        raise Refused(rule, f"found {quoted(text)}{remark}; allowed: {allowed}")

    return check


class Number:
    """A finite number from `minimum` to `maximum`; `whole` allows integers only."""

    def __init__(self, *, minimum: float, maximum: float, whole: bool = False) -> None:
        self.minimum = minimum
        self.maximum = maximum
        self.whole = whole

    def read(self, value: Any, place: Place) -> int | float | None:
        if not _is_number(value) or (self.whole and not isinstance(value, int)):
            _wrong_type(value, "a whole number" if self.whole else "a number", place)
            return None
        if not self.minimum <= value <= self.maximum:
            bound = f"at least {self.minimum}"
            if value > self.maximum:
                bound = f"at most {self.maximum}"
            place.complain("schema.range", f"found {shown(value)}; allowed: {bound}")
            return None
        number: int | float = value
        return number

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        kind = "integer" if self.whole else "number"
        return {"type": kind, "minimum": self.minimum, "maximum": self.maximum}


class Choice:
    """One of some texts."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, value: Any, place: Place) -> str | None:
        if isinstance(value, str) and value in self.names:
            return value
        hint = did_you_mean(value, self.names) if isinstance(value, str) else ""
        message = f"found {shown(value)}; allowed: {choices(self.names)}{hint}"
        place.complain("schema.value", message)
        return None

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"enum": list(self.names)}


class OnlyTrue:
    """`true`. Where false would mean the same as no key, it is refused: it would mislead."""

    def read(self, value: Any, place: Place) -> bool | None:
        if value is True:
            return True
        place.complain("schema.value", f"found {shown(value)}; allowed: true, or no such key")
        return None

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"const": True}


class Many:
    """A list of `minimum` to `maximum` items of one shape; read as a tuple."""

    def __init__(self, item: Shape, *, minimum: int = 0, maximum: int) -> None:
        self.item = item
        self.minimum = minimum
        self.maximum = maximum

    def read(self, value: Any, place: Place) -> tuple[Any, ...] | None:
        if not isinstance(value, list):
            _wrong_type(value, "a list", place)
            return None
        if not self.minimum <= len(value) <= self.maximum:
            bound = f"at least {_counted(self.minimum, 'item')}"
            if len(value) > self.maximum:
                bound = f"at most {_counted(self.maximum, 'item')}"
            found = shown(value) if not value else f"a list of {_counted(len(value), 'item')}"
            place.complain("schema.length", f"found {found}; allowed: {bound}")
            return None
        return tuple(self.item.read(item, place.below(index)) for index, item in enumerate(value))

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.item.schema(definitions)}
        return {**schema, "minItems": self.minimum, "maxItems": self.maximum}


class AnyMap:
    """A map of at least `minimum` keys with any values in it."""

    def __init__(self, *, minimum: int = 0) -> None:
        self.minimum = minimum

    def read(self, value: Any, place: Place) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            _wrong_type(value, "a map", place)
            return None
        if len(value) < self.minimum:
            bound = f"at least {_counted(self.minimum, 'key')}"
            place.complain("schema.length", f"found {shown(value)}; allowed: {bound}")
            return None
        return value

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "minProperties": self.minimum}


class TextOrMap:
    """Either of two shapes, told apart by the value's type."""

    def __init__(self, text: Text, mapping: AnyMap) -> None:
        self.text = text
        self.mapping = mapping

    def read(self, value: Any, place: Place) -> Any:
        if isinstance(value, str):
            return self.text.read(value, place)
        if isinstance(value, dict):
            return self.mapping.read(value, place)
        _wrong_type(value, "a map or a text", place)
        return None

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [self.mapping.schema(definitions), self.text.schema(definitions)]}


class Part:
    """A closed map, read as an instance of an Entry."""

    def __init__(self, model: type[Entry]) -> None:
        self.model = model

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            _wrong_type(value, "a map", place)
            return None
        before = len(place.problems)
        _complain_of_unknown_keys(value, tuple(self.model.keys), place)
        values: dict[str, Any] = {}
        for name, one in self.model.keys.items():
            if name in value:
                values[name] = one.shape.read(value[name], place.below(name))
            elif one.default is REQUIRED:
                message = f"found no key {quoted(name)}; allowed: a map that has it"
                place.complain("schema.missing_key", message)
        return self.model(**values) if len(place.problems) == before else None

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        name = self.model.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _map_schema(self.model, definitions)
        return {"$ref": f"#/$defs/{name}"}


class Tagged:
    """A closed map of one of several kinds; the key `tag` says which."""

    def __init__(self, tag: str, models: Mapping[str, type[Entry]]) -> None:
        self.tag = tag
        self.parts = {name: Part(model) for name, model in models.items()}

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            _wrong_type(value, "a map", place)
            return None
        if self.tag not in value:
            message = f"found no key {quoted(self.tag)}; allowed: a map that has it"
            place.complain("schema.missing_key", message)
            return None
        kind = Choice(*self.parts).read(value[self.tag], place.below(self.tag))
        return None if kind is None else self.parts[kind].read(value, place)

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        return {"oneOf": [part.schema(definitions) for part in self.parts.values()]}


def _complain_of_unknown_keys(value: Mapping[str, Any], known: Sequence[str], place: Place) -> None:
    for name in value:
        if name in known:
            continue
        remark = ""
        if not name.isascii():
            from hardgate.documents.confusable import first_not_ascii

            remark = f" ({first_not_ascii(name)})"
        message = (
            f"found the unknown key {quoted(name)}{remark}; "
            f"allowed: {choices(sorted(known))}{did_you_mean(name, known)}"
        )
        place.below(name).complain("schema.unknown_key", message, at_key=True)


def _map_schema(model: type[Entry], definitions: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, one in model.keys.items():
        schema = one.shape.schema(definitions)
        properties[name] = {**schema, "description": one.description}
        if one.default is REQUIRED:
            required.append(name)
        elif isinstance(one.default, (str, int, float)):
            properties[name]["default"] = one.default
    return {
        "type": "object",
        "description": (model.__doc__ or "").strip().splitlines()[0],
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def json_schema(model: type[Entry]) -> dict[str, Any]:
    """The JSON Schema of what `read` accepts as `model`."""
    definitions: dict[str, Any] = {}
    return {**_map_schema(model, definitions), "$defs": definitions}
