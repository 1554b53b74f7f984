"""Characters that look like another one, so that two names a reader cannot tell apart are found.

Comparison goes over a *skeleton*: compatibility normalization (NFKC) first, then the Cyrillic and
Greek letters whose usual glyph is that of a Latin letter are replaced by that letter, and marks
that print nothing are dropped. It is a small, fixed part of what Unicode TS 39 describes, chosen
because names of this project are ASCII: anything it does not know is still refused as not ASCII.
"""

from __future__ import annotations

import unicodedata

_LOOKS_LIKE = {
    **str.maketrans("асԁеһіјӏорԛѕѵԝху", "acdehijlopqsvwxy"),  # Cyrillic
    **str.maketrans("АВЕНІЈКМОРЅТХУ", "ABEHIJKMOPSTXY"),
    **str.maketrans("αικνορτυχ", "aikvoptux"),  # Greek
    **str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    **str.maketrans("ıɡʟոօս", "iglnou"),  # Latin extensions and Armenian
    **str.maketrans("‐‑−", "---"),
}
_INVISIBLE = "Cf"


def skeleton(text: str) -> str:
    """The text as a reader sees it; two texts with equal skeletons cannot be told apart."""
    if text.isascii():
        return text
    visible = (character for character in text if unicodedata.category(character) != _INVISIBLE)
    return unicodedata.normalize("NFKC", "".join(visible)).translate(_LOOKS_LIKE)


def first_not_ascii(text: str) -> str | None:
    """Says which character of `text` is the first outside ASCII and what it looks like.

    Returns None for an ASCII text; else e.g. `character 3 is U+0430 CYRILLIC SMALL LETTER A,
    which looks like 'a'`. Positions count from 1.
    """
    for index, character in enumerate(text, start=1):
        if character.isascii():
            continue
        name = unicodedata.name(character, "unnamed")
        likeness = skeleton(character)
        if not likeness:
            remark = ", which prints nothing"
        elif likeness.isascii():
            remark = f", which looks like '{likeness}'"
        else:
            remark = ""
        return f"character {index} is U+{ord(character):04X} {name}{remark}"
    return None
