"""From bytes to text: UTF-8 only, and no character that hides or means two things."""

from __future__ import annotations

import re
import unicodedata

from hardgate.documents.problems import DefinitionError, Problem

_REPORTED_PER_FILE = 20

# Control characters, other line breaks than LF and CR LF, the byte order mark, characters that
# reorder or hide text, and the code points that are no characters.
_FORBIDDEN = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]"
    "|\r(?!\n)"
)


def decode(path: str, data: bytes) -> str:
    """The text of a file; `path` is used in messages only.

    Raises DefinitionError for bytes that are no UTF-8 and for each forbidden character, of which
    the first twenty are named.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode("utf-8"))
        message = f"found the byte 0x{data[error.start]:02X}; allowed: text encoded as UTF-8"
        raise DefinitionError([Problem(path, line, column, "yaml.encoding", message)]) from None
    found = list(_FORBIDDEN.finditer(text))
    if found:
        problems = [
            Problem(path, *_position(text[: match.start()]), *_describe(match))
            for match in found[:_REPORTED_PER_FILE]
        ]
        more = len(found) - len(problems)
        if more:
            line, column = _position(text[: found[_REPORTED_PER_FILE].start()])
            message = f"found {more} more characters of this sort; allowed: none"
            problems.append(Problem(path, line, column, "yaml.character", message))
        raise DefinitionError(problems)
    return text


def _position(before: str) -> tuple[int, int]:
    """Line and column of the character that follows `before`."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _describe(match: re.Match[str]) -> tuple[str, str]:
    """Rule and message for one forbidden character."""
    character = match.group()
    if character == "\t":
        return "yaml.tab", "found a tab; allowed: spaces (inside double quotes, \\t)"
    if character == "\ufeff":
        return "yaml.byte_order_mark", "found a byte order mark; allowed: UTF-8 without one"
    if character == "\r":
        return "yaml.line_break", "found a lone carriage return; allowed: LF or CR LF line ends"
    name = unicodedata.name(character, "control character")
    message = f"found U+{ord(character):04X} ({name}); allowed: an escape inside double quotes"
    return "yaml.character", message
