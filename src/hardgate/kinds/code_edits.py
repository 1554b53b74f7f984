"""Edits of one function for defects: what a careless commit changes in code that exists.

`bench.replace(owner, "name", edited("<=", "<"))` puts the same function in place with one piece of
its source replaced, so that a defect stays as close to the code as the mistake it stands for.
"""

from __future__ import annotations

import __future__

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import reduce
from operator import or_
from types import FunctionType
from typing import Any

from hardgate.documents.tree import DefectError

_FUTURE_FLAGS = reduce(
    or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


def edited(old: str, new: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What makes the replacement of a function: its own source with `old` replaced by `new`.

    `old` occurs exactly once in the source, which is looked at without its outer indentation.
    Making the replacement raises DefectError when it does not, and for what has no source of its
    own: builtins, closures, and functions that a decorator put something around.
    """

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        if not isinstance(original, FunctionType) or hasattr(original, "__wrapped__"):
            raise DefectError(f"{_name(original)} is not a plain function")
        if original.__code__.co_freevars:
            raise DefectError(f"{_name(original)} uses variables around it")
        return _compiled(original, _changed(original, old, new))

    return make


def _changed(original: FunctionType, old: str, new: str) -> ast.Module:
    source = textwrap.dedent(inspect.getsource(original))
    count = source.count(old)
    if count != 1:
        raise DefectError(f"{_name(original)} holds {old!r} {count} times, not once")
    try:
        return ast.parse(source.replace(old, new))
    except SyntaxError as error:
        raise DefectError(f"{_name(original)} is no Python after the edit: {error.msg}") from None


def _compiled(original: FunctionType, module: ast.Module) -> Callable[..., Any]:
    function = module.body[0]
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        raise DefectError(f"{_name(original)} is not written as a function")
    function.decorator_list = []  # whoever replaces the function puts it back in kind
    # The source says nothing of the `from __future__` at the top of its module.
    flags = original.__code__.co_flags & _FUTURE_FLAGS
    made: dict[str, Any] = {}
    code = compile(module, original.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    exec(code, original.__globals__, made)
    replacement: Callable[..., Any] = made[function.name]
    return replacement


def _name(function: object) -> str:
    return getattr(function, "__qualname__", None) or repr(function)
