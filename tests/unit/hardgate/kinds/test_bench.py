"""The bench: changes that are counted when they are reached, and that are taken back."""

import asyncio
import inspect
import types

import pytest

from hardgate.documents.tree import DefectError, ManifestTree
from hardgate.kinds.bench import Bench


@pytest.fixture
def bench(tmp_path):
    (tmp_path / "a").write_text("text")
    with Bench(ManifestTree({"a.txt": str(tmp_path / "a")})) as made:
        yield made


class Sample:
    factor = 2

    def plain(self, value):
        return value * self.factor

    @staticmethod
    def static(value):
        return value + 1

    @classmethod
    def made(cls, value):
        return (cls, value)

    @property
    def half(self):
        return 1

    async def later(self, value):
        return value


def changed(original):
    def replacement(*arguments):
        return ("changed", original(*arguments))

    return replacement


@pytest.mark.parametrize(
    ("attribute", "call", "expected"),
    [
        ("plain", lambda: Sample().plain(3), ("changed", 6)),
        ("static", lambda: Sample.static(3), ("changed", 4)),
        ("static", lambda: Sample().static(3), ("changed", 4)),
        ("made", lambda: Sample.made(3), ("changed", (Sample, 3))),
        ("half", lambda: Sample().half, ("changed", 1)),
    ],
)
def test_a_replaced_function_is_called_counted_and_restored(bench, attribute, call, expected):
    before = vars(Sample)[attribute]
    with bench:
        bench.replace(Sample, attribute, changed)
        assert not bench.reached
        assert call() == expected
        assert bench.reached
    assert vars(Sample)[attribute] is before


def test_a_function_of_a_module_keeps_its_name(bench):
    module = types.ModuleType("sample")
    module.double = lambda value: 2 * value
    module.double.__name__ = "double"
    bench.replace(module, "double", changed)
    assert module.double(2) == ("changed", 4)
    assert changed(module.double).__name__ == "replacement"
    assert bench.reached


def test_a_coroutine_function_stays_one(bench):
    def without_delay(original):
        async def replacement(self, value):
            return -(await original(self, value))

        return replacement

    with bench:
        bench.replace(Sample, "later", without_delay)
        assert inspect.iscoroutinefunction(Sample.later)
        assert asyncio.run(Sample().later(3)) == -3
        assert bench.reached


def test_two_replacements_of_one_function_are_taken_back_in_order(bench):
    before = vars(Sample)["plain"]
    with bench:
        bench.replace(Sample, "plain", changed)
        bench.replace(Sample, "plain", changed)
        assert Sample().plain(1) == ("changed", ("changed", 2))
    assert vars(Sample)["plain"] is before


def test_everything_is_taken_back_after_an_error(bench):
    before = vars(Sample)["plain"]
    with pytest.raises(RuntimeError), bench:
        bench.replace(Sample, "plain", changed)
        raise RuntimeError
    assert vars(Sample)["plain"] is before


@pytest.mark.parametrize(
    ("owner", "attribute", "words"),
    [
        (Sample, "gone", "no attribute 'gone'"),
        (type("Heir", (Sample,), {}), "plain", "no attribute 'plain' of its own"),
        (Sample, "factor", "is a int; only a function"),
        (types.SimpleNamespace(kind=Sample), "kind", "is a type; only a function"),
    ],
)
def test_what_cannot_be_replaced_says_so(bench, owner, attribute, words):
    with pytest.raises(DefectError, match=words):
        bench.replace(owner, attribute, changed)


def test_a_changed_file_is_reached_when_it_is_read(bench):
    bench.tree.write("a.txt", "other")
    assert not bench.reached
    assert bench.tree.read("a.txt") == b"other"
    assert bench.reached


def test_what_the_defect_itself_reads_or_calls_does_not_count(bench):
    with bench:
        bench.replace(Sample, "plain", changed)
        Sample().plain(1)
        bench.tree.write("a.txt", "other")
        bench.tree.read("a.txt")
        assert bench.reached
        bench.watch()
        assert not bench.reached
