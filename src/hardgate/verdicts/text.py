"""Text from models, tools and files, made safe to print.

Such text may carry terminal escapes, direction overrides or a line that looks like one of ours.
Nothing of it reaches a terminal or an XML file before it went through here.
"""

ELISION = "... [{count} characters left out] ..."


def printable(text: str, limit: int = 2000) -> str:
    """`text` with what does not print shown as an escape, and at most `limit` characters of it.

    What does not print is what `str.isprintable` says: control, format, direction and surrogate
    characters and separators other than the space. The newline stays; `indented` keeps what
    follows it from looking like a line of ours. A longer text keeps its head and its tail; what
    was left out is counted in its place.
    """
    if len(text) > limit:
        head = limit * 3 // 4
        tail = limit - head
        left_out = ELISION.format(count=len(text) - limit)
        text = f"{text[:head]}{left_out}{text[-tail:]}"
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character == "\n"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def one_line(text: str, limit: int = 160) -> str:
    """`printable`, with newlines shown as an escape too."""
    return printable(text, limit).replace("\n", "\\n")


def shortened(name: str, text: str, limit: int) -> str:
    """At most `limit` characters of the value `name` of an event, with `...` for the others.

    Of `stderr` that is the end, since a traceback ends in its error; of all others the beginning.
    """
    if len(text) <= limit:
        return text
    return f"...{text[-limit:]}" if name == "stderr" else f"{text[:limit]}..."


def indented(text: str, prefix: str) -> str:
    """`text` with every line after the first behind `prefix`."""
    return text.replace("\n", f"\n{prefix}")
