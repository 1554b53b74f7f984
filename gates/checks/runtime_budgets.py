"""Limits of a run: what a run has to have done when one of them stops it.

Each trial has one narrow limit or none. What has to happen is computed here from the script and the
limit alone, in a few lines that know nothing of the runtime, and compared with what happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agent_core.domain.events import EventType
from agent_core.domain.model import ModelUsage
from agent_core.domain.runs import RunLimits
from gates.checks.runtime_scripts import TOOLS, Call, Performance, Step, perform, usages
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext

_DIMENSIONS = (
    *("steps", "model_calls", "tool_calls", "input_tokens", "output_tokens", "cost_micros"),
    "seconds",
)
_REASONS = {"steps": "max_steps_exceeded", "seconds": "deadline_exceeded"}
_OTHERWISE = "budget_exceeded"
_MOST = 12


class Narrow(NamedTuple):
    """One limit, by what it is of; `dimension` None stands for the limits that a run has anyway."""

    dimension: str | None
    limit: int

    def limits(self) -> RunLimits:
        if self.dimension is None:
            return RunLimits()
        changes: dict[str, Any] = {_field(self.dimension): self.limit}
        return RunLimits()._replace(**changes)

    def allows(self, dimension: str, amount: int) -> bool:
        return dimension != self.dimension or amount <= self.limit


def _field(dimension: str) -> str:
    """The field of the limits that is about a dimension."""
    return "deadline_seconds" if dimension == "seconds" else f"max_{dimension}"


class _Stopped(Exception):
    """The limit is passed, or would be."""


class Account:
    """What a run does, taken down until it is stopped: the number of everything, and its cost."""

    def __init__(self, narrow: Narrow) -> None:
        self._narrow = narrow
        self.done = dict.fromkeys(_DIMENSIONS, 0)
        self.stopped = False

    def follow(self, steps: Sequence[Step]) -> Account:
        """Does what the loop has to do for these steps, and the answer after them."""
        try:
            for step in [*steps, Step()]:
                self._need(steps=1, seconds=0)
                self._attempts(step)
                self._need(tool_calls=len(step.calls))
                for call in step.calls:
                    self._need(seconds=0)
                    self.done["tool_calls"] += 1
                    self.done["seconds"] += call.seconds
        except _Stopped:
            self.stopped = True
        return self

    def _attempts(self, step: Step) -> None:
        for number, usage in enumerate((*step.failures, step.usage)):
            self._need(model_calls=1, input_tokens=1, output_tokens=1, seconds=0)
            self.done["model_calls"] += 1
            self.done["steps"] += number == 0  # a step without an attempt is none
            for dimension, amount in usage._asdict().items():
                self.done[dimension] += amount
            self._need(input_tokens=0, output_tokens=0, cost_micros=0)
            if number < len(step.failures):
                self._need(seconds=2**number)  # the wait before the next attempt has to fit

    def _need(self, **amounts: int) -> None:
        for dimension, amount in amounts.items():
            if not self._narrow.allows(dimension, self.done[dimension] + amount):
                raise _Stopped


def check(context: PropertyContext) -> None:
    from hypothesis import strategies as st

    context.for_all(limits_stop_in_time, steps=_scripts(), narrow=_narrow(st))


def limits_stop_in_time(steps: list[Step], narrow: Narrow) -> None:
    """The run does what it may, nothing beyond it, and ends for the reason of its limit."""
    performance = perform(steps, narrow.limits())
    _require_charge(steps, performance)
    account = Account(narrow).follow(steps)
    done, allowed = _done(performance), account.done
    short = [name for name in done if done[name] < allowed[name]]
    failure = performance.played.run.failure
    require(
        not short and (account.stopped or failure is None),
        "stopped_within_limits",
        f"did {done}, was allowed {allowed}, ended with {failure}",
    )
    beyond = [name for name in done if done[name] > allowed[name]]
    fits = done["tool_calls"] <= performance.played.run.limits.max_tool_calls
    require(
        not (beyond and narrow.dimension == "tool_calls" and fits),
        "batch_begun",
        f"executed {done['tool_calls']} calls, and the batch did not fit after {allowed}",
    )
    require(not beyond, f"{narrow.dimension}_limit_passed", f"did {done}, was allowed {allowed}")
    if account.stopped:
        _require_reason(performance, narrow)


def _require_charge(steps: list[Step], performance: Performance) -> None:
    """What was really asked and executed is what the run is charged, attempt by attempt."""
    played = performance.played
    costs = [cost for step in [*steps, Step()] for cost in (*step.failures, step.usage)]
    made = costs[: len(played.requests)]
    used = {
        "model_calls": len(made),
        "tool_calls": len(performance.executed),
        "input_tokens": sum(cost.input_tokens for cost in made),
        "output_tokens": sum(cost.output_tokens for cost in made),
        "cost_micros": sum(cost.cost_micros for cost in made),
    }
    charged = played.run.usage._asdict()
    require(charged == used, "not_charged", f"charged {charged}, used {used}")


def _require_reason(performance: Performance, narrow: Narrow) -> None:
    failure = performance.played.run.failure
    expected = (_REASONS.get(str(narrow.dimension), _OTHERWISE), narrow.dimension)
    found = None
    if failure is not None and failure.limit is not None:
        found = (str(failure.reason), str(failure.limit.dimension))
    require(found == expected, "wrong_reason", f"expected {expected}, found {found}")


def _done(performance: Performance) -> dict[str, int]:
    """Steps, requests and calls, counted where they happen: in the log, at the model, in the
    tools."""
    events = performance.played.events
    started = [one for one in events if one.event_type is EventType.MODEL_REQUEST_STARTED]
    return {
        "steps": len({one.payload["step_number"] for one in started}),
        "model_calls": len(performance.played.requests),
        "tool_calls": len(performance.executed),
    }


def _scripts() -> Any:
    """Up to five steps with calls; every call another text, so that none repeats another."""
    from hypothesis import strategies as st

    steps = st.builds(
        lambda failures, usage, sizes: (tuple(failures), usage, sizes),
        st.lists(usages(3), max_size=2),
        usages(4),
        st.lists(st.integers(0, 3), min_size=1, max_size=3),
    )
    return st.lists(steps, max_size=5).map(_numbered)


def _numbered(drawn: Sequence[tuple[tuple[ModelUsage, ...], ModelUsage, list[int]]]) -> list[Step]:
    steps: list[Step] = []
    count = 0
    for failures, usage, sizes in drawn:
        calls = []
        for seconds in sizes:
            count += 1
            calls.append(Call(TOOLS[count % 2], f"call {count}", f"id_{count}", seconds))
        steps.append(Step(failures, usage, tuple(calls)))
    return steps


def _narrow(st: Any) -> Any:
    return st.builds(Narrow, st.none() | st.sampled_from(_DIMENSIONS), st.integers(0, _MOST))
