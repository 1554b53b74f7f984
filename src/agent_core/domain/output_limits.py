"""How much of a tool's output is kept: an excerpt of it, never a summary."""

from __future__ import annotations

CEILING_FACTOR = 4
"""Above so many times `maximum_output_bytes` there is no excerpt: the call fails."""

_HEAD_PERCENT = 60
_TAIL_PERCENT = 20


def excerpt(content: str, maximum_bytes: int) -> str:
    """`content` itself if it has at most `maximum_bytes` bytes of UTF-8.

    Otherwise its beginning and its end, 60 and 20 percent of that, cut between characters, with a
    line between them that says how many bytes are missing.
    """
    encoded = content.encode()
    if len(encoded) <= maximum_bytes:
        return content
    head = encoded[: maximum_bytes * _HEAD_PERCENT // 100].decode("utf-8", "ignore")
    tail = encoded[len(encoded) - maximum_bytes * _TAIL_PERCENT // 100 :].decode("utf-8", "ignore")
    missing = len(encoded) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[{missing} bytes left out]\n{tail}"
