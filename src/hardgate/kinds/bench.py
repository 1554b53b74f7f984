"""The bench on which a defect is put in place: an overlay over the sources, and patched code.

A defect is a function `name(bench: Bench) -> None` in `gates/defects/<area>.py`. It changes one
behaviour, through `bench.tree` or `bench.replace`. The bench counts whether the change was reached
and takes every change back at its exit.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any

from hardgate.documents.tree import DefectError, OverlayTree, Tree

_WRAPPERS = (staticmethod, classmethod)


class Bench:
    """A context manager; everything a defect changed is as it was once the block is left."""

    def __init__(self, sources: Tree) -> None:
        self.tree = OverlayTree(sources)
        self._undo: list[Callable[[], None]] = []
        self._calls = 0

    @property
    def reached(self) -> bool:
        """Whether a changed file was read, or a replaced function called, since the change."""
        return self._calls > 0 or self.tree.touched_and_read

    def watch(self) -> None:
        """Starts counting: what the defect itself read or called while it was put in place is not
        the check reaching it."""
        self._calls = 0
        self.tree.touched_and_read = False

    def replace(
        self,
        owner: object,
        attribute: str,
        make_replacement: Callable[[Callable[..., Any]], Callable[..., Any]],
    ) -> None:
        """Replaces a function of a module or a class by `make_replacement(the original)`.

        A plain, static or class method and the getter of a property are replaced in kind. Raises
        DefectError when the owner has no such attribute or when it is nothing that can be called.
        """
        present = vars(owner).get(attribute)
        if present is None:
            raise DefectError(f"{_name_of(owner)} has no attribute {attribute!r} of its own")
        setattr(owner, attribute, self._in_kind(present, make_replacement, owner, attribute))
        self._undo.append(lambda: setattr(owner, attribute, present))

    def _in_kind(
        self, present: Any, make: Callable[..., Any], owner: object, attribute: str
    ) -> object:
        if isinstance(present, _WRAPPERS):
            return type(present)(self._counted(make(present.__func__)))
        if isinstance(present, property) and present.fget is not None:
            return property(
                self._counted(make(present.fget)), present.fset, present.fdel, present.__doc__
            )
        if inspect.isclass(present) or not callable(present):
            kind = type(present).__name__
            raise DefectError(
                f"{_name_of(owner)}.{attribute} is a {kind}; only a function can be replaced"
            )
        return self._counted(make(present))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def counting_async(*arguments: Any, **named: Any) -> Any:
                self._calls += 1
                return await function(*arguments, **named)

            return counting_async

        @functools.wraps(function)
        def counting(*arguments: Any, **named: Any) -> Any:
            self._calls += 1
            return function(*arguments, **named)

        return counting

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._undo:
            self._undo.pop()()


def _name_of(owner: object) -> str:
    return getattr(owner, "__qualname__", None) or getattr(owner, "__name__", None) or repr(owner)
