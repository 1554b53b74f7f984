"""The works for inspect_ai: a task with mockllm, its own tool loop, and scorers.

The log, which it cannot be kept from writing, goes to memory and holds no samples.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, includes, scorer
from inspect_ai.solver import Solver, TaskState, generate, use_tools
from inspect_ai.tool import Tool, tool

from works import Runner, Work, calculate, main, works

MODEL = "mockllm/model"
# Without a usage the mock counts tokens with a table that it would download.
USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)


@tool
def calculator() -> Tool:
    """The calculator as a tool of inspect_ai."""

    async def execute(expression: str) -> str:
        """Multiplies two whole numbers.

        Args:
            expression: Two whole numbers with a * between them.
        """
        return calculate(expression)

    return execute


@scorer(metrics=[accuracy()])
def called_calculator(expression: str) -> Scorer:
    """Whether the only tool call was the calculator's with this expression."""
    expected = [("calculator", {"expression": expression})]

    async def score(state: TaskState, target: Target) -> Score:
        calls = [
            (call.function, call.arguments)
            for message in state.messages
            if message.role == "assistant"
            for call in message.tool_calls or []
        ]
        return Score(value=CORRECT if calls == expected else INCORRECT)

    return score


def prepare(work: Work, count: int) -> Task:
    """A task with one sample for each case."""

    def play(messages: list[Any], *_: object) -> ModelOutput:
        if work.expression is not None and messages[-1].role != "tool":
            output = ModelOutput.for_tool_call(MODEL, "calculator", {"expression": work.expression})
        else:
            output = ModelOutput.from_content(MODEL, work.answer)
        output.usage = USAGE
        return output

    solvers: list[Solver] = [generate()]
    scorers = [includes()]
    if work.expression is not None:
        solvers.insert(0, use_tools(calculator()))
    if work.expected_expression is not None:
        scorers.append(called_calculator(work.expected_expression))
    samples = [
        Sample(input=work.question, target=work.expected_text, id=number) for number in range(count)
    ]
    return Task(
        dataset=MemoryDataset(samples),
        solver=solvers,
        scorer=scorers,
        model=get_model(MODEL, custom_outputs=play, memoize=False),
    )


def run(suite: Task) -> int:
    """Runs the task; the least that a scorer has accepted is what passed."""
    [log] = eval(
        suite,
        display="none",
        log_dir="memory://logs",
        log_samples=False,
        log_realtime=False,
        score_display=False,
    )
    if log.results is None:
        raise SystemExit(f"inspect_ai: {log.status}: {log.error}")
    correct = [score.metrics["accuracy"].value for score in log.results.scores]
    return round(min(correct) * log.results.completed_samples)


@task
def one_case() -> Task:
    """One case of the work with a tool, for the command line."""
    return prepare(works()["tool"], 1)


if __name__ == "__main__":
    main(Runner(prepare, run))
