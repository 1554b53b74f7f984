"""What is disregarded when a final answer is compared with the texts that it has to contain.

A model that writes **391**, `391` or "1,391" instead of 1391 gave the same answer. Both sides of a
comparison go through `normalized`; `final_text_matches` is the strict alternative.
"""

import re
import unicodedata

_EMPHASIS = str.maketrans("", "", "*_`")
_DIGIT_GROUP = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def normalized(text: str) -> str:
    """`text` without case, markdown emphasis (* _ `), digit-group commas and kinds of white space.

    In this order: Unicode NFC; the emphasis characters go; a comma between a digit and exactly
    three digits goes; runs of white space become one space and none is left at the ends; case is
    folded. Idempotent.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    text = _DIGIT_GROUP.sub("", text.translate(_EMPHASIS))
    folded = " ".join(text.split()).casefold()
    # Folding may decompose a letter: composed again, or normalizing twice would differ.
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)
