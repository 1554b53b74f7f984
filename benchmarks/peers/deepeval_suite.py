"""The works for deepeval: test cases and metrics of our own that ask no model.

It has neither a scripted model nor an agent loop: a test case takes the answer and the tool calls
that an application gave. So the agent here is a plain function, and the figures of deepeval are
those of its checking alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deepeval import evaluate
from deepeval.evaluate import CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, ToolCall

from works import Runner, Work, calculate, main


class Suite(NamedTuple):
    """A work, how often it is done, and what checks it."""

    work: Work
    count: int
    metrics: list[BaseMetric]


class OwnMetric(BaseMetric):
    """What deepeval asks of a metric, around one yes or no."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        self.threshold = 1.0

    def holds(self, test_case: LLMTestCase) -> bool:
        raise NotImplementedError

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        self.score = float(self.holds(test_case))
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return type(self).__name__


class TextContains(OwnMetric):
    """Whether the final text has a text in it, upper or lower case."""

    def holds(self, test_case: LLMTestCase) -> bool:
        return self.expected.lower() in (test_case.actual_output or "").lower()


class CalledCalculator(OwnMetric):
    """Whether the only tool call was the calculator's with this expression."""

    def holds(self, test_case: LLMTestCase) -> bool:
        calls = [(call.name, call.input_parameters) for call in test_case.tools_called or []]
        return calls == [("calculate", {"expression": self.expected})]


def answered(work: Work, number: int) -> LLMTestCase:
    """What the stand-in for an agent gave, as a test case."""
    calls: list[ToolCall] = []
    if work.expression is not None:
        given = {"expression": work.expression}
        calls = [ToolCall(name="calculate", input_parameters=given, output=calculate(**given))]
    return LLMTestCase(
        name=f"case_{number}", input=work.question, actual_output=work.answer, tools_called=calls
    )


def prepare(work: Work, count: int) -> Suite:
    """The metrics; test cases can be made only with answers, so they are made in the run."""
    metrics: list[BaseMetric] = [TextContains(work.expected_text)]
    if work.expected_expression is not None:
        metrics.append(CalledCalculator(work.expected_expression))
    return Suite(work, count, metrics)


def run(suite: Suite) -> int:
    """Runs the stand-in and evaluates what it gave."""
    result = evaluate(
        [answered(suite.work, number) for number in range(suite.count)],
        suite.metrics,
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False
        ),
        cache_config=CacheConfig(write_cache=False),
    )
    return sum(test.success for test in result.test_results)


if __name__ == "__main__":
    main(Runner(prepare, run))
