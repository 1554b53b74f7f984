"""The value types of a case file; each refusal says what was found and what is allowed."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hardgate.documents.texts import DOTTED_PATTERN, NAME_PATTERN, SHA256_PATTERN, matching
from hardgate.documents.validation import refused
from hardgate.documents.wording import quoted

LARGEST_COUNT = 1000
LONGEST_LIST = 100
LONGEST_NAME = 100
LONGEST_TEXT = 10_000
LONGEST_PATH = 240

IDENTITY_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
INSTANT_PATTERN = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"
TOOL_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*([.:/-][A-Za-z0-9_]+)*$"
DURATION_PATTERN = r"^[1-9][0-9]{0,6}(ms|s|m|h|d)$"
TRIGGER_PATTERN = (
    r"^(before_effect|after_effect|approval_requested|user_input_requested"
    r"|pipeline\.([1-9]|1[0-4])\.(before|after)|(?!pipeline\.)[a-z][a-z0-9_]*(\.[a-z0-9_]+)+)$"
)

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}

_is_instant = matching(
    INSTANT_PATTERN,
    "case.instant",
    "a date and time with its offset, such as 2026-01-01T00:00:00Z",
)


def instant(text: str) -> datetime:
    """The aware instant that an Instant stands for."""
    return datetime.fromisoformat(text)


def seconds(duration: str) -> float:
    """How many seconds a Duration is."""
    number, unit = re.fullmatch(r"([0-9]+)([a-z]+)", duration).groups()  # type: ignore[union-attr]
    return int(number) * _SECONDS[unit]


def _exists(text: str) -> str:
    _is_instant(text)
    try:
        instant(text)
    except ValueError as error:
        message = f"found {quoted(text)}: {error}; allowed: an instant that exists"
        raise refused("case.instant", message) from None
    return text


def _inside_workspace(path: str) -> str:
    from hardgate.documents.safe_path import UnsafePath, relative_inside

    try:
        return relative_inside((), path)
    except UnsafePath as error:
        raise refused("case.path", str(error)) from None


def _form(pattern: str) -> Any:
    """What the JSON Schema says of a text of a form."""
    return Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra={"pattern": pattern})


_STEM_ALLOWED = "the name of a file or folder, without folder and .yaml (a-z, 0-9, _)"

Name = Annotated[
    str,
    _form(NAME_PATTERN),
    AfterValidator(
        matching(NAME_PATTERN, "case.name", "a name such as calculator_tool (a-z, 0-9 and _)")
    ),
]
Stem = Annotated[
    str,
    _form(NAME_PATTERN),
    AfterValidator(matching(NAME_PATTERN, "case.fixture_stem", _STEM_ALLOWED)),
]
Tag = Annotated[
    str,
    _form(NAME_PATTERN),
    AfterValidator(matching(NAME_PATTERN, "case.tag", "a word such as smoke (a-z, 0-9 and _)")),
]
DottedName = Annotated[
    str,
    _form(DOTTED_PATTERN),
    AfterValidator(
        matching(
            DOTTED_PATTERN,
            "case.dotted_name",
            "a dotted name such as math.calculate or run.completed",
        )
    ),
]
ToolName = Annotated[
    str,
    _form(TOOL_PATTERN),
    AfterValidator(
        matching(
            TOOL_PATTERN,
            "case.tool_name",
            "a tool's name such as math.calculate, getWeather or read-file",
        )
    ),
]
Identity = Annotated[
    str,
    _form(IDENTITY_PATTERN),
    AfterValidator(matching(IDENTITY_PATTERN, "case.identity", "a name such as eval.standard")),
]
Instant = Annotated[
    str,
    _form(INSTANT_PATTERN),
    AfterValidator(_exists),
]
Duration = Annotated[
    str,
    _form(DURATION_PATTERN),
    AfterValidator(
        matching(
            DURATION_PATTERN,
            "case.duration",
            "a number and its unit ms, s, m, h or d, such as 1s or 250ms",
        )
    ),
]
Trigger = Annotated[
    str,
    _form(TRIGGER_PATTERN),
    AfterValidator(
        matching(
            TRIGGER_PATTERN,
            "case.trigger",
            "an event type, before_effect, after_effect, or pipeline.<step from 1 to 14>.before "
            "or .after",
        )
    ),
]
Sha256 = Annotated[
    str,
    Field(min_length=64, max_length=64, json_schema_extra={"pattern": SHA256_PATTERN}),
    AfterValidator(matching(SHA256_PATTERN, "case.sha256", "64 hexadecimal digits in lower case")),
]
Path = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_PATH),
    AfterValidator(_inside_workspace),
]
# Where false would mean the same as no key, it is refused: it would mislead.
OnlyTrue = Literal[True]
Count = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
CountFromZero = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Texts = Annotated[tuple[Text, ...], Field(min_length=1, max_length=LONGEST_LIST)]
ToolNames = Annotated[tuple[ToolName, ...], Field(min_length=1, max_length=LONGEST_LIST)]
Names = Annotated[tuple[DottedName, ...], Field(min_length=1, max_length=LONGEST_LIST)]
