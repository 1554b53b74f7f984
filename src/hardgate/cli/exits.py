"""Exit codes, and the errors that end a command with one."""

from __future__ import annotations

OK, FAILED, USAGE, SUSPENDED, REFUSED, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

MEANINGS = {
    OK: "all is well",
    FAILED: "a check failed",
    USAGE: "wrong command line",
    SUSPENDED: "a run waits for somebody",
    REFUSED: "a definition or the set-up is refused",
    UNREACHABLE: "Bazel, or a store, cannot be reached",
}


class CommandError(Exception):
    """Ends a command. `code` is its exit code, `rule` a stable name, str() is for people."""

    code = FAILED
    rule = "failed"


class UsageError(CommandError):
    """The command line asks for what there is not; says what was found and what is allowed."""

    code = USAGE
    rule = "usage"


class RefusedError(CommandError):
    """The workspace, or how the command was put together, does not allow it."""

    code = REFUSED
    rule = "refused"


def explained(*codes: int) -> str:
    """A line for each code, for the help of a command."""
    return "\n".join(f"  {code}  {MEANINGS[code]}" for code in codes)
