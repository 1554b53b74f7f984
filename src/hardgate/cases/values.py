"""The value types of a case file; each refusal says what was found and what is allowed."""

from datetime import datetime

from hardgate.documents.shapes import Refused, Text, matching
from hardgate.documents.wording import quoted

NAME_PATTERN = "^[a-z][a-z0-9_]*$"
DOTTED_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$"
IDENTITY_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
INSTANT_PATTERN = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"

LONGEST_NAME = 100

_is_instant = matching(
    INSTANT_PATTERN,
    "case.instant",
    "a date and time with its offset, such as 2026-01-01T00:00:00Z",
)


def instant(text: str) -> datetime:
    """The aware instant that a text of the shape INSTANT stands for."""
    return datetime.fromisoformat(text)


def _check_instant(text: str) -> None:
    _is_instant(text)
    try:
        instant(text)
    except ValueError as error:
        message = f"found {quoted(text)}: {error}; allowed: an instant that exists"
        raise Refused("case.instant", message) from None


def _named(pattern: str, rule: str, allowed: str) -> Text:
    check = matching(pattern, rule, allowed)
    return Text(minimum=1, maximum=LONGEST_NAME, check=check, pattern=pattern)


NAME = _named(NAME_PATTERN, "case.name", "a name such as calculator_tool (a-z, 0-9 and _)")
TAG = _named(NAME_PATTERN, "case.tag", "a word such as smoke (a-z, 0-9 and _)")
STEM = _named(
    NAME_PATTERN, "case.fixture_stem", "the name of a file, without folder and .yaml (a-z, 0-9, _)"
)
DOTTED_NAME = _named(
    DOTTED_PATTERN, "case.dotted_name", "a dotted name such as math.calculate or run.completed"
)
IDENTITY = _named(IDENTITY_PATTERN, "case.identity", "a name such as eval.standard")
INSTANT = Text(minimum=1, maximum=LONGEST_NAME, check=_check_instant, pattern=INSTANT_PATTERN)
