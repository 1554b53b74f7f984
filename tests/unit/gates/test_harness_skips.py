"""What lets a test end without having run, in all the forms in which one could write it."""

import pytest

from gates.checks.harness_skips import hidden, skips, uncollected
from tests.unit.gates.sources import parsed

PATH = "tests/unit/test_sample.py"


def rules(find, text, path=PATH):
    (file,) = parsed({path: text})
    return sorted({(finding.line, finding.rule) for finding in find(file)})


def uncollected_in(file):
    return uncollected([file])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import pytest\npytest.skip('later')", 2),
        ("import pytest as p\np.skip('later')", 2),
        ("from pytest import skip as s\ns('later')", 1),
        ("from pytest import mark\n@mark.skipif(True, reason='x')\ndef test_a(): pass", 2),
        ("import pytest\nm = pytest.mark\n@m.xfail\ndef test_a(): pass", 3),
        ("import pytest\npytestmark = [pytest.mark.skip]", 2),
        ("import pytest\nstop = pytest.skip\ndef f():\n    stop('x')", 2),
        ("import pytest\nvalue = pytest.param(1, marks=pytest.mark.xfail)", 2),
        ("import pytest\nnumpy = pytest.importorskip('numpy')", 2),
        ("import pytest\nraise pytest.skip.Exception('x')", 2),
        ("import pytest\ngetattr(pytest, 'sk' + 'ip')('x')", 2),
        ("__import__('pytest').skip('x')", 1),
        ("from importlib import import_module as i\ni('pytest').skip('x')", 2),
        ("import unittest\n@unittest.skipUnless(False, 'x')\nclass A: pass", 2),
        ("from unittest import SkipTest\nraise SkipTest", 1),
        ("from unittest.case import SkipTest\nraise SkipTest", 1),
        ("import unittest as u\n@u.expectedFailure\ndef test_a(): pass", 2),
        ("def test_a(self):\n    self.skipTest('x')", 2),
        ("def test_a(request):\n    request.node.add_marker('xfail')", 2),
        ("from _pytest.outcomes import Skipped", 1),
        ("from pytest import *\nskip('x')", 1),
        ("import pytest\npytest.exit('enough', returncode=0)", 2),
        ("import pytest\nif True:\n    def f():\n        return pytest.skip", 4),
    ],
)
def test_a_skip_is_found(text, line):
    assert (line, "test_skipped") in rules(skips, text)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n@pytest.mark.flaky(reruns=2)\ndef test_a(): pass",
        "from flaky import flaky\n@flaky\ndef test_a(): pass",
    ],
)
def test_a_retry_is_found(text):
    assert {rule for _, rule in rules(skips, text)} == {"test_flaky"}


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\nwith pytest.raises(ValueError):\n    int('x')",
        "import pytest\n@pytest.mark.parametrize('a', [1])\ndef test_a(a): assert a",
        "skip = 3\nprint(skip)",
        "'''pytest.skip is not used here'''\ntext = 'pytest.skip'",
        "class Reader:\n    def skip(self): pass\nReader().skip()",
        "from unittest import TestCase, mock",
        "import itertools\nitertools.islice([], 1)",
    ],
)
def test_what_only_looks_like_a_skip_is_left_alone(text):
    assert rules(skips, text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def tset_sum():\n    assert 1", 1),
        ("def check_sum():\n    if True:\n        assert 1", 1),
        ("import pytest\n@pytest.mark.parametrize('a', [1])\ndef tests_not(a):\n    assert a", 0),
        ("import pytest\n@pytest.mark.parametrize('a', [1])\ndef sum_is(a):\n    print(a)", 3),
        ("class Sums:\n    def test_a(self):\n        assert 1", 1),
        (
            "class TestA:\n    def __init__(self): pass\n    def test_a(self):\n        assert 1",
            1,
        ),
        ("class TestSums:\n    def sum_is_right(self):\n        assert 1", 2),
        ("collect_ignore = ['a.py']", 1),
        ("class TestA:\n    __test__ = False", 2),
        ("def test_a(): assert 1\ntest_a.__test__ = False", 2),
        ("def pytest_collection_modifyitems(items): items.clear()", 1),
    ],
)
def test_an_uncollected_test_is_found(text, line):
    expected = [(line, "test_uncollected")] if line else []
    assert rules(uncollected_in, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "def test_a(): assert 1",
        "def same(a, b):\n    assert a == b\ndef test_a(): same(1, 1)",
        "import pytest\n@pytest.fixture\ndef value():\n    assert 1\n    return 1",
        "class Base:\n    def test_a(self): assert 1\nclass TestB(Base): pass",
        "class Helper:\n    def run(self):\n        assert 1",
        "import unittest\nclass Sums(unittest.TestCase):\n    def test_a(self): assert 1",
    ],
)
def test_what_pytest_collects_or_calls_is_left_alone(text):
    assert rules(uncollected_in, text) == []


@pytest.mark.parametrize("path", ["tests/unit/sums.py", "tests/unit/conftest.py"])
def test_a_test_in_a_file_that_is_not_collected_is_found(path):
    assert rules(uncollected_in, "def test_a(): assert 1", path) == [(1, "test_uncollected")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def test_a(): assert 1\ndef test_a(): assert 2", [1]),
        ("async def test_a(): assert 1\ndef test_a(): assert 2\ndef test_a(): assert 3", [1, 2]),
        ("class TestA:\n    def test_b(self): pass\n    def test_b(self): pass", [2]),
        ("class TestA: pass\nclass TestA: pass", [1]),
        ("class TestA:\n    def test_b(self): pass\nclass TestC:\n    def test_b(self): pass", []),
        ("def helper(): pass\ndef helper(): pass", []),
    ],
)
def test_a_hidden_test_is_found(text, lines):
    assert rules(hidden, text) == [(line, "test_hidden") for line in lines]
