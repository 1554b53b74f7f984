"""The works for pydantic-evals: a dataset over an agent of pydantic-ai with a FunctionModel.

Its own check of tool calls reads spans, which need OpenTelemetry set up; here a small evaluator
reads the messages of the run, which is less work.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext

from works import Runner, Work, calculate, main, works


class Answer(NamedTuple):
    """What a run gave."""

    text: str
    calls: list[tuple[str, dict[str, Any]]]


class Suite(NamedTuple):
    """A dataset and the task that it is run with."""

    dataset: Dataset[str, Answer, None]
    task: Callable[[str], Awaitable[Answer]]


@dataclass
class TextContains(Evaluator[str, Answer, None]):
    """Whether the final text has a text in it, upper or lower case."""

    value: str

    def evaluate(self, ctx: EvaluatorContext[str, Answer, None]) -> bool:
        return self.value.lower() in ctx.output.text.lower()


@dataclass
class CalledCalculator(Evaluator[str, Answer, None]):
    """Whether the only tool call was the calculator's with this expression."""

    expression: str

    def evaluate(self, ctx: EvaluatorContext[str, Answer, None]) -> bool:
        return ctx.output.calls == [("calculate", {"expression": self.expression})]


def prepare(work: Work, count: int) -> Suite:
    """A dataset of equal cases, and a task that runs the agent."""

    def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returned = any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)
        if work.expression is not None and not returned:
            call = ToolCallPart("calculate", {"expression": work.expression})
            return ModelResponse(parts=[call])
        return ModelResponse(parts=[TextPart(work.answer)])

    agent = Agent(FunctionModel(play), tools=[] if work.expression is None else [calculate])

    async def task(question: str) -> Answer:
        result = await agent.run(question)
        calls = [
            (part.tool_name, part.args_as_dict())
            for message in result.all_messages()
            if isinstance(message, ModelResponse)
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        return Answer(result.output, calls)

    checks: list[Evaluator[str, Answer, None]] = [TextContains(work.expected_text)]
    if work.expected_expression is not None:
        checks.append(CalledCalculator(work.expected_expression))
    cases = [
        Case(name=f"case_{number}", inputs=work.question, evaluators=tuple(checks))
        for number in range(count)
    ]
    return Suite(Dataset(name=work.name, cases=cases), task)


def run(suite: Suite) -> int:
    """Runs the dataset."""
    report = suite.dataset.evaluate_sync(suite.task, progress=False, max_concurrency=10)
    if report.failures:
        raise SystemExit(f"pydantic-evals: {report.failures[0].error_message}")
    return sum(all(check.value for check in case.assertions.values()) for case in report.cases)


if __name__ == "__main__":
    if sys.argv[1:] == ["--one-case"]:  # it has no command line of its own
        print(f"{run(prepare(works()['tool'], 1))} passed")
    else:
        main(Runner(prepare, run))
