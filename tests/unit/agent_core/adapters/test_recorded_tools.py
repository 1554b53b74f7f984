"""Recorded tools: which tools they stand for, what they give, and what they miss."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.tools.demo_write import DemoUnsafeWrite
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.recorded import RecordedTool, with_recorded
from agent_core.domain.canonical import canonicalize
from agent_core.domain.recorded_results import RecordedFailure
from agent_core.domain.tools import ToolFailure, ToolFailureKind, ToolResult
from agent_core.ports.tools import ToolContext

SUM = {"expression": "1 + 1"}
RESULT = ToolResult({"result": "3", "result_exact": True, "expression": "1 + 1"}, "3")


def key(name, arguments):
    return name, canonicalize(arguments).sha256


class Call:
    """One call of a recorded tool: how often it set the watermark, and what it missed."""

    def __init__(self, tool, results):
        self.marks = 0
        self.missing = []
        self._tool = RecordedTool(tool.spec, results, self.missing)

    async def _mark(self):
        self.marks += 1

    def run(self, arguments):
        clock = PinnedClock(datetime(2026, 1, 1, tzinfo=UTC))
        return asyncio.run(self._tool.run(arguments, ToolContext("i1", "key", clock, self._mark)))


def test_only_tools_with_results_are_replaced():
    tools = [MathCalculate(), DemoUnsafeWrite()]
    first, second = with_recorded(tools, {key("math.calculate", SUM): RESULT}, [])
    assert isinstance(first, RecordedTool)
    assert first.spec == tools[0].spec
    assert second is tools[1]
    assert list(with_recorded(tools, {}, [])) == tools


def test_a_result_on_record_is_given_instead_of_the_tools_own():
    call = Call(MathCalculate(), {key("math.calculate", SUM): RESULT})
    assert call.run(SUM) == RESULT
    assert (call.marks, call.missing) == (0, [])


@pytest.mark.parametrize("name", ["math.calculate", "demo.unsafe_write"])
def test_arguments_of_another_call_or_tool_are_missed(name):
    call = Call(MathCalculate(), {key(name, {"expression": "2"}): RESULT})
    with pytest.raises(ToolFailure) as caught:
        call.run(SUM)
    assert (caught.value.kind, caught.value.reason_code) == (
        ToolFailureKind.INTERNAL,
        "tool.internal_error",
    )
    assert call.missing == ["i1"]


def test_a_failure_on_record_is_raised():
    call = Call(MathCalculate(), {key("math.calculate", SUM): RecordedFailure("tool.timeout")})
    with pytest.raises(ToolFailure, match=r"tool\.timeout"):
        call.run(SUM)
    assert call.missing == []


@pytest.mark.parametrize(("recorded", "marks"), [(RESULT, 1), (RecordedFailure("x"), 0)])
def test_an_effect_is_recorded_where_it_succeeded(recorded, marks):
    call = Call(DemoUnsafeWrite(), {key("demo.unsafe_write", {}): recorded})
    if marks:
        assert call.run({}) == RESULT
    else:
        with pytest.raises(ToolFailure):
            call.run({})
    assert call.marks == marks
