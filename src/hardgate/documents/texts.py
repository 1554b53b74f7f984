"""Texts of one form: a pattern they match as a whole, and a refusal in words instead of a pattern.

A Python pattern is compiled when the first text is checked: most processes read few kinds of text.
"""

import re
from collections.abc import Callable

from hardgate.documents.validation import refused
from hardgate.documents.wording import quoted

NAME_PATTERN = "^[a-z][a-z0-9_]*$"
DOTTED_PATTERN = r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$"
SHA256_PATTERN = "^[0-9a-f]{64}$"


def matching(pattern: str, rule: str, allowed: str) -> Callable[[str], str]:
    """A check that a whole text matches `pattern`, which reads `^...$` and is for ASCII."""

    def check(text: str) -> str:
        if re.fullmatch(pattern[1:-1], text, re.ASCII):
            return text
        remark = ""
        if not text.isascii():
            from hardgate.documents.confusable import first_not_ascii

            remark = f" ({first_not_ascii(text)})"
        raise refused(rule, f"found {quoted(text)}{remark}; allowed: {allowed}")

    return check
