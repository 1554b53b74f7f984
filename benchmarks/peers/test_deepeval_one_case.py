"""One case of the work with a tool, as `deepeval test run` wants it."""

from deepeval import assert_test

from deepeval_suite import answered, prepare
from works import works


def test_one_case() -> None:
    suite = prepare(works()["tool"], 1)
    assert_test(answered(suite.work, 0), suite.metrics)
