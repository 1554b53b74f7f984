"""One piece of a function's source changed, and the function put in place again."""

import asyncio
import functools

import pytest

from hardgate.documents.tree import DefectError, ManifestTree
from hardgate.kinds.bench import Bench
from hardgate.kinds.code_edits import edited

LIMIT = 3


def within(value: int, limit: int = LIMIT) -> bool:
    return value <= limit


def around(function):
    @functools.wraps(function)
    def inner(value):
        return function(value)

    return inner


wrapped = around(within)
UNNAMED = [lambda value: value - 1]


class Sample:
    factor = 2

    def plain(self, value):
        if value < 0:
            raise ValueError("negative")
        return value * self.factor

    @staticmethod
    def static(value):
        return value + 1

    @property
    def half(self):
        return self.factor // 2

    async def later(self, value):
        return value + self.factor


def test_the_edited_function_keeps_its_globals_and_defaults():
    changed = edited("<=", "<")(within)
    assert [changed(value) for value in (2, 3, 4)] == [True, False, False]
    assert within(3)


@pytest.mark.parametrize(
    ("attribute", "edit", "call", "expected"),
    [
        ("plain", edited("* self", "+ self"), lambda: Sample().plain(3), 5),
        ("plain", edited("if value < 0", "if value < 9"), lambda: Sample().plain, None),
        ("static", edited("+ 1", "+ 2"), lambda: Sample.static(3), 5),
        ("half", edited("// 2", "// 1"), lambda: Sample().half, 2),
        ("later", edited("value + ", ""), lambda: asyncio.run(Sample().later(3)), 2),
    ],
)
def test_a_method_is_edited_in_kind_and_comes_back(attribute, edit, call, expected):
    before = vars(Sample)[attribute]
    with Bench(ManifestTree({})) as bench:
        bench.replace(Sample, attribute, edit)
        if expected is None:
            with pytest.raises(ValueError, match="negative"):
                call()(5)
        else:
            assert call() == expected
        assert bench.reached
    assert vars(Sample)[attribute] is before


@pytest.mark.parametrize(
    ("function", "old", "new", "message"),
    [
        (within, ">=", ">", "holds '>=' 0 times"),
        (within, "value", "other", "holds 'value' 2 times"),
        (within, "<= limit", "<=", "is no Python after the edit"),
        (wrapped, "value", "other", "is not a plain function"),
        (around(len), "value", "other", "is not a plain function"),
        (len, "a", "b", "is not a plain function"),
        (UNNAMED[0], "- 1", "- 2", "is not written as a function"),
    ],
)
def test_what_cannot_be_edited_is_named(function, old, new, message):
    with pytest.raises(DefectError, match=message):
        edited(old, new)(function)


def test_a_closure_is_refused():
    factor = 2

    def scaled(value):
        return value * factor

    with pytest.raises(DefectError, match="uses variables around it"):
        edited("*", "+")(scaled)
