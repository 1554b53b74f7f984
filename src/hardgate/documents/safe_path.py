"""Paths that a file of the workspace may name: relative and inside the folders meant for them."""

from __future__ import annotations

from collections.abc import Sequence

from hardgate.documents.confusable import first_not_ascii
from hardgate.documents.wording import choices, quoted

_PATH_CHARACTERS = 240


class UnsafePath(ValueError):
    """A path that may not be used; the text says what was found and what is allowed."""


def relative_inside(roots: Sequence[str], path: str) -> str:
    """Returns `path` when it names something strictly inside one of `roots`.

    `roots` are folders relative to the workspace, such as `evals/corpora`; none means anywhere in
    the workspace. The check is on the text alone, no file is looked at. Raises UnsafePath for a
    path that is empty, absolute, too long, not printable ASCII, written with a backslash, or with
    an empty, `.` or `..` part, and for one outside the roots.
    """
    where = choices([f"a path inside {root}/" for root in roots] or ["a path in the workspace"])
    fault = _character_fault(path) or _part_fault(path)
    if fault is None and roots and not any(path.startswith(f"{root}/") for root in roots):
        fault = "which is outside"
    if fault is not None:
        raise UnsafePath(f"found {quoted(path)}, {fault}; allowed: {where}")
    return path


def inside_workspace(path: str) -> str:
    """Returns `path` when it cannot lead out of the workspace, whatever characters it has.

    For names that come from a listing and not from a file somebody wrote. Raises UnsafePath.
    """
    fault = _part_fault(path)
    if fault is not None:
        raise UnsafePath(f"found {quoted(path)}, {fault}; allowed: a path in the workspace")
    return path


def _character_fault(path: str) -> str | None:
    """What is wrong with the characters of a path, or None."""
    if len(path) > _PATH_CHARACTERS:
        return f"which is longer than {_PATH_CHARACTERS} characters"
    not_ascii = first_not_ascii(path)
    if not_ascii:
        return f"in which {not_ascii}"
    if not path.isprintable():
        return "which holds a control character"
    return "which holds a backslash" if "\\" in path else None


def _part_fault(path: str) -> str | None:
    """What is wrong with the parts of a path, or None."""
    if not path:
        return "which is empty"
    if path.startswith("/"):
        return "which is absolute"
    for part in path.split("/"):
        if part == "":
            return "which has an empty part"
        if part in (".", ".."):
            return f"which has the part '{part}'"
    return None
