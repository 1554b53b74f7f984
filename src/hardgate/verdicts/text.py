"""Text from models, tools and files, made safe to print.

Such text may carry terminal escapes, direction overrides or a line that looks like one of ours.
Nothing of it reaches a terminal or an XML file before it went through here.
"""

ELISION = "... [{count} characters left out] ..."


def _unsafe_characters() -> dict[int, str]:
    """Control, direction and other invisible characters -> a visible escape of each."""
    points = [*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x180E, 0xFEFF, 0xFFFE, 0xFFFF]
    points += [*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)]
    table = {point: f"\\u{point:04x}" for point in points}
    table.update({point: f"\\x{point:02x}" for point in points if point < 0x100})
    # The newline stays; `indented` keeps what follows it from looking like a line of ours.
    table[0x09] = "\\t"
    del table[0x0A]
    return table


_UNSAFE = _unsafe_characters()


def printable(text: str, limit: int = 2000) -> str:
    """`text` with unsafe characters shown as escapes, and at most `limit` characters of it.

    A longer text keeps its head and its tail; what was left out is counted in its place.
    """
    if len(text) > limit:
        head = limit * 3 // 4
        tail = limit - head
        left_out = ELISION.format(count=len(text) - limit)
        text = f"{text[:head]}{left_out}{text[-tail:] if tail else ''}"
    safe = text.translate(_UNSAFE)
    if safe.isascii():
        return safe
    return "".join(
        f"\\u{ord(character):04x}" if 0xD800 <= ord(character) < 0xE000 else character
        for character in safe
    )


def one_line(text: str, limit: int = 160) -> str:
    """`printable`, with newlines shown as an escape too."""
    return printable(text, limit).replace("\n", "\\n")


def indented(text: str, prefix: str) -> str:
    """`text` with every line after the first behind `prefix`."""
    return text.replace("\n", f"\n{prefix}")
