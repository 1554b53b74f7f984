"""The assertion that nothing waits for the outside while a unit of work is open.

The walk over the source (gate.structure.txn_hygiene) shows it for every await that can be read.
This shows it where the way leads outside: before a model is asked and before a tool is executed.
"""

from __future__ import annotations

from contextvars import ContextVar

_OPEN: ContextVar[int] = ContextVar("open_units", default=0)
"""How many units of work the present task has open."""


def opened() -> None:
    _OPEN.set(_OPEN.get() + 1)


def closed() -> None:
    _OPEN.set(_OPEN.get() - 1)


def assert_none_open(what: str) -> None:
    """Raises `RuntimeError`, which says before `what`, if the present task has one open."""
    if _OPEN.get():
        raise RuntimeError(f"a unit of work is open, and must not be before {what}")
